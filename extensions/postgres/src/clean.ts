/** What a database cannot hold as it is, made so that it can. The exact text is kept beside it. */

// A copy for queries, not for reading: what is longer than a page of text is not looked for as a whole.
const MAX_STRING_CHARS = 100_000;
const MAX_COPY_CHARS = 4_000_000;
const MAX_DEPTH = 64;

/** Replaces NUL characters and halves of surrogate pairs, which text and jsonb refuse, by a visible mark. */
export function cleanText(text: string): string {
  const wellFormed = text.toWellFormed();
  return wellFormed.includes("\0") ? wellFormed.replaceAll("\0", "\uFFFD") : wellFormed;
}

/** Copies a JSON value for jsonb: clean strings and keys, none of them endless, and not deeper than 64. */
export function cleanCopy(value: unknown): unknown {
  const left = { chars: MAX_COPY_CHARS };
  return copy(value, left, 0);
}

function copy(value: unknown, left: { chars: number }, depth: number): unknown {
  if (typeof value === "string") return cut(value, left);
  if (typeof value !== "object" || value === null) return value;
  if (depth === MAX_DEPTH) return "…";
  if (Array.isArray(value)) return value.map((each) => copy(each, left, depth + 1));
  const result: Record<string, unknown> = Object.create(null);
  for (const [key, each] of Object.entries(value)) result[cleanText(key)] = copy(each, left, depth + 1);
  return result;
}

function cut(text: string, left: { chars: number }): string {
  const chars = Math.min(MAX_STRING_CHARS, left.chars);
  left.chars -= Math.min(text.length, chars);
  return cleanText(text.length > chars ? `${text.slice(0, chars)}…` : text);
}

/**
 * Makes a key of an id, different for different ids: one with what text refuses, or with a backslash, is written as JSON
 * escapes it.
 */
export function toKey(id: string): string {
  return id.includes("\\") || cleanText(id) !== id ? JSON.stringify(id).slice(1, -1) : id;
}

/** Makes the id of a key. */
export function fromKey(key: string): string {
  return key.includes("\\") ? (JSON.parse(`"${key}"`) as string) : key;
}

/** An ISO 8601 time as a database takes it, or nothing for what is no time of the common era. */
export function toTime(text: unknown): string | null {
  const date = typeof text === "string" || typeof text === "number" ? new Date(text) : undefined;
  if (!date || Number.isNaN(date.getTime())) return null;
  const iso = date.toISOString();
  return /^\d{4}-/.test(iso) && !iso.startsWith("0000") ? iso : null;
}
