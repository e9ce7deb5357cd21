/**
 * Where what is not in the database yet waits:
 *
 *   spool/<owner>.<time-random>.<target>/1.jsonl, 2.jsonl …     lines; the last one is written to
 *                                        1.at                   how many bytes of it are in the database
 *
 * One folder for each process that writes. Who takes over a folder renames it to be its own: a rename has one winner,
 * and takes all files at once, so that they stay in order. The owner is `none` when its process has closed it.
 */
import {
  type Dirent,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { lookAfter, ownProcessName } from "./process-name.ts";

export interface SpoolFolder {
  path: string;
  owner: string;
  random: string;
  target: string;
}

/** How much waits. */
export interface SpoolStatus {
  files: number;
  lines: number;
  bytes: number;
}

export const NOBODY = "none";
/** The target of what was written while nobody could tell where to: it goes wherever the next one goes. */
export const ANY_TARGET = "any";
// On a shared folder nobody can look after another host's or container's process; one that writes moves on to a new file sooner.
const ELSEWHERE_DEAD_MS = 600_000;

export function folderName({ owner, random, target }: Omit<SpoolFolder, "path">): string {
  return `${owner}.${random}.${target}`;
}

/** Lists the folders of a spool that are meant for a target, or all, in the order in which they were begun. */
export function listFolders(spool: string, target?: string): SpoolFolder[] {
  const folders = readFolder(spool).flatMap(({ name }) => {
    const [owner = "", random = "", its = "", ...more] = name.split(".");
    if (random === "" || its === "" || more.length > 0) return [];
    if (target !== undefined && its !== target && its !== ANY_TARGET) return [];
    return [{ path: join(spool, name), owner, random, target: its }];
  });
  return folders.sort((a, b) => (a.random < b.random ? -1 : 1));
}

/** Lists the files of a folder in the order in which they were written. */
export function listFiles(folder: string): { path: string; number: number }[] {
  return readFolder(folder)
    .flatMap(({ name }) =>
      /^\d+\.jsonl$/.test(name) ? { path: join(folder, name), number: Number.parseInt(name, 10) } : [],
    )
    .sort((a, b) => a.number - b.number);
}

/** Whether its process is gone, so that nobody writes to it any more. */
export function isLeft(folder: SpoolFolder): boolean {
  if (folder.owner === NOBODY) return true;
  const times = [folder.path, ...readFolder(folder.path).map(({ name }) => join(folder.path, name))].map(
    (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0,
  );
  const writtenMs = Math.max(...times);
  const state = lookAfter(folder.owner, writtenMs);
  return state === "elsewhere" ? Date.now() - writtenMs > ELSEWHERE_DEAD_MS : state === "dead";
}

/** Makes a folder this process's own; answers nothing where another one was quicker. */
export function claimFolder(spool: string, folder: SpoolFolder): SpoolFolder | undefined {
  return rename(spool, folder, ownProcessName());
}

/** Gives a folder of one's own to whoever comes next. */
export function leaveFolder(spool: string, folder: SpoolFolder): void {
  rename(spool, folder, NOBODY);
}

export function makeFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
}

/** Removes a file that is in the database, and its mark. */
export function removeFile(path: string): void {
  rmSync(path, { force: true });
  rmSync(markOf(path), { force: true });
}

/** Removes a folder with nothing in it; one with something in it stays. */
export function removeFolder(path: string): void {
  if (readFolder(path).length === 0) rmSync(path, { recursive: true, force: true });
}

/** Reads how many bytes of a file are in the database. */
export function readMark(path: string): number {
  try {
    return Number.parseInt(readFileSync(markOf(path), "utf8"), 10) || 0;
  } catch {
    return 0;
  }
}

/** Notes how many bytes of a file are in the database. It only spares work: what is sent twice is stored once. */
export function writeMark(path: string, bytes: number): void {
  try {
    writeFileSync(markOf(path), String(bytes));
  } catch {
    // A full disk: then it is sent twice.
  }
}

/** Counts what waits in a spool, whoever wrote it. */
export function spoolStatus(spool: string): SpoolStatus {
  const status = { files: 0, lines: 0, bytes: 0 };
  for (const folder of listFolders(spool)) {
    for (const { path } of listFiles(folder.path)) {
      const text = readText(path).subarray(readMark(path));
      if (text.length === 0) continue;
      status.files++;
      status.bytes += text.length;
      for (let at = text.indexOf(10); at >= 0; at = text.indexOf(10, at + 1)) status.lines++;
    }
  }
  return status;
}

function markOf(path: string): string {
  return path.replace(/\.jsonl$/, ".at");
}

function rename(spool: string, folder: SpoolFolder, owner: string): SpoolFolder | undefined {
  const taken = { ...folder, owner, path: join(spool, folderName({ ...folder, owner })) };
  try {
    renameSync(folder.path, taken.path);
    return taken;
  } catch {
    return undefined;
  }
}

function readText(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    // It went into the database just now.
    return Buffer.alloc(0);
  }
}

function readFolder(path: string): Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch {
    // There is none, or it went just now.
    return [];
  }
}
