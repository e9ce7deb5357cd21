/** Writes a template into a folder: all of it, or nothing. */
import { chmod, mkdir, mkdtemp, rename as move, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { AgentError } from "@pi-agent/kernel";
import { type Kind, type Names, rename } from "./names.ts";

// npm leaves out what begins with a dot, so a template has it without.
const DOTTED: ReadonlySet<string> = new Set(["gitignore"]);

/**
 * Makes a package of a template, and answers its files. Fails with `create_refused` where something is in the way, with
 * `create_failed` where it could not be written; nothing is left then.
 */
export async function scaffold(folder: string, kind: Kind, names: Names): Promise<string[]> {
  const isThere = await assertFree(folder);
  const files = await readTemplate(kind, names);
  const made = await makeParent(folder);
  let draft: string | undefined;
  try {
    draft = await mkdtemp(join(dirname(folder), `.${basename(folder)}-`));
    for (const [path, text] of files) await writeInto(join(draft, path), text);
    await chmod(draft, 0o755);
    await (isThere ? moveContents(draft, folder) : move(draft, folder));
  } catch (cause) {
    const left = made ?? draft;
    if (left !== undefined) await rm(left, { recursive: true, force: true });
    throw wordFailure(folder, cause);
  }
  return [...files.keys()].toSorted();
}

/** Answers whether the folder is there, and empty. */
async function assertFree(folder: string): Promise<boolean> {
  const found = await stat(folder).catch(() => undefined);
  if (!found) return false;
  const isFree = found.isDirectory() && (await readdir(folder)).length === 0;
  if (isFree) return true;
  const what = found.isDirectory() ? "is not empty" : "is no folder";
  throw new AgentError("create_refused", `${folder} ${what}: nothing was written.`, {
    hint: "Name another folder, after the name: pi create KIND NAME FOLDER",
  });
}

async function readTemplate(kind: Kind, names: Names): Promise<Map<string, string>> {
  const folder = join(await findTemplates(), kind);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = new Map<string, string>();
  for (const entry of entries.filter((each) => each.isFile())) {
    const from = join(entry.parentPath, entry.name);
    const path = from.slice(folder.length + 1);
    const name = DOTTED.has(path) ? `.${path}` : rename(path, kind, { ...names, full: names.bare });
    files.set(name, rename(await readFile(from, "utf8"), kind, names));
  }
  return files;
}

/** Beside the bundle where it is installed, beside the sources where it is developed. */
async function findTemplates(): Promise<string> {
  for (const up of ["../templates/", "../../templates/"]) {
    const folder = fileURLToPath(new URL(up, import.meta.url));
    if (await stat(folder).catch(() => undefined)) return folder;
  }
  throw new AgentError("create_failed", "This installation lacks the folder templates.", {
    hint: "Install @pi-agent/cli anew.",
  });
}

/** Answers the topmost folder that had to be made. */
async function makeParent(folder: string): Promise<string | undefined> {
  try {
    return await mkdir(dirname(folder), { recursive: true });
  } catch (cause) {
    throw wordFailure(folder, cause);
  }
}

async function writeInto(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text, { mode: text.startsWith("#!") ? 0o755 : 0o644 });
}

/** A folder that is there may be the one that the person is in: it stays, and is filled. */
async function moveContents(draft: string, folder: string): Promise<void> {
  const names = await readdir(draft);
  try {
    for (const name of names) await move(join(draft, name), join(folder, name));
    await rm(draft, { recursive: true });
  } catch (cause) {
    for (const name of names) await rm(join(folder, name), { recursive: true, force: true });
    throw cause;
  }
}

function wordFailure(folder: string, cause: unknown): AgentError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new AgentError("create_failed", `${folder} could not be made: ${why}.`, {
    hint: "See that you may write there, and that there is space left. Nothing was left behind.",
    cause,
  });
}
