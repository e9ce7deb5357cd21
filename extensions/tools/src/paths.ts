import { existsSync, readdirSync, readlinkSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { ToolFailure } from "./result.ts";

/** Makes a path absolute without looking at any file: `~`, `@` before a path, `file://`, relative to `cwd`. */
export function expandPath(input: string, cwd: string): string {
  const path = input.length > 1 && input.startsWith("@") ? input.slice(1) : input;
  if (path === "~") return homedir();
  if (path.startsWith("~/")) return join(homedir(), path.slice(2));
  if (path.startsWith("file://")) return fromUrl(path);
  return isAbsolute(path) ? resolve(path) : join(cwd, path);
}

/**
 * Makes a path absolute as a person means it on this machine. What exists as written wins; else the one existing name
 * that differs only in how its characters are spelled (composed or not, kinds of space, quotes).
 */
export function locatePath(input: string, cwd: string): string {
  const path = expandPath(input, cwd);
  if (input.startsWith("@")) {
    const literal = join(cwd, input);
    if (existsSync(literal)) return literal;
    // A new file below a folder that is really called so, as in `@types/new.d.ts`.
    const folder = input.split("/", 1)[0]!;
    if (folder !== input && !existsSync(path) && existsSync(join(cwd, folder))) return literal;
  }
  return existsSync(path) ? path : (respell(path) ?? path);
}

/** Finds the one existing path that reads the same; `undefined` when there is none, or more than one. */
function respell(path: string): string | undefined {
  if (existsSync(path)) return path;
  const parent = dirname(path);
  if (parent === path) return undefined;
  const folder = respell(parent);
  if (folder === undefined) return undefined;
  const wanted = fold(basename(path));
  const matches = namesIn(folder).filter((name) => fold(name) === wanted);
  return matches.length === 1 ? join(folder, matches[0]!) : undefined;
}

/**
 * Follows every symbolic link of a path, also where its end does not exist yet.
 * Fails with `symlink_loop`.
 */
export function realPath(path: string): string {
  let current = path;
  let rest = "";
  for (let hops = 0; hops <= MAX_LINKS; ) {
    try {
      return join(realpathSync.native(current), rest);
    } catch {
      const target = linkTarget(current);
      if (target !== undefined) {
        hops++;
        current = target;
        continue;
      }
    }
    const parent = dirname(current);
    if (parent === current) return path;
    rest = join(basename(current), rest);
    current = parent;
  }
  throw new ToolFailure("symlink_loop", `The symbolic links of ${path} lead in a circle (ELOOP).`);
}

/** The real path of what a call names, for gates. Never fails: what cannot be followed stays as it is. */
export function touchedPath(locate: (input: string, cwd: string) => string, input: string, cwd: string): string {
  try {
    return realPath(locate(input, cwd));
  } catch {
    return isAbsolute(input) ? input : join(cwd, input);
  }
}

/** Lists a directory's names; of one that cannot be read, none. */
export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** Shows a path below `cwd` as relative to it, with `/` between its parts. */
export function showPath(path: string, cwd: string): string {
  const shown = path.startsWith(cwd + sep) ? path.slice(cwd.length + 1) : path;
  return sep === "/" ? shown : shown.replaceAll(sep, "/");
}

// As many as Linux follows.
const MAX_LINKS = 40;

/** Where a symbolic link leads, absolute; `undefined` for anything else. */
export function linkTarget(path: string): string | undefined {
  try {
    return resolve(realpathSync.native(dirname(path)), readlinkSync(path));
  } catch {
    return undefined;
  }
}

function fromUrl(url: string): string {
  try {
    return fileURLToPath(url);
  } catch (cause) {
    throw new ToolFailure("invalid_path", `${url} is not the address of a local file: ${(cause as Error).message}.`);
  }
}

function fold(name: string): string {
  return name
    .normalize("NFC")
    .replace(/[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/g, " ")
    .replace(/[\u2018\u2019\u201a\u201b]/g, "'")
    .replace(/[\u201c\u201d\u201e\u201f]/g, '"');
}
