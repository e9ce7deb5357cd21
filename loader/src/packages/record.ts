/**
 * What an installed root was like when it was put together, so that a start can tell with a look whether it still is
 * (P3). It lies beside the package, in the root that appears as a whole.
 */
import { lstatSync, readFileSync } from "node:fs";
import { lstat, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isJsonObject } from "../json-check.ts";
import { findEscape } from "../manifest.ts";
import { type PackageContents, RESOURCE_LISTS } from "./contents.ts";
import { walkFiles } from "./files-digest.ts";
import { packageIn } from "./store.ts";

/** Path, size, modification time in ms, inode; a folder has no size. */
type Seen = [path: string, size: number, mtimeMs: number, inode: number];

export interface InstallRecord {
  version: 1;
  seen: Seen[];
  contents: PackageContents;
  capabilities: string[];
  hostPeers: Record<string, string>;
  lends: string[];
  /** Versions of the host that its peers were found to fit, so that a start need not work it out again. */
  fits: Record<string, string>;
  /** Bytes of all files. */
  size: number;
  /** Where scripts ran: the digest of all files afterwards, since the lock's is from before. */
  built?: string;
}

const NAME = "record.json";

/** Looks at every file of a root, and puts down what it is like. */
export async function writeRecord(
  root: string,
  facts: Omit<InstallRecord, "version" | "seen" | "size">,
): Promise<void> {
  const folder = packageIn(root);
  const { files, folders } = await walkFiles(folder);
  const seen: Seen[] = [];
  let size = 0;
  for (const path of files) {
    const stats = await lstat(join(folder, path));
    size += stats.size;
    seen.push([path, stats.size, stats.mtimeMs, stats.ino]);
  }
  for (const path of folders) {
    const stats = await lstat(join(folder, path));
    seen.push([path, -1, stats.mtimeMs, stats.ino]);
  }
  const record: InstallRecord = { version: 1, ...facts, size, seen };
  const draft = join(root, `.${crypto.randomUUID()}.tmp`);
  try {
    await writeFile(draft, JSON.stringify(record));
    await rename(draft, join(root, NAME));
  } catch (cause) {
    await rm(draft, { force: true });
    throw cause;
  }
}

/** Reads the record of a root; `undefined` where there is none that can be used. */
export function readRecord(root: string): InstallRecord | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(join(root, NAME), "utf8"));
    return isRecord(value) ? value : undefined;
  } catch {
    // Missing or damaged: all files are looked at instead.
    return undefined;
  }
}

/** Tells whether every file and folder is the one that was seen: by size, modification time and inode. */
export function isAsSeen(root: string, { seen }: InstallRecord): boolean {
  const folder = packageIn(root);
  return seen.every(([path, size, mtimeMs, inode]) => {
    // Every start does this for every file: paths of a record need no `join`.
    const stats = lstatSync(path === "" ? folder : `${folder}/${path}`, { throwIfNoEntry: false });
    if (!stats || stats.mtimeMs !== mtimeMs || stats.ino !== inode) return false;
    return size === -1 ? stats.isDirectory() : stats.isFile() && stats.size === size;
  });
}

function isRecord(value: unknown): value is InstallRecord {
  if (!isJsonObject(value) || value.version !== 1 || !Array.isArray(value.seen)) return false;
  const { contents, hostPeers, capabilities, lends, fits } = value;
  if (!isJsonObject(contents) || !isJsonObject(hostPeers) || !isJsonObject(fits)) return false;
  // Somebody else's repository may bring a record along: without the package's own folder it would vouch for nothing.
  if (!value.seen.every(isSeen) || !value.seen.some(([path]) => path === "")) return false;
  if (!RESOURCE_LISTS.every((list) => isList(contents[list]))) return false;
  return Array.isArray(capabilities) && Array.isArray(lends);
}

function isSeen(value: unknown): value is Seen {
  if (!Array.isArray(value) || typeof value[0] !== "string") return false;
  return value.slice(1).every((each) => typeof each === "number") && value.length === 4;
}

function isList(value: unknown): boolean {
  if (!Array.isArray(value)) return false;
  return value.every(
    (item) => isJsonObject(item) && typeof item.path === "string" && findEscape(item.path) === undefined,
  );
}
