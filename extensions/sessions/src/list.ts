import { readdirSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import type { SessionPlace } from "./location.ts";
import { type Peek, peekHeader, peekSession } from "./peek.ts";
import { reasonOf, sessionError } from "./problems.ts";
import type { SessionHeader } from "./record.ts";

/** A session in a list, from the head and the tail of its file. */
export interface SessionInfo {
  id: string;
  cwd: string;
  /** The file that it lies in; left out by a store without files, where it is opened by its id. */
  path?: string;
  name?: string;
  parentSession?: string;
  /** ISO 8601. */
  created: string;
  modifiedMs: number;
  /** Left out where that would take more than a look. */
  sizeBytes?: number;
  messageCount?: number;
  /** How the conversation began, in one line of 200 characters at most. */
  firstMessage?: string;
}

/** A file that begins as a session does. */
interface Found {
  path: string;
  header: SessionHeader;
}

/** Lists the sessions of a working directory, or of all, newest first. What is no session is left out. */
export function listSessions(place: SessionPlace, cwd?: string): SessionInfo[] {
  const found: SessionInfo[] = [];
  for (const path of filesOf(place, cwd)) {
    const seen = peekSession(path);
    // One folder may be that of two directories: the header says whose session it is.
    if (seen && (cwd === undefined || seen.header.cwd === cwd)) found.push(toInfo(path, seen));
  }
  return found.sort((a, b) => b.modifiedMs - a.modifiedMs);
}

/** Finds the file of the newest session of a working directory. */
export function findNewest(place: SessionPlace, cwd: string): string | undefined {
  return byAge(filesIn(place.folder)).find((path) => peekHeader(path)?.cwd === cwd);
}

/** Finds the session with an id, else those whose id begins so, newest first; of a working directory, or of all. */
export function findById(place: SessionPlace, id: string, cwd?: string): Found[] {
  const all: Found[] = [];
  for (const path of filesOf(place, cwd)) {
    const header = peekHeader(path);
    if (header?.id.startsWith(id) && (cwd === undefined || header.cwd === cwd)) all.push({ path, header });
  }
  const exact = all.filter(({ header }) => header.id === id);
  const found = new Map((exact.length > 0 ? exact : all).map((each) => [each.path, each]));
  const sorted = byAge([...found.keys()]).map((path) => found.get(path)!);
  return exact.length > 0 ? sorted.slice(0, 1) : sorted;
}

function toInfo(path: string, { header, ...seen }: Peek): SessionInfo {
  const { id, cwd, timestamp: created, parentSession } = header;
  const { name, firstMessage, modifiedMs, sizeBytes } = seen;
  return { path, id, cwd, name, parentSession, created, modifiedMs, sizeBytes, firstMessage };
}

function filesOf(place: SessionPlace, cwd: string | undefined): string[] {
  return foldersOf(place, cwd).flatMap(filesIn);
}

function filesIn(folder: string): string[] {
  return readFolder(folder).flatMap((name) => (name.endsWith(".jsonl") ? join(folder, name) : []));
}

/** Newest first; without what is not a file with something in it. Follows links. */
function byAge(paths: readonly string[]): string[] {
  const files = paths.flatMap((path) => {
    const stats = statOf(path);
    return stats?.isFile() && stats.size > 0 ? [{ path, modifiedMs: stats.mtimeMs }] : [];
  });
  return files.sort((a, b) => b.modifiedMs - a.modifiedMs).map(({ path }) => path);
}

function foldersOf(place: SessionPlace, cwd: string | undefined): string[] {
  if (cwd !== undefined || place.isShared) return [place.folder];
  return readFolder(place.root).map((name) => join(place.root, name));
}

/** Lists the names in a folder; none for what is no folder. Fails with `sessions_unreadable`. */
export function readFolder(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw sessionError(
      "sessions_unreadable",
      `The session folder ${folder} could not be read: ${reasonOf(error)}.`,
      "Make it readable, or choose another one with --session-dir.",
    );
  }
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    // A link to nowhere, or a file that vanished just now: not a session to list.
    return undefined;
  }
}
