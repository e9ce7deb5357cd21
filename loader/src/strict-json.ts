import type { Json } from "@pi-agent/kernel";

/** Every string of a JSON text, with the colon that makes it a key; braces open and close what keys belong to. */
const TOKEN = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}]/g;
// Far more than a file of ours has; a parser takes seconds over millions.
const MAX_DEPTH = 64;
// As bytes; what closes one of them stands two places on in ASCII.
const [QUOTE, BACKSLASH, BRACE, BRACKET] = [0x22, 0x5c, 0x7b, 0x5b];

/**
 * Parses JSON that decides something: no comments, no repeated keys, no `__proto__`, nothing that two readers could
 * understand differently, and nothing deeper than 64 levels. Fails with an `Error` that says what is wrong.
 */
export function parseStrictJson(bytes: Uint8Array): Json {
  const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  if (isTooDeep(bytes)) throw new Error(`it is nested deeper than ${MAX_DEPTH} levels`);
  const value = JSON.parse(text) as Json;
  const fault = findKeyFault(text);
  if (fault) throw new Error(fault);
  return value;
}

/** Looks at the bytes alone, so that a parser that recurses or collects never sees such a text. */
function isTooDeep(bytes: Uint8Array): boolean {
  let depth = 0;
  let isInText = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) isInText = !isInText;
    else if (byte === BACKSLASH && isInText) at++;
    else if (!isInText && (byte === BRACE || byte === BRACKET)) depth++;
    else if (!isInText && (byte === BRACE + 2 || byte === BRACKET + 2)) depth--;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

/** `text` is valid JSON. */
function findKeyFault(text: string): string | undefined {
  const open: Set<string>[] = [];
  for (const [token, colon] of text.matchAll(TOKEN)) {
    if (token === "{") open.push(new Set());
    else if (token === "}") open.pop();
    else if (colon !== undefined) {
      const key = JSON.parse(token.slice(0, -colon.length)) as string;
      if (key === "__proto__") return "it has a key __proto__";
      if (open.at(-1)?.has(key)) return `it has the key ${JSON.stringify(key)} twice`;
      open.at(-1)?.add(key);
    }
  }
  return undefined;
}
