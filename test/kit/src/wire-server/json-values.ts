/** Whether a value is an object and not an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isObjectArray(value: unknown): value is Record<string, unknown>[] {
  return Array.isArray(value) && value.every(isObject);
}

/** A value as a text: itself, or as JSON. */
export function asText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** Whether every key and every text in a value is well-formed Unicode. */
export function isWellFormed(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (Array.isArray(value)) return value.every(isWellFormed);
  if (!isObject(value)) return true;
  return Object.entries(value).every(([key, member]) => key.isWellFormed() && isWellFormed(member));
}

/** Writes a value with its keys in order, so that equal values make equal texts. */
export function writeCanonical(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    isObject(member) ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1))) : member,
  );
}

/** Answers the first key of `value` that is not in `known`. */
export function findUnknownKey(value: object, known: readonly string[]): string | undefined {
  return Object.keys(value).find((key) => !known.includes(key));
}

/** Joins what a content value says: a text, or the texts of its parts. */
export function joinTexts(content: unknown): string {
  if (typeof content === "string") return content;
  if (!isObjectArray(content)) return "";
  return content.map((part) => (typeof part.text === "string" ? part.text : "")).join("");
}

/** Counts the parts of a content value whose type is one of `types`. */
export function countParts(content: unknown, types: readonly string[]): number {
  return isObjectArray(content) ? content.filter((part) => types.includes(asText(part.type))).length : 0;
}
