/**
 * The right to write to a session: a file beside it, named by the session's id, which no program takes for a session.
 *
 *   made exclusively ──► held, beats ──► removed
 *     └─ there is one: its holder runs ──► told · is gone ──► set aside by one at a time, and made
 *
 * 1. On one machine a holder counts while its process runs: a killed one, a restart, a process id that was given
 *    again block nobody. From elsewhere it counts while it beats, by the clock of the file system.
 * 2. A folder may be a stranger's: no link is followed, no pipe waited for, and what is no lease is set aside.
 * 3. What cannot be made (a read-only folder, a full disk) is tried again at each beat: a lease never stops a run.
 */
import { createHash, randomUUID } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
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
const MAX_TRIES = 50;
// To look and to rename takes milliseconds.
const BUSY_MS = 5;
const TAKING_MS = 2_000;
// A lease takes some 300.
const MAX_BYTES = 4 * 1024;
const FILE_MODE = 0o600;
// Not every system has them.
const AS_IT_LIES = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
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
  private isTaken = false;
  private beating: NodeJS.Timeout | undefined;

  constructor(path: string) {
    this.path = path;
  }

  /** Answers who has it already. */
  take(): Holder | undefined {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const outcome = this.make();
      if (outcome !== "exists") break;
      const holder = findHolder(this.path);
      if (holder) return holder;
      alone(this.path, () => {
        // Another one may have taken it since.
        if (!findHolder(this.path)) setAside(this.path);
      });
    }
    this.beating ??= setInterval(() => this.beat(), BEAT_MS).unref();
    return undefined;
  }

  /** Whether it was there, and one's own, when it was looked at last. */
  get isHeld(): boolean {
    return this.isTaken;
  }

  /** Gives it back; what another one has taken meanwhile stays. */
  release(): void {
    clearInterval(this.beating);
    this.isTaken = false;
    if (readHolder(this.path)?.token === this.record.token) remove(this.path);
  }

  /** Says that the holder is there. A lease that was taken away, or could not be made, is made where nobody has it. */
  beat(): void {
    const holder = readHolder(this.path);
    if (!holder) {
      this.isTaken = this.make() === "made";
      return;
    }
    this.isTaken = holder.token === this.record.token;
    if (this.isTaken) touch(this.path, this.record);
  }

  private make(): "made" | "exists" | "failed" {
    let fd: number | undefined;
    try {
      fd = create(this.path);
      this.record = { ...this.record, since: new Date().toISOString() };
      writeSync(fd, JSON.stringify(this.record));
      this.isTaken = true;
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
    const text = readText(path);
    if (text !== "") return parseHolder(text);
    pause(WRITING_MS);
    return parseHolder(readText(path));
  } catch {
    // It is gone, or cannot be read: then nobody can say that it is held.
    return undefined;
  }
}

/** The beginning of a regular file. Fails for everything else. */
function readText(path: string): string {
  const fd = openSync(path, constants.O_RDONLY | AS_IT_LIES);
  try {
    if (!fstatSync(fd).isFile()) throw new Error("it is not a regular file");
    const bytes = Buffer.alloc(MAX_BYTES);
    return bytes.toString("utf8", 0, readSync(fd, bytes, 0, MAX_BYTES, 0));
  } finally {
    closeSync(fd);
  }
}

function isThere(path: string, holder: HolderRecord): boolean {
  const { modifiedMs, ageMs } = timesOf(path);
  const state = stateOf(holder, modifiedMs);
  // One from the future was stamped by a clock that was wrong, and would stay for as long as that was off.
  return state === "unknown" ? Math.abs(ageMs()) < STALE_MS : state === "alive";
}

/** When a lease was written, and how long ago by the clock that stamps files there: one's own may be off. */
function timesOf(path: string): { modifiedMs: number; ageMs: () => number } {
  const modifiedMs = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.NEGATIVE_INFINITY;
  const ageMs = () => {
    const probe = besides(path);
    try {
      writeFileSync(probe, "", { flag: "wx", mode: FILE_MODE });
    } catch {
      return Date.now() - modifiedMs;
    }
    const nowMs = lstatSync(probe, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    remove(probe);
    return nowMs - modifiedMs;
  };
  return { modifiedMs, ageMs };
}

/** A name that nobody can have put something at before. */
function besides(path: string): string {
  return `${path}.${randomUUID()}.tmp`;
}

/** Runs `fn` while nobody else takes the same lease over, or not at all: then it is to be tried again. */
function alone(path: string, fn: () => void): void {
  const guard = `${path}.take`;
  try {
    closeSync(openSync(guard, "wx", FILE_MODE));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") return;
    // One who died over it is not waited for.
    if (timesOf(guard).ageMs() > TAKING_MS) remove(guard);
    else pause(BUSY_MS);
    return;
  }
  try {
    fn();
  } finally {
    remove(guard);
  }
}

/** Takes what is no living holder's lease out of the way. */
function setAside(path: string): void {
  const aside = besides(path);
  try {
    renameSync(path, aside);
    remove(aside);
  } catch {
    // It is gone already: the next try tells.
  }
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Writes what is there: that stamps the file by the file system's own clock. */
function touch(path: string, record: HolderRecord): void {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_WRONLY | AS_IT_LIES);
    if (fstatSync(fd).isFile()) writeSync(fd, JSON.stringify(record));
  } catch {
    // The next beat tries again.
  } finally {
    if (fd !== undefined) closeSync(fd);
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
