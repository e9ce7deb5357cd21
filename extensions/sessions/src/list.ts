import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { SessionPlace } from "./location.ts";
import { firstMessage, type Head, peekHead, peekName } from "./peek.ts";
import { reasonOf, sessionError } from "./problems.ts";

/** A session in a list, from the head and the tail of its file. */
export interface SessionInfo {
  path: string;
  id: string;
  cwd: string;
  name?: string;
  parentSession?: string;
  /** ISO 8601. */
  created: string;
  modifiedMs: number;
  sizeBytes: number;
  /** How the conversation began, in one line. */
  firstMessage?: string;
}

interface File {
  path: string;
  modifiedMs: number;
  sizeBytes: number;
}
/** A file that begins as a session does. */
type Candidate = File & Head;

/** Lists the sessions of a working directory, or of all, newest first. What is no session is left out. */
export function listSessions(place: SessionPlace, cwd?: string): SessionInfo[] {
  const found = foldersOf(place, cwd).flatMap((folder) => [...candidates(folder, cwd)]);
  return found.map(toInfo).sort((a, b) => b.modifiedMs - a.modifiedMs);
}

/** Finds the file of the newest session of a working directory. */
export function findNewest(place: SessionPlace, cwd: string): string | undefined {
  for (const { path } of candidates(place.folder, cwd)) return path;
  return undefined;
}

/** Finds the session with an id, else those whose id begins so; of a working directory, or of all. */
export function findById(place: SessionPlace, id: string, cwd?: string): Candidate[] {
  const all = foldersOf(place, cwd).flatMap((folder) => [...candidates(folder, cwd)]);
  const exact = all.find(({ header }) => header.id === id);
  return exact ? [exact] : all.filter(({ header }) => header.id.startsWith(id));
}

/** Looks into the files of a folder, newest first, one by one as they are asked for. */
function* candidates(folder: string, cwd: string | undefined): Generator<Candidate> {
  const files = readFolder(folder).flatMap((name) => (name.endsWith(".jsonl") ? statFile(folder, name) : []));
  for (const file of files.sort((a, b) => b.modifiedMs - a.modifiedMs)) {
    const head = peekHead(file.path);
    // One folder may be that of two directories: the header says whose session it is.
    if (head && (cwd === undefined || head.header.cwd === cwd)) yield { ...file, ...head };
  }
}

function toInfo({ path, modifiedMs, sizeBytes, header, text }: Candidate): SessionInfo {
  const { id, cwd, timestamp: created, parentSession } = header;
  const name = peekName(path, sizeBytes, text) || undefined;
  return { path, id, cwd, name, parentSession, created, modifiedMs, sizeBytes, firstMessage: firstMessage(text) };
}

function foldersOf(place: SessionPlace, cwd: string | undefined): string[] {
  if (cwd !== undefined || place.isShared) return [place.folder];
  return readFolder(place.root).map((name) => join(place.root, name));
}

/** Answers nothing for what is no folder. Fails with `sessions_unreadable`. */
function readFolder(folder: string): string[] {
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

/** Follows links; answers nothing for what is not a file with something in it. */
function statFile(folder: string, name: string): File[] {
  const path = join(folder, name);
  try {
    const stats = statSync(path);
    return stats.isFile() && stats.size > 0 ? [{ path, modifiedMs: stats.mtimeMs, sizeBytes: stats.size }] : [];
  } catch {
    // A link to nowhere, or a file that vanished just now: not a session to list.
    return [];
  }
}
