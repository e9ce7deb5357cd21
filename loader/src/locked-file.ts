/**
 * How a file that several processes write is changed: under the lock beside it, `<file>.lock`, which Pi takes too, and
 * by putting a whole new file in its place.
 */
import { constants } from "node:fs";
import { copyFile, open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { lookAt } from "./places.ts";

// Such a lock is held for milliseconds; after 10 s without a sign of life its holder counts as dead.
const STALE_MS = 10_000;
const ASK_AGAIN_MS = 20;

/**
 * Does `work` while no other process holds the lock of `path`, whose folder must be there; `assertHeld` throws once the
 * lock was lost. Waits up to `waitMs` for another process. Fails with an error that `isLocked`, and as `work` does.
 */
export async function withLock<T>(
  path: string,
  waitMs: number,
  work: (assertHeld: () => void) => Promise<T>,
): Promise<T> {
  const lost: { cause?: Error } = {};
  const release = await takeLock(path, waitMs, (cause) => void (lost.cause = cause));
  try {
    return await work(() => {
      if (lost.cause) throw lost.cause;
    });
  } finally {
    if (!lost.cause) await release();
  }
}

/** Tells whether that is why a lock was not to be had: somebody else holds it. */
export function isLocked(cause: unknown): boolean {
  return cause instanceof Error && "code" in cause && cause.code === "ELOCKED";
}

/**
 * Puts a file with this content in the place of `path` at once, or leaves everything as it was. A link at `path` is
 * replaced and not followed. `assertHeld` has the last word.
 */
export async function replaceFile(
  path: string,
  content: string,
  { mode = 0o600, assertHeld }: { mode?: number; assertHeld?: () => void } = {},
): Promise<void> {
  const draft = `${path}.${process.pid}.${crypto.randomUUID().slice(0, 8)}.tmp`;
  // Exclusive: whatever was put there for us to write through makes this fail.
  const file = await open(draft, "wx", mode);
  try {
    try {
      await file.writeFile(content);
      await file.chmod(mode);
      await file.sync();
    } finally {
      await file.close();
    }
    assertHeld?.();
    await rename(draft, path);
  } catch (cause) {
    await rm(draft, { force: true });
    throw cause;
  }
}

/** Removes what processes left that died while they replaced this file. For the one that holds its lock. */
export async function removeDrafts(path: string): Promise<void> {
  const folder = dirname(path);
  const isDraft = (name: string) => name.startsWith(`${basename(path)}.`) && name.endsWith(".tmp");
  for (const name of (await readdir(folder)).filter(isDraft)) await rm(join(folder, name), { force: true });
}

/** Keeps what is damaged as `<path>.damaged-<time>`; a file stays at `path` too until another one takes its place. */
export async function setAside(path: string): Promise<void> {
  const aside = `${path}.damaged-${new Date().toISOString().replaceAll(/[:.]/g, "-")}`;
  if (lookAt(path)?.isFile()) await copyFile(path, aside, constants.COPYFILE_EXCL);
  else await rename(path, aside);
}

async function takeLock(path: string, waitMs: number, onCompromised: (cause: Error) => void) {
  const { lock } = await import("proper-lockfile");
  const endsAt = performance.now() + waitMs;
  for (;;) {
    try {
      return await lock(path, { realpath: false, stale: STALE_MS, onCompromised });
    } catch (cause) {
      // Its own way of trying again would wait for a folder to become writable, too.
      if (!isLocked(cause) || performance.now() > endsAt) throw cause;
      await setTimeout(ASK_AGAIN_MS);
    }
  }
}
