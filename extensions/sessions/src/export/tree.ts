/** The tree of a session: of an agent's transcript, or of what was read. */
import type { Entry, Transcript } from "@pi-agent/kernel";

export type Tree = Pick<Transcript, "leafId" | "get" | "children" | "path">;

/** Entry types that say something about a session without being a place in it. */
const ASIDES: ReadonlySet<string> = new Set(["label", "session_info", "usage"]);

/** Makes the tree of entries that were read, every parent before its children. */
export function treeOf(entries: readonly Entry[]): Tree {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const byParent = Map.groupBy(entries, ({ parentId }) => parentId);
  const leafId = entries.findLast(({ type }) => !ASIDES.has(type))?.id ?? null;
  return {
    leafId,
    get: (id) => byId.get(id),
    children: (id) => byParent.get(id) ?? [],
    path(leaf = leafId ?? undefined) {
      const path: Entry[] = [];
      for (let entry = byId.get(leaf ?? ""); entry; entry = byId.get(entry.parentId ?? "")) path.push(entry);
      return path.reverse();
    },
  };
}

/** The entry where the conversation stands: what is only said about the session is no place in it. */
export function placeIn(tree: Tree): Entry | undefined {
  return tree.path().findLast(({ type }) => !ASIDES.has(type));
}

/** Walks all entries, every parent before its children. */
export function* everyEntry(tree: Pick<Tree, "children">): Generator<Entry> {
  const open: Entry[] = tree.children(null).toReversed();
  for (let entry = open.pop(); entry; entry = open.pop()) {
    yield entry;
    open.push(...tree.children(entry.id).toReversed());
  }
}

/** Finds the labels that entries have now, by entry id: of several the newest counts, and an empty one takes it away. */
export function labelsOf(tree: Pick<Tree, "children">): Map<string, Entry<"label"> & { label: string }> {
  const newest = new Map<string, Entry<"label">>();
  for (const entry of everyEntry(tree)) {
    if (entry.type !== "label") continue;
    const known = newest.get(entry.targetId);
    if (!known || known.timestamp <= entry.timestamp) newest.set(entry.targetId, entry);
  }
  const labelled = [...newest].filter((each): each is [string, Entry<"label"> & { label: string }] => !!each[1].label);
  return new Map(labelled);
}

/** Finds the name that was given last. */
export function nameOf(tree: Pick<Tree, "children">): string | undefined {
  let newest: Entry<"session_info"> | undefined;
  for (const entry of everyEntry(tree)) {
    if (entry.type === "session_info" && (!newest || newest.timestamp <= entry.timestamp)) newest = entry;
  }
  return newest?.name || undefined;
}

/** The branch that goes on from each entry in the first place: the one where the conversation stands, else the newest. */
export function trunkChild(tree: Tree, onPath: ReadonlySet<string>, id: string | null): Entry | undefined {
  const children = tree.children(id);
  return children.find((child) => onPath.has(child.id)) ?? children.at(-1);
}
