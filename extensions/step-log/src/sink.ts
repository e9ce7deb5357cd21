import { constants, createWriteStream, openSync, type Stats, statSync, type WriteStream } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** Takes lines and never makes anyone wait for them. */
export interface Sink {
  write(line: string): void;
  /** Resolves when everything is written; answers how many lines were dropped on the way. */
  close(): Promise<number>;
}

// Lines that a slow disk has not taken yet; more are dropped rather than kept in memory.
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

interface Stream {
  write(text: string): unknown;
  on?(event: "error", listener: (error: Error) => void): unknown;
  off?(event: "error", listener: (error: Error) => void): unknown;
}

/** Sends lines to a standard stream, or whatever is in its place. `onError` is told once when it takes no more. */
export function streamSink(stream: Stream, onError: (error: Error) => void): Sink {
  let isBroken = false;
  let dropped = 0;
  const fail = (error: Error) => {
    if (!isBroken) onError(error);
    isBroken = true;
  };
  // Without a listener a reader that has gone away ends the whole program.
  stream.on?.("error", fail);
  return {
    write(line) {
      if (isBroken) return void dropped++;
      try {
        stream.write(line);
      } catch (thrown) {
        dropped++;
        fail(thrown as Error);
      }
    },
    async close() {
      stream.off?.("error", fail);
      return dropped;
    },
  };
}

/**
 * Appends lines to a file or a character device, through one descriptor. `onError` is told once when it cannot be
 * written; a pipe or a socket is not, because opening one waits for its other end.
 */
export function fileSink(path: string, onError: (error: Error) => void): Sink {
  const stream = openStream(path, onError);
  let dropped = 0;
  return {
    write(line) {
      if (stream?.writable && stream.writableLength < MAX_WAITING_BYTES) stream.write(line);
      else dropped++;
    },
    async close() {
      // Also what goes wrong with the last lines has been told by then.
      if (stream && !stream.closed) await new Promise<void>((done) => stream.once("close", () => done()).end());
      return dropped;
    },
  };
}

function openStream(path: string, onError: (error: Error) => void): WriteStream | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats) assertWritable(stats);
    const isDevice = stats?.isCharacterDevice() === true;
    // NONBLOCK: a pipe that has taken the place of the file since must not hold the open. Undefined on Windows.
    const noWait = isDevice ? 0 : (constants.O_NONBLOCK ?? 0);
    const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NOCTTY ?? 0) | noWait;
    const stream = createWriteStream(path, { fd: openSync(path, flags, 0o600) });
    stream.once("error", onError);
    return stream;
  } catch (cause) {
    onError(cause as Error);
    return undefined;
  }
}

function assertWritable(stats: Stats): void {
  if (stats.isFile() || stats.isCharacterDevice()) return;
  const kind = stats.isFIFO()
    ? "a pipe"
    : stats.isDirectory()
      ? "a folder"
      : stats.isSocket()
        ? "a socket"
        : "a device";
  throw new Error(`it is ${kind}, not a file`);
}

/** Where a log file is: relative to the working directory, or to the home folder after a tilde. */
export function logPath(target: string, cwd: string): string {
  return target.startsWith("~/") ? join(homedir(), target.slice(2)) : resolve(cwd, target);
}
