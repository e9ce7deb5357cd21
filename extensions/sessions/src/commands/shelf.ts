/** What commands do with sessions that are kept, wherever that is. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { expandHome } from "../environment.ts";
import { importFile, readImport } from "../export/import-session.ts";
import type { SessionKeeper } from "../keeper.ts";
import type { SessionInfo } from "../list.ts";
import { isPath, isSessionId } from "../location.ts";
import { sessionError } from "../problems.ts";
import type { SessionFileContent } from "../read.ts";
import { isSaid } from "../said.ts";
import { newSession, type Session } from "../select.ts";
import { FILES } from "../stores.ts";
import { matchSessions } from "./session-rows.ts";

export type Keeper = Pick<SessionKeeper, "current" | "home" | "folderFor" | "list" | "open" | "read" | "remove">;

/** How a session is named to `switchSession` and to the service: by its file, where it has one. */
export function referenceOf({ path, id }: Pick<SessionInfo, "path" | "id">): string {
  return path ?? id;
}

/** Finds the sessions that a person means: among those of a folder first, then among all. */
export async function findSessions(keeper: Keeper, reference: string, cwd: string): Promise<SessionInfo[]> {
  const here = matchSessions(await keeper.list(cwd), reference);
  return here.length > 0 ? here : matchSessions(await keeper.list(), reference);
}

/**
 * Reads the session that a person names by its file, its id or a part of its name, and leaves it as it is.
 * Fails with `session_not_found`, `session_ambiguous`, `session_unreadable`, `session_invalid`.
 */
export async function readNamed(keeper: Keeper, reference: string, cwd: string): Promise<Session> {
  if (isPath(reference)) return readImport(resolve(cwd, expandHome(reference)));
  return keeper.read(referenceOf(await findOne(keeper, reference, cwd)));
}

/** Finds the one session that a person means. Fails with `session_not_found`, `session_ambiguous`. */
export async function findOne(keeper: Keeper, reference: string, cwd: string): Promise<SessionInfo> {
  const [only, ...others] = await findSessions(keeper, reference, cwd);
  if (only && others.length === 0) return only;
  if (only) {
    const ids = [only, ...others].map(({ id, path }) => (path ? `${id} (${path})` : id)).join(", ");
    throw sessionError(
      "session_ambiguous",
      `Several sessions are meant by ${reference}: ${ids}.`,
      "Give the whole id, or the path of its file.",
    );
  }
  throw sessionError(
    "session_not_found",
    `There is no session ${JSON.stringify(reference)}.`,
    "pi sessions list --all shows all of them; a file is named by its path.",
  );
}

/** Takes a file in among the sessions; answers how it is named from then on. Fails with `import_failed`. */
export async function takeIn(keeper: Keeper, session: SessionFileContent, cwd: string): Promise<string> {
  const { header, entries } = session;
  const folder = keeper.folderFor(header.cwd || cwd);
  // Where nothing is kept, it is gone on with where it is.
  if (folder === undefined) return session.file;
  const { name } = keeper.home();
  if (name === FILES) return importFile(session, folder);
  if (!isSessionId(header.id)) throw unnameable(session);
  await keepIn(keeper, { header, entries });
  return header.id;
}

/** Makes a copy of a session that goes on in a folder; answers how it is named. Fails with `import_failed`. */
export async function copyInto(keeper: Keeper, session: Session, cwd: string): Promise<string> {
  const { entries, file, header } = session;
  if (keeper.folderFor(cwd) === undefined) {
    throw sessionError(
      "import_failed",
      `No copy of ${header.id} was made: with --no-session none is kept.`,
      "Begin without --no-session.",
    );
  }
  const copy = newSession({ cwd, parentSession: file ?? header.id });
  await keepIn(keeper, { header: copy.header, entries });
  return copy.header.id;
}

/** Tells whether a session can go on where it was held; one that no file holds goes on where the person is. */
export function hasFolder({ header, isStored }: Pick<Session, "header" | "isStored">): boolean {
  if (isStored) return true;
  return header.cwd === "" || statSync(header.cwd, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** A store is asked by id, and what looks like a path is taken for a file. */
function unnameable({ header, file }: SessionFileContent): Error {
  return sessionError(
    "import_failed",
    `${file} was not imported: its id, ${JSON.stringify(header.id)}, cannot name a session.`,
    `Go on with a copy of it, which gets an id of its own: pi --fork ${file}`,
  );
}

/** Writes a session to the store that lists and reads, and sees that it is there. Fails with `import_failed`. */
async function keepIn(keeper: Keeper, { header, entries }: Pick<Session, "header" | "entries">): Promise<void> {
  const last = entries.at(-1);
  const { name, store } = keeper.home();
  if (last && entries.some(isSaid)) {
    const sink = store.open({ header, entries: entries.slice(0, -1) });
    sink.append(last);
    await sink.flush();
    await sink.close();
    const ids = new Set((await store.read(header.id))?.entries.map(({ id }) => id));
    if (entries.every(({ id }) => ids.has(id))) return;
    throw sessionError(
      "import_failed",
      `The session ${header.id} was not taken in: the store ${name} did not keep it.`,
      "See that it can be written to and has room, then try again.",
    );
  }
  throw sessionError(
    "import_failed",
    "The session was not taken in: nothing is said in it, and no store keeps that.",
    "Begin a new session instead: /new.",
  );
}
