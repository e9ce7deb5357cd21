/** Where sessions are kept, and what their files are called: Pi's own places and names. */
import { join, resolve } from "node:path";
import { type Environment, expandHome, processEnvironment } from "./environment.ts";

/** A folder of session files. A `shared` one holds those of many working directories. */
export interface SessionPlace {
  folder: string;
  isShared: boolean;
  /** Holds the folders of all working directories; the folder itself when it is shared. */
  root: string;
}

// File systems take 255 bytes; the time and the endings take up to 60.
const MAX_NAMED_CHARS = 128;
const ID = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;

/** Finds where sessions of `cwd` are kept. `chosen`: a folder that the person chose instead. */
export function findPlace(
  cwd: string,
  chosen: string | undefined,
  { agentDir, env }: Environment = processEnvironment(),
): SessionPlace {
  if (chosen) {
    const folder = resolve(cwd, expandHome(chosen, env));
    return { folder, isShared: true, root: folder };
  }
  const root = join(agentDir, "sessions");
  return { folder: join(root, folderName(cwd)), isShared: false, root };
}

/** The name of a working directory's folder. Two directories may share one: a session's header tells them apart. */
export function folderName(cwd: string): string {
  return `--${cwd.replace(/^[/\\]/, "").replaceAll(/[/\\:]/g, "-")}--`;
}

/** The name of a session's file. An id that could lead elsewhere, or is too long for a name, is not part of it. */
export function fileName(id: string, timestamp: string): string {
  return `${timestamp.replaceAll(/[^0-9A-Za-z]/g, "-")}_${isNameable(id) ? id : newSessionId()}.jsonl`;
}

/** Tells whether an id may be part of a file's name. */
export function isNameable(id: string): boolean {
  return isSessionId(id) && id.length <= MAX_NAMED_CHARS;
}

/** Tells whether an id may be given by a person: letters, digits, and `. _ -` inside. */
export function isSessionId(id: string): boolean {
  return ID.test(id);
}

/** Tells whether what a person gives names a file rather than a session. */
export function isPath(reference: string): boolean {
  return /[/\\]|\.jsonl$|^~/.test(reference);
}

/** A UUID version 7: sorts by the millisecond it was made in. */
export function newSessionId(now = Date.now()): string {
  const time = now.toString(16).padStart(12, "0");
  const random = crypto.randomUUID();
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(15)}`;
}
