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

/** What a name is about: the session itself, which is no entry. */
const NAME = "";

/** Copies the way to a leaf as a session of its own: in one line, with the labels of its entries and its name at the end. */
export function copyWay(transcript: Transcript, leaf: string | null): Entry[] {
  const way = leaf === null ? [] : transcript.path(leaf);
  const kept = way.filter(({ type }) => type !== "label" && type !== "session_info");
  if (kept.length === 0) return [];
  const ids = new Set(kept.map(({ id }) => id));
  const latest = new Map<string, Entry<"label" | "session_info">>();
  for (const entry of everyEntry(transcript)) {
    const about = entry.type === "label" ? entry.targetId : NAME;
    if (entry.type === "label" ? !ids.has(about) : entry.type !== "session_info") continue;
    const known = latest.get(about);
    if (!known || known.timestamp <= entry.timestamp) latest.set(about, entry as Entry<"label" | "session_info">);
  }
  const name = latest.get(NAME);
  latest.delete(NAME);
  const said = [...latest.values(), ...(name ? [name] : [])].filter((entry) =>
    entry.type === "label" ? entry.label !== undefined : entry.name !== "",
  );
  return [...kept, ...said].map((entry, at, line) => ({
    ...(entry.type === "compaction" ? { ...entry, firstKeptEntryId: keptId(entry.firstKeptEntryId, way) } : entry),
    parentId: line[at - 1]?.id ?? null,
  }));
}

/** A compaction may keep from an entry on that is not at its place any more: then it keeps from the next one on. */
function keptId(id: string | null, way: readonly Entry[]): string | null {
  const at = way.findIndex((entry) => entry.id === id);
  return at < 0 ? id : (way.slice(at).find(({ type }) => type !== "label" && type !== "session_info")?.id ?? id);
}

function* everyEntry(transcript: Transcript): Generator<Entry> {
  const open: Entry[] = [...transcript.children(null)];
  for (let entry = open.pop(); entry; entry = open.pop()) {
    yield entry;
    open.push(...transcript.children(entry.id));
  }
}
