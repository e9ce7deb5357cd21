import { closeSync, constants, fstatSync, openSync, read, readSync, type Stats } from "node:fs";
import { type MaybePromise, ToolFailure } from "./result.ts";

/** A file that is open for reading, wherever it lives. */
export interface OpenFile {
  /** `file`, or what else it is in words: `a directory`, `a named pipe` … */
  kind: string;
  /** When it was opened. A file of size 0 may have content all the same, as those of /proc have. */
  sizeBytes: number;
  /** Reads at most `length` bytes; fewer, or none, only at the end. */
  read(position: number, length: number): MaybePromise<Buffer>;
  close(): MaybePromise<void>;
}

// Larger files are read without blocking the event loop.
const MAX_SYNC_BYTES = 1_024 * 1_024;
// Undefined on Windows. NONBLOCK: a pipe that nobody writes to must not hold the open.
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/** Opens a file of this machine. Never waits: not for a pipe, not for a device. Fails as `open` does. */
export function openFile(path: string): OpenFile {
  const fd = openSync(path, OPEN_FLAGS);
  try {
    const stats = fstatSync(fd);
    const isSmall = stats.size <= MAX_SYNC_BYTES;
    return {
      kind: kindOf(stats),
      sizeBytes: stats.size,
      read: (position, length) => (isSmall ? readNow(fd, position, length) : readLater(fd, position, length)),
      close: () => closeSync(fd),
    };
  } catch (cause) {
    closeSync(fd);
    throw cause;
  }
}

/** Reads a regular file whole. Fails with `not_a_file`, `too_large`, or as `open` does. */
export async function readWhole(file: OpenFile, shown: string, maxBytes: number): Promise<Buffer> {
  assertFile(file, shown);
  if (file.sizeBytes > maxBytes) {
    throw new ToolFailure("too_large", `${shown} is too large: ${file.sizeBytes} bytes, ${maxBytes} at most.`);
  }
  const first = await file.read(0, Math.max(file.sizeBytes, 1));
  return file.sizeBytes === 0 && first.length > 0 ? readToEnd(file, first, maxBytes) : first;
}

/** Fails with `not_a_file` unless it is a regular file. */
export function assertFile(file: OpenFile, shown: string): void {
  if (file.kind === "file") return;
  const isDirectory = file.kind === "a directory";
  const hint = isDirectory ? "List it with ls, or with ls in bash." : "Only regular files are read and written.";
  throw new ToolFailure(isDirectory ? "EISDIR" : "not_a_file", `${shown} is ${file.kind}, not a file.`, hint);
}

/** Says what the system says a path is. */
export function kindOf(stats: Stats): string {
  if (stats.isFile()) return "file";
  if (stats.isDirectory()) return "a directory";
  if (stats.isFIFO()) return "a named pipe";
  if (stats.isSocket()) return "a socket";
  return "a device";
}

async function readToEnd(file: OpenFile, first: Buffer, maxBytes: number): Promise<Buffer> {
  const parts = [first];
  for (let position = first.length; position < maxBytes; ) {
    const part = await file.read(position, 65_536);
    if (part.length === 0) break;
    parts.push(part);
    position += part.length;
  }
  return Buffer.concat(parts);
}

function readNow(fd: number, position: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(length);
  return buffer.subarray(0, readSync(fd, buffer, 0, length, position));
}

function readLater(fd: number, position: number, length: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  read(fd, Buffer.allocUnsafe(length), 0, length, position, (error, bytesRead, buffer) => {
    if (error) reject(error);
    else resolve(buffer.subarray(0, bytesRead));
  });
  return promise;
}
