/**
 * Where a conversation is cut: before it is summarised, from it on everything is kept.
 *
 *   user  call  result result  call  result  │ user  call  result
 *                                            cut: never before a result, so that no call loses one
 */
import type { Entry } from "@pi-agent/kernel";
import { type Item, isAside } from "./view.ts";

/** What comes before a cut; `prefix` is the beginning of a turn that the cut divides. */
export interface Parts {
  history: readonly Item[];
  prefix: readonly Item[];
  kept: readonly Item[];
}

/** Tells whether everything from this item on can be kept. */
export function canCutAt(items: readonly Item[], at: number): boolean {
  const { message, entryId } = items[at]!;
  return message.role !== "toolResult" && entryId !== undefined && items[at - 1]?.entryId !== entryId;
}

/**
 * Finds the first item to keep: the last so many tokens, or a little less. What cannot be divided is kept whole; where all
 * of it fits, the answer is the first item.
 */
export function findCut(items: readonly Item[], keepTokens: number): number {
  let tokens = 0;
  for (let at = items.length - 1; at >= 0; at--) {
    tokens += items[at]!.tokens;
    if (tokens < keepTokens) continue;
    for (let after = at; after < items.length; after++) if (canCutAt(items, after)) return after;
    for (let before = at - 1; before >= 0; before--) if (canCutAt(items, before)) return before;
  }
  return 0;
}

/**
 * Finds the next place to cut, where what is kept must become less; the end where nothing can be kept. None where all that
 * is left are calls that are still worked on: their results would come without them.
 */
export function nextCut(items: readonly Item[], cut: number): number | undefined {
  for (let at = cut + 1; at < items.length; at++) if (canCutAt(items, at)) return at;
  return cut < items.length && items.at(-1)!.entryId !== undefined ? items.length : undefined;
}

/** Divides the items at a cut. A turn begins with what is sent as the user's. */
export function divide(items: readonly Item[], cut: number): Parts {
  const kept = items.slice(cut);
  const before = items.slice(0, cut);
  const isStart = ({ message }: Item) => message.role === "user" || message.role === "custom";
  const start = kept[0] && !isStart(kept[0]) ? before.findLastIndex(isStart) : -1;
  if (start < 0) return { history: before, prefix: [], kept };
  return { history: before.slice(0, start), prefix: before.slice(start), kept };
}

/** The entry to keep from: entries before it that say nothing to the model come along. None where nothing is kept. */
export function firstKeptEntry(path: readonly Entry[], items: readonly Item[], cut: number): string | null {
  if (cut === items.length) return null;
  const spoken = new Set(items.map(({ entryId }) => entryId));
  const id = items[cut]!.entryId!;
  let at = path.findIndex((entry) => entry.id === id);
  while (at > 0 && isAside(path[at - 1]!) && !spoken.has(path[at - 1]!.id)) at--;
  return path[at]!.id;
}
