/** Which session a start goes on with, by its flags. */
import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Environment, expandHome, processEnvironment } from "./environment.ts";
import { FORMAT_VERSION, type ParsedSession } from "./format.ts";
import { findById, findNewest } from "./list.ts";
import { fileName, findPlace, isPath, isSessionId, newSessionId, type SessionPlace } from "./location.ts";
import { sessionError } from "./problems.ts";
import { readSession } from "./read.ts";
import type { Holder } from "./store.ts";

/** Flags by name, however they are kept. */
export interface Flags {
  get(name: string): unknown;
}

/** A session to go on with. */
export interface Session extends ParsedSession {
  /** Left out for a session that is kept in memory only. */
  file?: string;
  /** Left out while there is no file. */
  sizeBytes?: number;
  /** Its entries come from elsewhere, and are written without waiting for another one. */
  isUnsaved?: boolean;
  /** It was read from a store that is none of files. */
  isStored?: boolean;
  /** Who writes to it, where somebody else does. */
  holder?: Holder;
}

export interface SelectOptions {
  flags: Flags;
  cwd: string;
  /** The setting `sessionDir`. */
  configuredDir?: string;
  /** Default: the process's. */
  environment?: Environment;
}

/**
 * Finds or begins the session that the flags name. Fails with `flag_conflict`, `flag_value`,
 * `session_not_found`, `session_ambiguous`, `session_elsewhere`, `session_cwd_missing`, `session_unreadable`,
 * `session_invalid`.
 */
export function selectSession(options: SelectOptions): Session {
  const { flags, cwd } = options;
  const id = textOf(flags, "session-id");
  const reference = textOf(flags, "session");
  if (id !== undefined) assertUsable(id, flags);
  const place = choosePlace(options);
  if (flags.get("no-session") === true) return newSession({ cwd, id });
  if (reference !== undefined) return openReference(reference, place, options);
  if (flags.get("continue") === true) return continueNewest(cwd, place);
  const found = id === undefined ? undefined : findById(place, id, cwd).find(({ header }) => header.id === id);
  return (found && readSession(found.path)) ?? newSession({ cwd, id, folder: place.folder });
}

/** Finds where sessions are kept: flag, environment, setting, else the agent's own folder. */
export function choosePlace(options: SelectOptions): SessionPlace {
  const { flags, cwd, configuredDir, environment = processEnvironment() } = options;
  const chosen = textOf(flags, "session-dir") || environment.env.PI_CODING_AGENT_SESSION_DIR || configuredDir;
  return findPlace(cwd, chosen, environment);
}

/** Begins a session; its file is made later, when there is something to keep. */
export function newSession(given: {
  cwd: string;
  id?: string;
  folder?: string;
  file?: string;
  parentSession?: string;
}): Session {
  const { cwd, id = newSessionId(), folder, parentSession } = given;
  const timestamp = new Date().toISOString();
  const file = given.file ?? (folder && join(folder, fileName(id, timestamp)));
  const header = {
    type: "session" as const,
    version: FORMAT_VERSION,
    id,
    timestamp,
    cwd,
    ...(parentSession && { parentSession }),
  };
  return { header, entries: [], problems: [], isOutdated: false, file };
}

function continueNewest(cwd: string, place: SessionPlace): Session {
  const newest = findNewest(place, cwd);
  return (newest && readSession(newest)) || newSession({ cwd, folder: place.folder });
}

function openReference(reference: string, place: SessionPlace, { cwd, environment }: SelectOptions): Session {
  if (!isPath(reference)) return inOwnFolder(openId(reference, cwd, place), cwd);
  const path = resolve(cwd, expandHome(reference, environment?.env));
  if (!existsSync(path)) return newSession({ cwd, file: path });
  const stored = readSession(path);
  return stored ? inOwnFolder(stored, cwd) : { ...newSession({ cwd, file: path }), sizeBytes: 0 };
}

function openId(id: string, cwd: string, place: SessionPlace): Session {
  const here = findById(place, id, cwd);
  const found = here.length > 0 ? here : findById(place, id);
  const [only, ...others] = found;
  if (!only) {
    throw sessionError(
      "session_not_found",
      `There is no session with the id ${id} in ${place.root}.`,
      "Give more of the id or the path of its file, or go on with the newest one: --continue.",
    );
  }
  if (others.length > 0) {
    const ids = found.map(({ header, path }) => `${header.id} (${path})`).join(", ");
    throw sessionError(
      "session_ambiguous",
      `Several sessions begin with ${id}: ${ids}.`,
      "Give more of the id, or the path of its file.",
    );
  }
  if (here.length === 0 && only.header.cwd !== cwd) {
    throw sessionError(
      "session_elsewhere",
      `The session ${only.header.id} belongs to another folder: ${only.header.cwd}.`,
      `Start in that folder, or name the file to go on there: --session ${only.path}`,
    );
  }
  return readSession(only.path) ?? newSession({ cwd, file: only.path });
}

/** A session goes on where it was held. */
function inOwnFolder(session: Session, cwd: string): Session {
  const own = session.header.cwd || cwd;
  if (statSync(own, { throwIfNoEntry: false })?.isDirectory()) return session;
  throw sessionError(
    "session_cwd_missing",
    `The session ${session.header.id} was held in ${own}, which is no folder any more.`,
    "Make the folder again, or begin a new session here.",
  );
}

/** Fails with `flag_conflict`, `flag_value` where `--session-id` cannot be taken. */
export function assertUsable(id: string, flags: Flags): void {
  const other = ["session", "continue"].find((name) => flags.get(name));
  if (other) {
    throw sessionError("flag_conflict", `--session-id and --${other} both name a session.`, "Give one of them.");
  }
  if (isSessionId(id)) return;
  throw sessionError(
    "flag_value",
    `--session-id cannot be ${JSON.stringify(id)}.`,
    "Use letters, digits, dots, dashes and underscores; begin and end with a letter or digit.",
  );
}

/** The text that a flag was given, if it was given one. */
export function textOf(flags: Flags, name: string): string | undefined {
  const value = flags.get(name);
  return typeof value === "string" ? value : undefined;
}
