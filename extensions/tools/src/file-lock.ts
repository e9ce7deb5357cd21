/**
 * Keeps the changes of one file apart between processes.
 *
 *   real path ─► <temporary folder>/pi-locks-<user>/<sha256 of it>, made exclusively, holding the process id
 *
 * It guards against other copies of this program only; `FileVersion` tells what any other program has changed.
 */
import { createHash } from "node:crypto";
import { closeSync, lstatSync, mkdirSync, openSync, readFileSync, statSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { mutate } from "./mutation-queue.ts";
import { realPath } from "./paths.ts";
import { errorCode, type MaybePromise, ToolFailure } from "./result.ts";

// A change holds its lock for milliseconds.
const STALE_MS = 10_000;
const PATIENCE_MS = 30_000;
const MAX_DELAY_MS = 15;

/**
 * Runs `fn` when no other change of the same real file is under way, in this process or another of the same user.
 * Fails with `locked`.
 */
export function changeFile<T>(path: string, signal: AbortSignal | undefined, fn: () => MaybePromise<T>): Promise<T> {
  return mutate(path, async () => {
    const folder = lockFolder();
    if (folder === undefined) return fn();
    const lock = join(folder, createHash("sha256").update(realPath(path)).digest("hex"));
    const mine = await take(lock, path, signal);
    try {
      return await fn();
    } finally {
      // Whoever held it for too long may have lost it to another.
      if (mine !== undefined && inodeOf(lock) === mine) remove(lock);
    }
  });
}

/** The folder of the locks; without one that is ours alone, `assertUnchanged` has to do. */
function lockFolder(): string | undefined {
  const uid = process.geteuid?.();
  const folder = join(tmpdir(), `pi-locks-${uid ?? userInfo().username}`);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (cause) {
    if (errorCode(cause) !== "EEXIST") return undefined;
  }
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  const isOurs = uid === undefined || (stats?.uid === uid && (stats.mode & 0o077) === 0);
  return stats?.isDirectory() && isOurs ? folder : undefined;
}

/** Waits for a lock and takes it; answers its inode, `undefined` where none can be made. */
async function take(lock: string, path: string, signal: AbortSignal | undefined): Promise<bigint | undefined> {
  for (const start = performance.now(); performance.now() - start < PATIENCE_MS; ) {
    const isMade = make(lock);
    if (isMade !== false) return isMade ? inodeOf(lock) : undefined;
    if (isStale(lock)) removeStale(lock);
    else await delay(1 + Math.random() * MAX_DELAY_MS, undefined, { signal });
  }
  throw new ToolFailure(
    "locked",
    `Could not change ${path}: other processes kept changing it for ${PATIENCE_MS / 1_000} seconds.`,
    "Nothing was written. Wait until they are done, then try again.",
  );
}

/** Answers whether it was free; `undefined` where none can be made. */
function make(lock: string): boolean | undefined {
  try {
    const fd = openSync(lock, "wx", 0o600);
    try {
      writeSync(fd, String(process.pid));
    } finally {
      closeSync(fd);
    }
    return true;
  } catch (cause) {
    if (errorCode(cause) === "EEXIST") return false;
    // A full or read-only disk: the change itself may be elsewhere, and is still held against the file's version.
    return undefined;
  }
}

function isStale(lock: string): boolean {
  const stats = statSync(lock, { throwIfNoEntry: false });
  if (!stats) return false;
  return Date.now() - stats.mtimeMs > STALE_MS || !isAlive(holderOf(lock));
}

/** The process id in a lock; 0 for one that is gone, or just being made. */
function holderOf(lock: string): number {
  try {
    return Number(readFileSync(lock, "latin1")) || 0;
  } catch {
    return 0;
  }
}

function isAlive(pid: number): boolean {
  try {
    return pid === 0 || process.kill(pid, 0);
  } catch (cause) {
    return errorCode(cause) !== "ESRCH";
  }
}

/** Removes a stale lock; a lock of its own keeps two that wait from removing what one of them has just made. */
function removeStale(lock: string): void {
  const guard = `${lock}.stale`;
  if (make(guard) !== true) {
    if (isStale(guard)) remove(guard);
    return;
  }
  try {
    if (isStale(lock)) remove(lock);
  } finally {
    remove(guard);
  }
}

function inodeOf(path: string): bigint | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch (cause) {
    if (errorCode(cause) !== "ENOENT") throw cause;
  }
}
