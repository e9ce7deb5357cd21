import type { Entry } from "@pi-agent/kernel";
import type { StoredSession } from "@pi-agent/sessions";

/**
 * Puts every parent before its children. An entry whose parent is missing follows the one before it; a circle is cut
 * where it comes first.
 */
export function mendTree(entries: readonly Entry[]): Pick<StoredSession, "entries" | "problems"> {
  if (isSound(entries)) return { entries, problems: [] };
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const problems: StoredSession["problems"][number][] = [];
  const placed = new Set<string>();
  const result: Entry[] = [];
  const place = (entry: Entry, parentId: string | null) => {
    placed.add(entry.id);
    result.push(parentId === entry.parentId ? entry : { ...entry, parentId });
  };
  for (const entry of entries) {
    const way = wayUp(entry, { byId, placed });
    const top = way.at(-1);
    if (!top) continue;
    if (isRootOrPlaced(top, placed)) place(top, top.parentId);
    else {
      const kind = top.parentId !== null && byId.has(top.parentId) ? "cycle" : "no_parent";
      problems.push({ kind, entryId: top.id });
      place(top, kind === "cycle" ? null : (result.at(-1)?.id ?? null));
    }
    for (const each of way.slice(0, -1).reverse()) place(each, each.parentId);
    if (way.length > 1) problems.push({ kind: "order", entryId: entry.id });
  }
  return { entries: result, problems };
}

/** From an entry to the highest one above it that is not placed yet. */
function wayUp(entry: Entry, { byId, placed }: { byId: Map<string, Entry>; placed: Set<string> }): Entry[] {
  const way: Entry[] = [];
  const seen = new Set<string>();
  for (
    let at: Entry | undefined = entry;
    at && !placed.has(at.id) && !seen.has(at.id);
    at = byId.get(at.parentId ?? "")
  ) {
    seen.add(at.id);
    way.push(at);
  }
  return way;
}

function isSound(entries: readonly Entry[]): boolean {
  const seen = new Set<string>();
  return entries.every((entry) => isRootOrPlaced(entry, seen) && seen.add(entry.id));
}

function isRootOrPlaced({ parentId }: Entry, placed: ReadonlySet<string>): boolean {
  return parentId === null || placed.has(parentId);
}
