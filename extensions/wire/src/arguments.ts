import type { JsonObject, ToolCall } from "@pi-agent/kernel";

/** Whether the argument text may lack its end: after `length` it may, after a failure it is taken to. */
export type Cut = "no" | "maybe" | "yes";

/** Characters of a broken argument text that are kept, so that the model can see what it wrote. */
const MAX_SHOWN_CHARS = 2_000;

/** Reads the complete argument text of a call: a JSON object, or nothing at all. Never keeps a part of one. */
export function parseArguments(text: string, cut: Cut): Pick<ToolCall, "arguments" | "argumentsError"> {
  if (cut === "yes") return broken("The call was cut off before it was complete", text);
  const trimmed = text.trim();
  if (cut === "no" && (trimmed === "" || trimmed === "null")) return { arguments: {} };
  const value = readJson(trimmed);
  if (isObject(value)) return { arguments: value };
  return cut === "maybe"
    ? broken("The output limit cut the call off", text)
    : broken("The arguments are not a complete JSON object", text);
}

function broken(reason: string, text: string) {
  const shown = text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)}…` : text;
  return {
    arguments: {},
    argumentsError: shown === "" ? `${reason}.` : `${reason}: ${shown.toWellFormed()}`,
  };
}

/** Parses a JSON text; `undefined` for any other. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
