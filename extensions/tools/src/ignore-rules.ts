import { closeSync, constants, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { type IgnoreRule, judgePath, readIgnoreFile } from "./ignore-file.ts";

/** Later ones win. The first is what git keeps out of the repository's files. */
const RULE_FILES = [join(".git", "info", "exclude"), ".gitignore", ".ignore"];
/** Bytes of one of them that are read; each name is held against every rule. */
const MAX_RULE_BYTES = 262_144;

/** The rules of one directory, for everything below it. */
export interface Rules {
  directory: string;
  own: readonly IgnoreRule[];
}

/** Reads the ignore rules that a directory states, `undefined` when none; `has` tells whether it holds a name. */
export function rulesOf(
  directory: string,
  has = (name: string) => existsSync(join(directory, name)),
): Rules | undefined {
  const places = RULE_FILES.filter((name) => has(name.split(sep, 1)[0]!));
  const own = places.flatMap((name) => readIgnoreFile(readRules(join(directory, name))));
  return own.length === 0 ? undefined : { directory, own };
}

/** The rules above a directory, outermost first: up to the root of its git repository, or of the file system. */
export function rulesAbove(directory: string): Rules[] {
  return parentsOf(directory).flatMap((parent) => rulesOf(parent) ?? []);
}

export function isInRepository(directory: string): boolean {
  return isRepository(parentsOf(directory)[0] ?? directory);
}

/** The directories above one, outermost first, up to the root of its git repository, or of the file system. */
function parentsOf(directory: string): string[] {
  const parents: string[] = [];
  for (let at = directory; !isRepository(at) && dirname(at) !== at; ) {
    at = dirname(at);
    parents.unshift(at);
  }
  return parents;
}

function isRepository(directory: string): boolean {
  return existsSync(join(directory, ".git"));
}

/**
 * Tells whether rules leave a path out, whose directories they do not; the last rule of the innermost directory that
 * says anything about it decides.
 */
export function isIgnored(path: string, isDirectory: boolean, rules: readonly Rules[]): boolean {
  for (let at = rules.length - 1; at >= 0; at--) {
    const { directory, own } = rules[at]!;
    const below = path.slice(directory.endsWith(sep) ? directory.length : directory.length + 1);
    const verdict = judgePath(own, sep === "/" ? below : below.replaceAll(sep, "/"), isDirectory);
    if (verdict) return verdict === "ignored";
  }
  return false;
}

/** Tells whether the rules above leave out a directory, or all that is in it: who searches there wants it searched. */
export function isLeftOut(directory: string): boolean {
  const rules = rulesAbove(directory);
  const isOut = (path: string, isDirectory: boolean) =>
    isIgnored(
      path,
      isDirectory,
      rules.filter((each) => each.directory !== path && path.startsWith(each.directory)),
    );
  const chain = [...parentsOf(directory).slice(1), directory];
  return chain.some((path) => isOut(path, true)) || isOut(join(directory, "any-name"), false);
}

/** Reads the start of a file, never of anything that one could wait for. */
function readRules(path: string): string {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    if (!fstatSync(file).isFile()) return "";
    const bytes = Buffer.alloc(Math.min(fstatSync(file).size, MAX_RULE_BYTES));
    return bytes.toString("utf8", 0, readSync(file, bytes));
  } catch {
    // A file that is missing, or cannot be read, states none.
    return "";
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
