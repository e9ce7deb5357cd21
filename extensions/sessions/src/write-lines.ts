import { writeSync } from "node:fs";

// One string cannot hold every session.
const CHUNK_CHARS = 4 * 1024 * 1024;
/** How much of a file's end tells it from another one: an entry's id and time are in its last line. */
export const ENDING_BYTES = 512;

export interface Written {
  bytes: number;
  /** The last of them. */
  ending?: Uint8Array;
}

/** Writes lines of any number, and counts the bytes as it goes. Throws what the file system says. */
export function writeLines(fd: number, lines: Iterable<string>, written: Written): void {
  let chunk = "";
  const write = () => {
    const bytes = Buffer.from(chunk);
    for (let done = 0; done < bytes.length; ) {
      const count = writeSync(fd, bytes, done);
      done += count;
      written.bytes += count;
    }
    written.ending = Uint8Array.from(bytes.subarray(-ENDING_BYTES));
    chunk = "";
  };
  for (const line of lines) {
    chunk += line;
    if (chunk.length >= CHUNK_CHARS) write();
  }
  if (chunk !== "") write();
}

/** Puts a line feed before lines: what is there already ends in the middle of one. */
export function* withLineFeed(lines: Iterable<string>): Generator<string> {
  yield "\n";
  yield* lines;
}
