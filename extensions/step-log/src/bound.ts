import type { Json } from "@pi-agent/kernel";
import type { Mask } from "./mask.ts";

// What a field may hold: enough to recognise a call by, little enough to write a million of.
const MAX_ITEMS = 50;
const MAX_DEPTH = 8;
const MAX_TEXT_CHARS = 2_000;
// A secret may lie across the cut: so much more is looked at than is shown.
const LOOK_AHEAD_CHARS = 4_000;

/** Masks a text and cuts it; what was cut says how long the whole is. */
export function boundText(text: string, mask: Mask, maxChars = MAX_TEXT_CHARS): string {
  if (text.length <= maxChars) return mask(text);
  const masked = mask(text.slice(0, maxChars + LOOK_AHEAD_CHARS));
  const isSafeUpTo = text.length > maxChars + LOOK_AHEAD_CHARS ? masked.length - LOOK_AHEAD_CHARS : masked.length;
  return `${masked.slice(0, Math.max(0, Math.min(maxChars, isSafeUpTo)))}… (${text.length} characters)`;
}

/** Masks and cuts every text in a value, and cuts long lists and deep nests. */
export function boundValue(value: Json, mask: Mask, depth = 0): Json {
  if (typeof value === "string") return boundText(value, mask);
  if (typeof value !== "object" || value === null) return value;
  if (depth === MAX_DEPTH) return "…";
  if (Array.isArray(value)) {
    const items = value.slice(0, MAX_ITEMS).map((item) => boundValue(item, mask, depth + 1));
    return value.length > MAX_ITEMS ? [...items, `… (${value.length} items)`] : items;
  }
  const entries = Object.entries(value);
  const kept = entries
    .slice(0, MAX_ITEMS)
    .map(([key, item]): [string, Json] => [boundText(key, mask), boundValue(item, mask, depth + 1)]);
  if (entries.length > MAX_ITEMS) kept.push(["…", `${entries.length} keys`]);
  return Object.fromEntries(kept);
}
