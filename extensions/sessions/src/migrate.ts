import { type Problem, placeId, type RawRecord } from "./record.ts";

/**
 * Brings the records of a file to version 3, and leaves the header out.
 *
 *   version 1   no ids: each entry follows the one before it; a compaction names what it kept by place
 *   version 2   messages of extensions have the role `hookMessage`
 */
export function migrate(
  records: readonly RawRecord[],
  from: { version: number; headerAt: number; problems: Problem[] },
): RawRecord[] {
  const { version, headerAt, problems } = from;
  const linked = version < 2 ? link(records) : records;
  return linked.filter((record, place) => {
    if (place === headerAt) return false;
    const isEntry = record.type !== "session";
    const isSound = isEntry && (record.type !== "message" || mendMessage(record));
    if (!isSound) problems.push({ kind: isEntry ? "bad_message" : "foreign" });
    return isSound;
  });
}

function link(records: readonly RawRecord[]): RawRecord[] {
  let parentId: string | null = null;
  return records.map((record, place) => {
    if (record.type === "session") return record;
    const { type, firstKeptEntryIndex, ...rest } = record;
    const entry: RawRecord = { type, ...rest, id: placeId(place), parentId };
    parentId = placeId(place);
    if (typeof firstKeptEntryIndex === "number") {
      const isEntry = (records[firstKeptEntryIndex]?.type ?? "session") !== "session";
      entry.firstKeptEntryId = isEntry ? placeId(firstKeptEntryIndex) : null;
    }
    return entry;
  });
}

/** Makes a message that readers can rely on; answers `false` when there is none. */
function mendMessage(entry: RawRecord): boolean {
  const message = entry.message as Record<string, unknown> | null | undefined;
  if (typeof message !== "object" || message === null || typeof message.role !== "string") return false;
  if (message.role === "hookMessage") message.role = "custom";
  if (message.role !== "bashExecution") message.content ??= [];
  return true;
}
