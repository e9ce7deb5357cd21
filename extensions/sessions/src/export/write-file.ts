/** Writes a file of any size piece by piece: it is there as a whole, or not at all. */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { type FileHandle, link, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { reasonOf, sessionError } from "../problems.ts";

const CHUNK_CHARS = 1 << 20;
// It holds what a person and their tools said.
const FILE_MODE = 0o600;

/**
 * Writes pieces to a file. Fails with `export_failed`; then what was there is as it was. `mayReplace`: left out, a file
 * that is there is one that somebody wants to keep.
 */
export async function writeWhole(
  path: string,
  pieces: Iterable<string>,
  { mayReplace = false }: { mayReplace?: boolean } = {},
): Promise<void> {
  if (!mayReplace && existsSync(path)) throw exists(path);
  const draft = `${path}.${randomUUID().slice(0, 8)}.tmp`;
  try {
    const file = await open(draft, "wx", FILE_MODE);
    try {
      await writePieces(file, pieces);
      await file.sync();
    } finally {
      await file.close();
    }
    await (mayReplace ? rename(draft, path) : giveName(draft, path));
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {});
    if ((error as NodeJS.ErrnoException).code === "EEXIST" && existsSync(path)) throw exists(path);
    throw failed(path, error);
  }
}

async function writePieces(file: FileHandle, pieces: Iterable<string>): Promise<void> {
  let chunk = "";
  for (const piece of pieces) {
    chunk += piece;
    if (chunk.length < CHUNK_CHARS) continue;
    await file.writeFile(chunk);
    chunk = "";
  }
  await file.writeFile(chunk);
}

/** Gives a finished file a name that nobody has. Not every file system can link. */
export async function giveName(draft: string, path: string): Promise<void> {
  try {
    await link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST" || existsSync(path)) throw error;
    return rename(draft, path);
  }
  await rm(draft, { force: true });
}

function exists(path: string): Error {
  return sessionError(
    "export_failed",
    `${path} was not written: there is a file of that name.`,
    "Give another name, or remove that file first.",
  );
}

function failed(path: string, error: unknown): Error {
  return sessionError(
    "export_failed",
    `${path} could not be written: ${reasonOf(error)}.`,
    `Give the path of a file in a folder that can be written to; ${dirname(path)} may be missing or full.`,
  );
}
