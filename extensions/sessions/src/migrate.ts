import { type Problem, placeId, type RawRecord } from "./record.ts";
import { mendShape } from "./shape.ts";
import { isSound } from "./sound.ts";

/**
 * Brings the records of a file to version 3 and into shape, and leaves the header out.
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
  const kept: RawRecord[] = [];
  for (let place = 0; place < linked.length; place++) {
    const record = linked[place]!;
    if (isSound(record) || (place !== headerAt && isMended(record, problems))) kept.push(record);
  }
  return kept;
}

/** Mends what can be mended, and tells it; `false` for what is to be left out. */
function isMended(record: RawRecord, problems: Problem[]): boolean {
  if (record.type === "session") {
    problems.push({ kind: "foreign" });
    return false;
  }
  renameRole(record);
  const shape = mendShape(record);
  const entryId = typeof record.id === "string" ? record.id : undefined;
  if (shape === "unusable") problems.push({ kind: record.type === "message" ? "bad_message" : "bad_entry", entryId });
  else if (shape === "mended") problems.push({ kind: "bad_shape", entryId });
  return shape !== "unusable";
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

function renameRole({ message }: RawRecord): void {
  const held = message as { role?: unknown } | null | undefined;
  if (held?.role === "hookMessage") held.role = "custom";
}
