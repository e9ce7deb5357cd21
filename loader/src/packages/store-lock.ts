/**
 * The lock of a store: held by the one process that changes it.
 *
 *   <store>/.lock/   there while it is held, and touched now and then
 *   <store>/.owner   which process holds it, so that nobody waits for one that is gone
 */
import { readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { isJsonObject } from "../json-check.ts";
import type { PackageContext } from "./context.ts";
import { codeOf, wordLocked, wordUnsaved } from "./package-error.ts";

/** A lock that is held. */
export interface StoreLock {
  /** Fails with `package_not_saved` when another process took over. */
  assertHeld(): void;
  release(): Promise<void>;
}

// A process that stands still for so long counts as gone; a busy machine may hold one up for many seconds.
const STALE_MS = 30_000;
const RENEW_MS = 5_000;
const ASK_AGAIN_MS = 100;

/** Takes the lock; waits for a process that has it until the signal fires. */
export async function lockStore(context: PackageContext, store: string): Promise<StoreLock> {
  const lockfile = (await import("proper-lockfile")).default;
  const lost: { cause?: Error } = {};
  const options = {
    realpath: false,
    stale: STALE_MS,
    update: RENEW_MS,
    lockfilePath: join(store, ".lock"),
    onCompromised: (cause: Error) => void (lost.cause = cause),
  };
  for (let isFirst = true; ; isFirst = false) {
    context.signal?.throwIfAborted();
    try {
      const release = await lockfile.lock(store, options);
      return await own(store, { lost, release });
    } catch (cause) {
      if (codeOf(cause) !== "ELOCKED") throw wordUnsaved(store, cause);
    }
    if (await isOwnerGone(store)) continue;
    if (isFirst) context.onProgress?.({ step: "waiting", what: store });
    await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
  }
}

async function own(
  store: string,
  { lost, release }: { lost: { cause?: Error }; release: () => Promise<void> },
): Promise<StoreLock> {
  const path = join(store, ".owner");
  // Only there to spare others a wait.
  await writeFile(path, JSON.stringify({ pid: process.pid, host: hostname(), lock: await identify(store) }), {
    mode: 0o600,
  }).catch(() => {});
  return {
    assertHeld() {
      if (lost.cause) throw wordLocked(store, lost.cause);
    },
    async release() {
      if (lost.cause) return;
      await release();
      await rm(path, { force: true }).catch(() => {});
    },
  };
}

/** Tells whether the process that holds the lock has ended; its lock then counts as old. */
async function isOwnerGone(store: string): Promise<boolean> {
  try {
    const owner: unknown = JSON.parse(await readFile(join(store, ".owner"), "utf8"));
    if (!isJsonObject(owner) || owner.host !== hostname() || typeof owner.pid !== "number") return false;
    // The next one to hold it may not have said so yet.
    if (isRunning(owner.pid) || owner.lock !== (await identify(store))) return false;
    await utimes(join(store, ".lock"), 0, 0);
    return true;
  } catch {
    // It was released meanwhile, or nobody knows whose it is.
    return false;
  }
}

async function identify(store: string): Promise<string> {
  const { ino, birthtimeMs } = await stat(join(store, ".lock"));
  return `${ino}:${birthtimeMs}`;
}

/** Tells whether a process of this machine is there, whoever's it is. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    return codeOf(cause) !== "ESRCH";
  }
}
