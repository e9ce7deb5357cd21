/**
 * Puts the files of a tarball into a folder. The archive is read once: what is judged is what is written.
 *
 *   gzip, up to a size ─► entries ─► every path judged ─► files written, hashed
 *
 * 1. Nothing is written before all entries were judged.
 * 2. Files and folders only: links within the package are left out as npm does, links out of it refuse the package.
 * 3. Modes are 755 or 644: the same archive gives the same bytes and modes everywhere.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import { promisify } from "node:util";
import { toPrintable } from "../printable.ts";
import { type DigestedFile, hashBytes } from "./files-digest.ts";
import { codeOf, wordIntegrity, wordUnsafe } from "./package-error.ts";
import { readTar, type TarEntry, TarFault } from "./tar.ts";

/** More than this in one tarball is no package. */
const LIMITS = { bytes: 256 << 20, entries: 50_000, depth: 64 };
// What is written at a time.
const AT_ONCE = 16;
const GZIP = [0x1f, 0x8b];
const BAD_NAME = /[\p{Cc}\p{Zl}\p{Zp}\\]/u;
const DRIVE = /^[a-z]:/i;

/** Unpacks a tarball, without its outermost folder. Fails with `package_unsafe` and `package_integrity`. */
export async function unpack(name: string, tarball: Buffer, folder: string): Promise<DigestedFile[]> {
  const entries = judgeEntries(name, await readEntries(name, tarball));
  const folders = new Set(entries.map(({ path }) => dirname(join(folder, path))));
  await mkdir(folder, { recursive: true });
  for (const each of folders) await mkdir(each, { recursive: true });
  const files: DigestedFile[] = [];
  for (let at = 0; at < entries.length; at += AT_ONCE) {
    const written = entries.slice(at, at + AT_ONCE).map(async ({ path, isExecutable, content }) => {
      await writeFile(join(folder, path), content, { flag: "wx", mode: isExecutable ? 0o755 : 0o644 });
      return { path, size: content.length, isExecutable, hash: hashBytes(content) };
    });
    files.push(...(await Promise.all(written)));
  }
  return files;
}

async function readEntries(name: string, tarball: Buffer): Promise<TarEntry[]> {
  try {
    return readTar(GZIP.every((byte, at) => tarball[at] === byte) ? await inflate(tarball) : tarball);
  } catch (cause) {
    if (codeOf(cause) === "ERR_BUFFER_TOO_LARGE") {
      throw wordUnsafe(name, `its tarball holds more than ${LIMITS.bytes >> 20} MB`);
    }
    if (cause instanceof TarFault || codeOf(cause).startsWith("Z_")) {
      throw wordIntegrity(name, `its tarball cannot be read: ${cause instanceof Error ? cause.message : "damaged"}`);
    }
    throw cause;
  }
}

async function inflate(tarball: Buffer): Promise<Buffer> {
  const { gunzip } = await import("node:zlib");
  return promisify<Buffer, { maxOutputLength: number }, Buffer>(gunzip)(tarball, {
    maxOutputLength: LIMITS.bytes,
  });
}

/** Answers the files with their paths below the package; a later entry takes the place of an earlier one. */
function judgeEntries(name: string, entries: readonly TarEntry[]): TarEntry[] {
  if (entries.length > LIMITS.entries) {
    throw wordUnsafe(name, `its tarball has more than ${LIMITS.entries} entries`);
  }
  const files = new Map<string, TarEntry>();
  const spellings = new Map<string, { path: string; isFolder: boolean }>();
  for (const entry of entries) {
    const path = judgePath(name, entry.path);
    if (entry.kind === "other") throw wordUnsafe(name, `${show(entry.path)} is no file, but a device or the like`);
    if (entry.kind === "link") judgeLink(name, path, entry);
    if (path === "" || entry.kind === "link") continue;
    judgeSpelling(name, path, { isFolder: entry.kind === "folder", spellings });
    if (entry.kind === "file") files.set(path, { ...entry, path });
  }
  if (files.size === 0) throw wordUnsafe(name, "its tarball has no files");
  return [...files.values()];
}

function judgePath(name: string, path: string): string {
  if (path.startsWith("/") || DRIVE.test(path)) throw wordUnsafe(name, `the path ${show(path)} is absolute`);
  if (BAD_NAME.test(path)) throw wordUnsafe(name, `the path ${show(path)} has characters that no path may have`);
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) throw wordUnsafe(name, `the path ${show(path)} leads out of it`);
  if (parts.length > LIMITS.depth) throw wordUnsafe(name, "its folders are nested without measure");
  return parts.slice(1).join("/");
}

function judgeLink(name: string, path: string, { target = "", isHard }: TarEntry): void {
  // A hard link is named from the archive's root, with the outermost folder; the other kind from where it lies.
  const from = isHard ? "/root" : posix.join("/root/package", posix.dirname(path));
  const leads = posix.normalize(posix.join(from, target));
  if (target.startsWith("/") || DRIVE.test(target) || BAD_NAME.test(target) || !/^\/root\/[^/]+(?:\/|$)/.test(leads)) {
    throw wordUnsafe(name, `${show(path)} is a link that leads out of it`);
  }
  if (!isHard && !/^\/root\/package(?:\/|$)/.test(leads))
    throw wordUnsafe(name, `${show(path)} is a link that leads out of it`);
}

/** Where a file system folds names, two spellings would be one file: what is judged would not be what is there. */
function judgeSpelling(
  name: string,
  path: string,
  { isFolder, spellings }: { isFolder: boolean; spellings: Map<string, { path: string; isFolder: boolean }> },
): void {
  const parts = path.split("/");
  for (let length = 1; length <= parts.length; length++) {
    const here = parts.slice(0, length).join("/");
    const isFolderHere = isFolder || length < parts.length;
    const key = here.normalize("NFC").toLowerCase();
    const known = spellings.get(key);
    if (known && known.path !== here)
      throw wordUnsafe(name, `${show(here)} and ${show(known.path)} are one path to many disks`);
    if (known && known.isFolder !== isFolderHere) throw wordUnsafe(name, `${show(here)} is a file and a folder`);
    spellings.set(key, { path: here, isFolder: isFolderHere });
  }
}

function show(path: string): string {
  return toPrintable(path).slice(0, 200);
}
