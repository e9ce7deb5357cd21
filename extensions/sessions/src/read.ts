import { constants as limits } from "node:buffer";
import { closeSync, constants, fstatSync, openSync, readSync, realpathSync, type Stats } from "node:fs";
import { createParser, type ParsedSession, type SessionParser } from "./format.ts";
import { reasonOf, sessionError } from "./problems.ts";

/** A session as its file holds it. */
export interface SessionFileContent extends ParsedSession {
  /** Without links. */
  file: string;
  sizeBytes: number;
}

const LINE_FEED = 10;
// What is read at once; a line that is longer makes the buffer grow.
const CHUNK_BYTES = 1 << 20;
// Less than one string can hold: lines grew it, so that it holds few of them.
const LARGE_BYTES = 64 << 20;

/**
 * Reads a session file once, line by line, in memory for its entries and one chunk. Answers `undefined` for an empty
 * file. Fails with `session_unreadable`, `session_invalid`; the file is never changed.
 */
export function readSession(path: string): SessionFileContent | undefined {
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
export function withFile<T>(path: string, read: (fd: number, stats: Stats) => T): T {
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) throw new Error("it is not a regular file");
    return read(fd, stats);
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
    const end = kept + count;
    const whole = buffer.subarray(kept, end).lastIndexOf(LINE_FEED) + 1;
    const from = whole > 0 ? addLines(parser, buffer, kept + whole) : 0;
    buffer.copyWithin(0, from, end);
    kept = end - from;
  }
  if (kept > 0) addLine(parser, buffer, { from: 0, to: kept, isCut: true });
  return sizeBytes;
}

/** Adds the lines up to `end`, where one ends. Decoding them at once costs much less than one by one. */
function addLines(parser: SessionParser, buffer: Buffer, end: number): number {
  if (end > LARGE_BYTES) return addLargeLines(parser, buffer, end);
  const text = buffer.toString("utf8", 0, end);
  let from = 0;
  for (let to = text.indexOf("\n"); to >= 0; to = text.indexOf("\n", from)) {
    parser.add(text.slice(from, to));
    from = to + 1;
  }
  return end;
}

/** One by one, so that one that no string can hold costs no other. */
function addLargeLines(parser: SessionParser, buffer: Buffer, end: number): number {
  let from = 0;
  for (let to = buffer.indexOf(LINE_FEED); to >= 0 && to < end; to = buffer.indexOf(LINE_FEED, from)) {
    addLine(parser, buffer, { from, to });
    from = to + 1;
  }
  return end;
}

function addLine(parser: SessionParser, buffer: Buffer, line: { from: number; to: number; isCut?: boolean }): void {
  if (line.to - line.from > limits.MAX_STRING_LENGTH) parser.skip();
  else parser.add(buffer.toString("utf8", line.from, line.to), line.isCut);
}
