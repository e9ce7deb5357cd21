/** The digest of a package's files: paths, sizes, executable bits and bytes, in an order that no locale changes. */
import { createHash } from "node:crypto";
import type { Dirent } from "node:fs";
import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

export interface DigestedFile {
  /** Below the package, with `/`. */
  path: string;
  size: number;
  isExecutable: boolean;
  /** Hexadecimal SHA-256. */
  hash: string;
}

const EXECUTABLE = 0o100;

/** Digests a list of files. */
export function digestFiles(files: readonly DigestedFile[]): string {
  const hash = createHash("sha256");
  for (const file of files.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    hash.update(`${file.path.length}:${file.path}\0${file.isExecutable ? "x" : "-"}\0${file.size}\0${file.hash}\n`);
  }
  return `sha256-${hash.digest("hex")}`;
}

/** The hash of a file's bytes, as a digest has it. */
export function hashBytes(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** What a walk over an installed package found. */
export interface Walked {
  files: string[];
  folders: string[];
  /** Links, devices and the like, which no package has. */
  others: string[];
}

/** Lists everything below a folder, by paths with `/`. */
export async function walkFiles(root: string): Promise<Walked> {
  const walked: Walked = { files: [], folders: [""], others: [] };
  const visit = async (below: string): Promise<void> => {
    const entries: Dirent[] = await readdir(join(root, below), { withFileTypes: true });
    for (const entry of entries) {
      const path = below === "" ? entry.name : `${below}/${entry.name}`;
      if (entry.isFile()) walked.files.push(path);
      else if (!entry.isDirectory()) walked.others.push(path);
      else {
        walked.folders.push(path);
        await visit(path);
      }
    }
  };
  await visit("");
  return walked;
}

/** Reads and hashes one file of a package. */
export async function digestFile(root: string, path: string): Promise<DigestedFile> {
  const full = join(root, path);
  const stats = await lstat(full);
  const bytes = await readFile(full);
  return { path, size: bytes.length, isExecutable: (stats.mode & EXECUTABLE) !== 0, hash: hashBytes(bytes) };
}
