/**
 * Makes a tree of entries that may have lost their ids, their parents or their order.
 *
 *   ids unique ──► every parent found ──► no cycles ──► parents first
 *
 * An entry whose parent is missing follows the one before it in the file: a conversation went on in the order in
 * which it was written. A cycle is cut at its entry that comes first in the file. Takes linear time, and comes to
 * the same result at every load.
 */
import type { Entry } from "@pi-agent/kernel";
import { type Problem, placeId, type RawRecord } from "./record.ts";

const ROOT = -1;
const UNKNOWN = -2;

/** Entries in the file's order, and for each the place of its parent. */
interface Tree {
  entries: Entry[];
  parents: Int32Array;
}

/** Repairs what `migrate` answered. `hasNewIds`: some entries have ids that the file does not know. */
export function repair(records: readonly RawRecord[], problems: Problem[]): { entries: Entry[]; hasNewIds: boolean } {
  const { tree, places, nameless } = readTree(records as unknown as Entry[], problems);
  const { entries, parents } = tree;
  findLostParents(tree, places, problems);
  giveIds(entries, { places, nameless });
  if (!isInOrder(parents)) cutCycles(tree, problems);
  for (let place = 0; place < entries.length; place++) {
    const parent = parents[place]!;
    entries[place]!.parentId = parent === ROOT ? null : entries[parent]!.id;
  }
  const hasNewIds = nameless.length > 0;
  if (isInOrder(parents)) return { entries, hasNewIds };
  problems.push({ kind: "order" });
  return { entries: parentsFirst(tree), hasNewIds };
}

function isInOrder(parents: Int32Array): boolean {
  return parents.every((parent, place) => parent < place);
}

/** Drops exact copies, and finds each parent among the entries before: of several with its id, the last. */
function readTree(given: readonly Partial<Entry>[], problems: Problem[]) {
  const entries: Entry[] = [];
  const parents = new Int32Array(given.length);
  const places = new Map<string, number>();
  const nameless: number[] = [];
  for (const entry of given) {
    const { id, parentId } = entry;
    const hasId = typeof id === "string";
    const twin = hasId ? places.get(id) : undefined;
    if (twin !== undefined) problems.push({ kind: "duplicate_id", entryId: id });
    if (twin !== undefined && JSON.stringify(entries[twin]) === JSON.stringify(entry)) continue;
    const place = entries.push(entry as Entry) - 1;
    parents[place] = parentId === null ? ROOT : (places.get(parentId!) ?? UNKNOWN);
    if (!hasId) problems.push({ kind: "no_id" });
    if (!hasId || twin !== undefined) nameless.push(place);
    if (hasId) places.set(id, place);
  }
  return { tree: { entries, parents: parents.subarray(0, entries.length) }, places, nameless };
}

function findLostParents({ entries, parents }: Tree, places: ReadonlyMap<string, number>, problems: Problem[]): void {
  for (let place = 0; place < parents.length; place++) {
    if (parents[place] !== UNKNOWN) continue;
    const { id, parentId } = entries[place]!;
    const later = places.get(parentId!);
    const isFound = later !== undefined && later !== place;
    // The place before the first one is the root.
    parents[place] = isFound ? later : place - 1;
    if (!isFound) problems.push({ kind: "no_parent", entryId: id });
  }
}

function giveIds(entries: Entry[], at: { places: Map<string, number>; nameless: number[] }): void {
  let next = entries.length;
  for (const place of at.nameless) {
    while (at.places.has(placeId(next))) next++;
    entries[place]!.id = placeId(next++);
  }
}

function cutCycles({ entries, parents }: Tree, problems: Problem[]): void {
  const isSeen = new Uint8Array(parents.length);
  const isDone = new Uint8Array(parents.length);
  for (let start = 0; start < parents.length; start++) {
    const walk: number[] = [];
    let at = start;
    for (; at !== ROOT && !isSeen[at]; at = parents[at]!) {
      isSeen[at] = 1;
      walk.push(at);
    }
    if (at !== ROOT && !isDone[at]) {
      const cycle = walk.slice(walk.indexOf(at));
      const first = cycle.reduce((least, place) => Math.min(least, place));
      // The one before it, where that is known not to lead back here.
      parents[first] = isDone[first - 1] ? first - 1 : ROOT;
      problems.push({ kind: "cycle", entryId: entries[first]!.id });
    }
    for (const place of walk) isDone[place] = 1;
  }
}

function parentsFirst({ entries, parents }: Tree): Entry[] {
  const ordered: Entry[] = [];
  const isPlaced = new Uint8Array(parents.length);
  for (let start = 0; start < parents.length; start++) {
    const chain: Entry[] = [];
    for (let at = start; at !== ROOT && !isPlaced[at]; at = parents[at]!) {
      isPlaced[at] = 1;
      chain.push(entries[at]!);
    }
    while (chain.length > 0) ordered.push(chain.pop()!);
  }
  return ordered;
}
