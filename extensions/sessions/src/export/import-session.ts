/** Takes a session file from elsewhere in among the others. */
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, realpathSync } from "node:fs";
import { chmod, copyFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { findById } from "../list.ts";
import { fileName } from "../location.ts";
import { reasonOf, sessionError } from "../problems.ts";
import { readSession, type SessionFileContent } from "../read.ts";
import { giveName } from "./write-file.ts";

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
// A header says anything; an ISO time takes 24.
const MAX_TIME_CHARS = 40;

/** Reads a file that is to be imported. Fails with `session_unreadable`, `session_invalid`. */
export function readImport(path: string): SessionFileContent {
  const session = readSession(path);
  if (session) return session;
  throw sessionError("session_invalid", `${path} is empty.`, "Give the path of a session file.");
}

/**
 * Copies a session file into a folder, byte by byte, and answers its path; one that lies there is left. It keeps its id and its working directory. Its name is made of its
 * header, and gets a number where that name is taken. Fails with `import_failed`, also where a session of its id is there; then there is no copy.
 */
export async function importFile(session: SessionFileContent, folder: string): Promise<string> {
  if (existsSync(folder) && dirname(session.file) === realpathSync(folder)) {
    return session.file;
  }
  const { id, timestamp } = session.header;
  // No command could tell two of one id apart.
  const [there] = findById({ folder, root: folder, isShared: true }, id).filter(({ header }) => header.id === id);
  if (there) {
    throw sessionError(
      "import_failed",
      `${session.file} was not imported: its session, ${id}, is there already, as ${there.path}.`,
      `Go on with that one: --session ${there.path}. Or with a copy, which gets an id of its own: --fork ${session.file}`,
    );
  }
  const name = fileName(id, timestamp.slice(0, MAX_TIME_CHARS)).replace(/\.jsonl$/, "");
  const draft = join(folder, `${name}.${randomUUID().slice(0, 8)}.tmp`);
  try {
    mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
    await copyFile(session.file, draft);
    await chmod(draft, FILE_MODE);
    return await nameFreely(draft, join(folder, name));
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {});
    throw sessionError(
      "import_failed",
      `${session.file} could not be copied into ${folder}: ${reasonOf(error)}.`,
      "Make room there, or make it writable; or go on with the file where it is: --session <path>.",
    );
  }
}

async function nameFreely(draft: string, start: string): Promise<string> {
  for (let n = 0; ; n++) {
    const path = `${start}${n === 0 ? "" : `-${n}`}.jsonl`;
    if (existsSync(path)) continue;
    try {
      await giveName(draft, path);
      return path;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}
