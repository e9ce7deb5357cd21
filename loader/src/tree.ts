/** Ways through the tree of a session. */
import type { Entry, Transcript } from "@pi-agent/kernel";

/** Where a conversation goes on that turns back to an entry: what a person said is said anew, so before it. */
export function leafFor(entry: Entry): string | null {
  const isSaid = entry.type === "custom_message" || (entry.type === "message" && entry.message.role === "user");
  return isSaid ? entry.parentId : entry.id;
}

/** What is left behind on the way from one leaf to another: all after the deepest entry that both come from. */
export function leftBehind(
  transcript: Transcript,
  { from, to }: { from: string | null; to: string | null },
): { commonAncestorId: string | null; entries: readonly Entry[] } {
  const ways = [from, to].map((leaf) => (leaf === null ? [] : transcript.path(leaf)));
  const [old = [], next = []] = ways;
  const fork = old.findIndex((entry, at) => next[at]?.id !== entry.id);
  const at = fork < 0 ? old.length : fork;
  return { commonAncestorId: old[at - 1]?.id ?? null, entries: old.slice(at) };
}

/** Copies the way to a leaf as a session of its own: in one line, with the labels of its entries at the end. */
export function copyWay(transcript: Transcript, leaf: string | null): Entry[] {
  const way = leaf === null ? [] : transcript.path(leaf);
  const kept = way.filter(({ type }) => type !== "label");
  const ids = new Set(kept.map(({ id }) => id));
  const latest = new Map<string, Entry>();
  for (const entry of everyEntry(transcript)) {
    if (entry.type !== "label" || !ids.has(entry.targetId)) continue;
    const known = latest.get(entry.targetId);
    if (!known || known.timestamp <= entry.timestamp) latest.set(entry.targetId, entry);
  }
  const labels = [...latest.values()].filter((entry) => entry.type === "label" && entry.label !== undefined);
  return [...kept, ...labels].map((entry, at, line) => ({
    ...(entry.type === "compaction" ? { ...entry, firstKeptEntryId: keptId(entry.firstKeptEntryId, way) } : entry),
    parentId: line[at - 1]?.id ?? null,
  }));
}

/** A compaction may keep from a label on, which is not at its place any more: then it keeps from the next entry on. */
function keptId(id: string | null, way: readonly Entry[]): string | null {
  const at = way.findIndex((entry) => entry.id === id);
  return at < 0 ? id : (way.slice(at).find(({ type }) => type !== "label")?.id ?? id);
}

function* everyEntry(transcript: Transcript): Generator<Entry> {
  const open: Entry[] = [...transcript.children(null)];
  for (let entry = open.pop(); entry; entry = open.pop()) {
    yield entry;
    open.push(...transcript.children(entry.id));
  }
}
