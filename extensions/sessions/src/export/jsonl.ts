/** A branch as a session of its own: in one line, with the labels and the name that it has. */
import type { Entry } from "@pi-agent/kernel";
import { FORMAT_VERSION, toLine } from "../format.ts";
import { newSessionId } from "../location.ts";
import type { SessionHeader } from "../record.ts";
import { labelsOf, type Tree } from "./tree.ts";

/** Makes the lines of a file that holds the branch where the conversation stands. */
export function* branchLines(tree: Tree, { cwd, name }: { cwd: string; name?: string }): Generator<string> {
  const timestamp = new Date().toISOString();
  const header: SessionHeader = { type: "session", version: FORMAT_VERSION, id: newSessionId(), timestamp, cwd };
  yield toLine(header);
  let parentId: string | null = null;
  for (const entry of branchOf(tree, name)) {
    yield toLine({ ...entry, parentId });
    parentId = entry.id;
  }
}

/** The entries of the branch; its labels, and the name, are at the end. */
function branchOf(tree: Tree, name: string | undefined): Entry[] {
  const path = tree.path();
  const kept = path.filter(({ type }) => type !== "label" && type !== "session_info");
  const ids = new Set(kept.map(({ id }) => id));
  const labels = [...labelsOf(tree).values()].filter(({ targetId }) => ids.has(targetId));
  const placed = kept.map((entry) =>
    entry.type === "compaction" ? { ...entry, firstKeptEntryId: keptId(entry.firstKeptEntryId, { path, ids }) } : entry,
  );
  return [...placed, ...labels, ...(name ? [nameEntry(name, new Set([...ids, ...labels.map(({ id }) => id)]))] : [])];
}

/** A compaction may keep from a label or a name on, which is not at its place any more: then from the next entry on. */
function keptId(id: string | null, { path, ids }: { path: readonly Entry[]; ids: ReadonlySet<string> }): string | null {
  const at = path.findIndex((entry) => entry.id === id);
  return at < 0 ? id : (path.slice(at).find((entry) => ids.has(entry.id))?.id ?? id);
}

function nameEntry(name: string, taken: ReadonlySet<string>): Entry {
  let id: string;
  do id = crypto.randomUUID().slice(0, 8);
  while (taken.has(id));
  return { type: "session_info", id, parentId: null, timestamp: new Date().toISOString(), name };
}
