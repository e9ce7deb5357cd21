import { createWriteStream } from "node:fs";
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

/** Sends lines to a standard stream, or whatever is in its place. */
export function streamSink(stream: { write(text: string): unknown }): Sink {
  return {
    write: (line) => void stream.write(line),
    close: async () => 0,
  };
}

/** Appends lines to a file, through one descriptor. `onError` is told once when the file cannot be written. */
export function fileSink(path: string, onError: (error: Error) => void): Sink {
  const stream = createWriteStream(path, { flags: "a", mode: 0o600 });
  stream.once("error", onError);
  let dropped = 0;
  return {
    write(line) {
      if (stream.writable && stream.writableLength < MAX_WAITING_BYTES) stream.write(line);
      else dropped++;
    },
    async close() {
      await new Promise<void>((done) => stream.end(() => done()));
      return dropped;
    },
  };
}

/** Where a log file is: relative to the working directory, or to the home folder after a tilde. */
export function logPath(target: string, cwd: string): string {
  return target.startsWith("~/") ? join(homedir(), target.slice(2)) : resolve(cwd, target);
}
