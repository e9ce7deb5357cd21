import { isRaw, parseJson, type RawRecord } from "./record.ts";

// Entries and headers begin so; content blocks do too, but have no timestamp of their own.
const START = '{"type":"';
// Every beginning is read to its end; this many characters in all take a tenth of a second.
const MAX_READ_CHARS = 20_000_000;

/**
 * Finds the entries in a line that is not one JSON value: two that lost the line feed between them, or a torn one
 * with the next behind it. `isWhole`: nothing but entries was there.
 */
export function salvage(line: string): { records: RawRecord[]; isWhole: boolean } {
  const records: RawRecord[] = [];
  let covered = 0;
  let readChars = 0;
  for (let at = line.indexOf(START); at >= 0 && readChars < MAX_READ_CHARS; ) {
    const end = objectEnd(line, at);
    readChars += (end < 0 ? line.length : end) - at;
    const value = end < 0 ? undefined : parseJson(line.slice(at, end));
    if (isRaw(value) && typeof value.timestamp === "string") {
      records.push(value);
      covered += end - at;
      at = line.indexOf(START, end);
    } else at = line.indexOf(START, at + 1);
  }
  return { records, isWhole: covered === line.length };
}

/** Where the object that begins at `start` ends, or -1. */
function objectEnd(text: string, start: number): number {
  let depth = 0;
  let isInString = false;
  for (let i = start; i < text.length; i++) {
    const char = text[i];
    if (isInString) {
      if (char === "\\") i++;
      else if (char === '"') isInString = false;
    } else if (char === '"') isInString = true;
    else if (char === "{") depth++;
    else if (char === "}" && --depth === 0) return i + 1;
  }
  return -1;
}
