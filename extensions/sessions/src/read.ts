import { constants as limits } from "node:buffer";
import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from "node:fs";
import { createParser, type ParsedSession, type SessionParser } from "./format.ts";
import { reasonOf, sessionError } from "./problems.ts";

/** A session as its file holds it. */
export interface StoredSession extends ParsedSession {
  /** Without links. */
  file: string;
  sizeBytes: number;
}

const LINE_FEED = 10;
// What is read at once; a line that is longer makes the buffer grow.
const CHUNK_BYTES = 1 << 20;

/**
 * Reads a session file once, line by line, in memory for its entries and one chunk. Answers `undefined` for an empty
 * file. Fails with `session_unreadable`, `session_invalid`; the file is never changed.
 */
export function readSession(path: string): StoredSession | undefined {
  const parser = createParser();
  let read: { sizeBytes: number; file: string };
  try {
    read = withFile(path, (fd) => ({ sizeBytes: readLines(fd, parser), file: realpathSync(path) }));
  } catch (error) {
    throw sessionError(
      "session_unreadable",
      `The session file ${path} could not be read: ${reasonOf(error)}.`,
      "Check the path and its permissions, or choose another session with --session or --continue.",
    );
  }
  if (read.sizeBytes === 0) return undefined;
  const parsed = parser.finish();
  if (parsed) return { ...parsed, ...read };
  throw sessionError(
    "session_invalid",
    `${path} is not a valid session file: no line of it is a session header.`,
    "Choose another session with --session or --continue. The file was left as it is.",
  );
}

/** Opens a regular file for reading, without waiting for a pipe's other end. */
export function withFile<T>(path: string, read: (fd: number) => T): T {
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    if (!fstatSync(fd).isFile()) throw new Error("it is not a regular file");
    return read(fd);
  } finally {
    closeSync(fd);
  }
}

/** Hands every line to the parser; answers how many bytes there were. */
function readLines(fd: number, parser: SessionParser): number {
  let buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  let sizeBytes = 0;
  let kept = 0;
  for (;;) {
    if (kept === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2);
    const count = readSync(fd, buffer, kept, buffer.length - kept, null);
    if (count === 0) break;
    sizeBytes += count;
    const filled = buffer.subarray(0, kept + count);
    let from = 0;
    for (let to = filled.indexOf(LINE_FEED, kept); to >= 0; to = filled.indexOf(LINE_FEED, from)) {
      addLine(parser, filled, { from, to });
      from = to + 1;
    }
    buffer.copyWithin(0, from, filled.length);
    kept = filled.length - from;
  }
  if (kept > 0) addLine(parser, buffer, { from: 0, to: kept, isCut: true });
  return sizeBytes;
}

function addLine(parser: SessionParser, buffer: Buffer, line: { from: number; to: number; isCut?: boolean }): void {
  if (line.to - line.from > limits.MAX_STRING_LENGTH) parser.skip();
  else parser.add(buffer.toString("utf8", line.from, line.to), line.isCut);
}
