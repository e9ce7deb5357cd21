/** Which session of a store a start goes on with, by its flags, where the store is none of files. */
import { statSync } from "node:fs";
import type { SessionInfo } from "./list.ts";
import { sessionError } from "./problems.ts";
import { readSession } from "./read.ts";
import { assertUsable, choosePlace, newSession, type SelectOptions, type Session, textOf } from "./select.ts";
import type { SessionStore } from "./store.ts";

/** Reads a session of a store; claims it first where it is to be gone on with. */
export type ReadStored = (id: string) => Promise<Session | undefined>;

/**
 * Finds or begins the session that the flags name. A session that was held on another machine goes on where the person
 * is. Fails with `flag_conflict`, `flag_value`, `session_not_found`, `session_ambiguous`, and as the store does.
 */
export async function selectStored(
  store: SessionStore,
  options: SelectOptions,
  read: ReadStored = (id) => readStored(store, id),
): Promise<Session> {
  const { flags, cwd } = options;
  const reference = textOf(flags, "session");
  const id = textOf(flags, "session-id");
  if (id !== undefined) assertUsable(id, flags);
  if (reference !== undefined) return findStored(await store.list(), { reference, cwd, read });
  const isNamed = id !== undefined;
  const here = isNamed || flags.get("continue") === true ? await store.list({ cwd }) : [];
  const found = isNamed ? here.find((info) => info.id === id) : here[0];
  const { folder } = choosePlace(options);
  return (found && (await read(found.id))) ?? newSession({ cwd, id, folder });
}

/** Finds a session by its id or the beginning of it; those of the working directory come first. */
async function findStored(
  all: readonly SessionInfo[],
  { reference, cwd, read }: { reference: string; cwd: string; read: ReadStored },
): Promise<Session> {
  const exact = all.filter(({ id }) => id === reference);
  const found = exact.length > 0 ? exact : all.filter(({ id }) => id.startsWith(reference));
  const here = found.filter((info) => info.cwd === cwd);
  const [only, ...others] = here.length > 0 ? here : found;
  if (only && others.length > 0) {
    const ids = [only, ...others].map(({ id }) => id).join(", ");
    throw sessionError(
      "session_ambiguous",
      `Several sessions begin with ${reference}: ${ids}.`,
      "Give more of the id.",
    );
  }
  const session = only && (await read(only.id));
  if (session) return session;
  throw sessionError(
    "session_not_found",
    `There is no session with the id ${reference} in the store that the setting session.store names.`,
    "Give more of the id, or go on with the newest one: --continue.",
  );
}

/** Reads a session of a store, and claims nothing. */
export async function readStored(store: SessionStore, id: string): Promise<Session | undefined> {
  const stored = await store.read(id);
  if (!stored) return undefined;
  const { header, entries, problems } = stored;
  return { header, entries: [...entries], problems: [...problems], isOutdated: false, isStored: true };
}

/** Where a session goes on: where it was held, when that is a folder of this machine. */
export function placeOf({ header }: Session, cwd: string): string {
  return header.cwd && statSync(header.cwd, { throwIfNoEntry: false })?.isDirectory() ? header.cwd : cwd;
}

/** Reads a session that is named by its file, for the agent to go on with. Fails with `session_unreadable`, `session_invalid`. */
export function readNamedFile(path: string): Session {
  return readSession(path) ?? { ...newSession({ cwd: "", file: path }), sizeBytes: 0 };
}

/** Fails with `session_not_found`. */
export function notFound(id: string): never {
  throw sessionError(
    "session_not_found",
    `There is no session with the id ${id}.`,
    "Give the whole id, or the path of its file.",
  );
}
