/**
 * One holder for a folder, by a file in it whose name tells who holds it:
 *
 *   lock.free ──rename──► lock.<holder>.<number> ──rename──► lock.free
 *                              │ the holder died
 *                              └──rename──► lock.<another holder>.<number>
 *
 * A rename has one winner, and the name of a dead holder is never given again, so that nothing can be taken from a
 * holder that lives. The file is made once, with the folder, which comes into being by a rename as well.
 * Who waits puts a file `wanted.<waiter>` beside it; a holder looks there and gives way when it can.
 */
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { threadId } from "node:worker_threads";
import { DatabaseError } from "./database.ts";
import { lookAfter, ownProcessName, type ProcessName } from "./process-name.ts";

const FREE = "lock.free";
// A holder on another host or in another container, over a shared folder, shows by touching its file that it lives.
const TOUCH_MS = 20_000;
const ELSEWHERE_DEAD_MS = 600_000;
// Nobody waits for longer, and one of elsewhere may be gone.
const ELSEWHERE_WAITS_MS = 20_000;
const LOOKS = 20;

export interface Lock {
  /** Whether somebody waits for it. */
  isWanted(): boolean;
  release(): void;
}

/** Takes the lock of a folder, which is made where it is missing, or tells who holds it. */
export function takeLock(folder: string): Lock | { holder: ProcessName } {
  ensureFolder(folder);
  const mine = `${lockOfThread(threadId)}${randomUUID().slice(0, 8)}`;
  for (let look = 0; look < LOOKS; look++) {
    const held = readdirSync(folder).find((name) => name.startsWith("lock."));
    if (held === undefined) continue;
    if (held !== FREE && isHeld(folder, held)) return { holder: holderOf(held) };
    if (tryRename(join(folder, held), join(folder, mine))) return hold(folder, mine);
  }
  throw new DatabaseError("database_failed", `The database in ${folder} has lost its lock file.`, {
    hint: `Put an empty file named ${FREE} there if no pi is running.`,
  });
}

/** Frees what a thread of this process has held that is gone. */
export function freeLockOf(folder: string, thread: number): void {
  const held = existsSync(folder) ? readdirSync(folder) : [];
  for (const name of held.filter((each) => each.startsWith(lockOfThread(thread)))) {
    tryRename(join(folder, name), join(folder, FREE));
  }
}

/** Asks the holder to give way, until the answer is called. */
export function wantLock(folder: string): () => void {
  const path = join(folder, `wanted.${ownProcessName()}.${randomUUID().slice(0, 8)}`);
  writeFileSync(path, "");
  return () => rmSync(path, { force: true });
}

function lockOfThread(thread: number): string {
  return `lock.${ownProcessName()}.${thread}-`;
}

function hold(folder: string, name: string): Lock {
  const path = join(folder, name);
  touch(path);
  const timer = setInterval(() => touch(path), TOUCH_MS).unref();
  return {
    isWanted: () => readdirSync(folder).some((each) => each.startsWith("wanted.") && isWaiting(folder, each)),
    release() {
      clearInterval(timer);
      tryRename(path, join(folder, FREE));
    },
  };
}

/** Shows that the holder lives; where the folder is gone, so is what was held. */
function touch(path: string): void {
  const now = new Date();
  if (existsSync(path)) utimesSync(path, now, now);
}

function isWaiting(folder: string, name: string): boolean {
  const path = join(folder, name);
  const askedMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const state = lookAfter(holderOf(name), askedMs);
  if (state === "dead") rmSync(path, { force: true });
  return state === "elsewhere" ? Date.now() - askedMs < ELSEWHERE_WAITS_MS : state === "alive";
}

function isHeld(folder: string, name: string): boolean {
  const touched = statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs;
  const state = lookAfter(holderOf(name), touched);
  if (state !== "elsewhere") return state === "alive";
  return touched !== undefined && Date.now() - touched < ELSEWHERE_DEAD_MS;
}

function holderOf(name: string): ProcessName {
  return name.split(".")[1] ?? "";
}

/** Makes the folder with its lock in it, both at once. */
function ensureFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() && readdirSync(folder).length > 0) return;
  const draft = join(dirname(folder), `.${basename(folder)}.${randomUUID()}`);
  mkdirSync(draft, { recursive: true, mode: 0o700 });
  writeFileSync(join(draft, FREE), "");
  // Where another process was quicker the folder is there, and not empty.
  if (!tryRename(draft, folder)) rmSync(draft, { recursive: true, force: true });
}

function tryRename(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (["ENOENT", "ENOTEMPTY", "EEXIST", "EPERM"].includes(code)) return false;
    throw error;
  }
}
