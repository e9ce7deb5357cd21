import type { Json } from "@pi-agent/kernel";

/** Every string of a JSON text, with the colon that makes it a key; braces open and close what keys belong to. */
const TOKEN = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}]/g;

/**
 * Parses JSON that decides something: no comments, no repeated keys, no `__proto__`, nothing that two readers could
 * understand differently. Fails with an `Error` that says what is wrong.
 */
export function parseStrictJson(bytes: Uint8Array): Json {
  const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  const value = JSON.parse(text) as Json;
  const fault = findKeyFault(text);
  if (fault) throw new Error(fault);
  return value;
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
