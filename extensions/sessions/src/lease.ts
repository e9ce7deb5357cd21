/**
 * The right to write to a session: a file beside it, named by the session's id, which no program takes for a session.
 *
 *   made exclusively ──► held, beats ──► removed
 *     └─ there is one: its holder runs ──► told · is gone ──► set aside, and made
 *
 * 1. On one machine a holder counts while its process runs: a killed one, a restart, a process id that was given
 *    again block nobody. From elsewhere it counts while it beats, by the clock of the file system.
 * 2. What cannot be made (a read-only folder, a full disk) is tried again at each beat: a lease never stops a run.
 */
import { createHash } from "node:crypto";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { type HolderRecord, parseHolder, stateOf, thisHolder } from "./holder.ts";
import { isNameable } from "./location.ts";
import type { Holder } from "./store.ts";

/** How often a holder says that it is there. */
export const BEAT_MS = 15_000;
/** From elsewhere, a holder that has not beaten for so long is gone. */
export const STALE_MS = 60_000;
// Between making a lease and writing it lie microseconds.
const WRITING_MS = 50;
const MAX_TRIES = 5;
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** Where the lease of a session is. An id that could lead elsewhere is not part of the path. */
export function leasePath(folder: string, id: string): string {
  return join(folder, `${isNameable(id) ? id : createHash("sha256").update(id).digest("hex")}.lease`);
}

/** Takes a lease, or tells who has it. Never fails. */
export function takeLease(path: string): Lease | { holder: Holder } {
  const lease = new Lease(path);
  const holder = lease.take();
  return holder ? { holder } : lease;
}

/** Tells who holds a lease, without taking it. */
export function findHolder(path: string): Holder | undefined {
  const holder = readHolder(path);
  return holder && isThere(path, holder) ? toHolder(holder) : undefined;
}

export class Lease {
  private readonly path: string;
  private record: HolderRecord = thisHolder();
  private isHeld = false;
  private beating: NodeJS.Timeout | undefined;

  constructor(path: string) {
    this.path = path;
  }

  /** Answers who has it already. */
  take(): Holder | undefined {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const outcome = this.make();
      if (outcome !== "exists") break;
      const holder = readHolder(this.path);
      if (holder && isThere(this.path, holder)) return toHolder(holder);
      setAside(this.path, holder);
    }
    this.beating ??= setInterval(() => this.beat(), BEAT_MS).unref();
    return undefined;
  }

  /** Gives it back; what another one has taken meanwhile stays. */
  release(): void {
    clearInterval(this.beating);
    if (!this.isHeld) return;
    this.isHeld = false;
    if (readHolder(this.path)?.token === this.record.token) remove(this.path);
  }

  /** Says that the holder is there. A lease that was taken away, or could not be made, is made where nobody has it. */
  beat(): void {
    const holder = readHolder(this.path);
    if (holder && holder.token !== this.record.token) {
      this.isHeld = false;
      return;
    }
    if (!holder) this.make();
    else touch(this.path, this.record);
  }

  private make(): "made" | "exists" | "failed" {
    let fd: number | undefined;
    try {
      fd = create(this.path);
      this.record = { ...this.record, since: new Date().toISOString() };
      writeSync(fd, JSON.stringify(this.record));
      this.isHeld = true;
      return "made";
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return "exists";
      if (fd !== undefined) remove(this.path);
      return "failed";
    } finally {
      if (fd !== undefined) closeSync(fd);
    }
  }
}

/** The folder is made only where it is not there. */
function create(path: string): number {
  try {
    return openSync(path, "wx", FILE_MODE);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    mkdirSync(join(path, ".."), { recursive: true, mode: FOLDER_MODE });
    return openSync(path, "wx", FILE_MODE);
  }
}

function readHolder(path: string): HolderRecord | undefined {
  try {
    const text = readFileSync(path, "utf8");
    if (text !== "") return parseHolder(text);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WRITING_MS);
    return parseHolder(readFileSync(path, "utf8"));
  } catch {
    // It is gone, or cannot be read: then nobody can say that it is held.
    return undefined;
  }
}

function isThere(path: string, holder: HolderRecord): boolean {
  const { modifiedMs, ageMs } = timesOf(path);
  const state = stateOf(holder, modifiedMs);
  return state === "unknown" ? ageMs() < STALE_MS : state === "alive";
}

/** When a lease was written, and how long ago by the clock that stamps files there: one's own may be off. */
function timesOf(path: string): { modifiedMs: number; ageMs: () => number } {
  const modifiedMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.NEGATIVE_INFINITY;
  const probe = `${path}.${process.pid}.tmp`;
  const ageMs = () => {
    try {
      writeFileSync(probe, "");
      return statSync(probe).mtimeMs - modifiedMs;
    } catch {
      return Date.now() - modifiedMs;
    } finally {
      remove(probe);
    }
  };
  return { modifiedMs, ageMs };
}

/** Takes the lease of one who is gone out of the way; one that was made in between is put back. */
function setAside(path: string, gone: HolderRecord | undefined): void {
  const aside = `${path}.${process.pid}.tmp`;
  try {
    renameSync(path, aside);
    const taken = readHolder(aside);
    if (taken && taken.token !== gone?.token && !existsSync(path)) renameSync(aside, path);
    else remove(aside);
  } catch {
    // Another one was quicker: the next try tells.
  }
}

/** Writes what is there: that stamps the file by the file system's own clock. */
function touch(path: string, record: HolderRecord): void {
  try {
    writeFileSync(path, JSON.stringify(record), { flag: "r+" });
  } catch {
    // The next beat tries again.
  }
}

function remove(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // A folder that is read-only by now: the next one finds that the holder is gone.
  }
}

function toHolder({ pid, host, since }: HolderRecord): Holder {
  return { pid, host, since };
}
