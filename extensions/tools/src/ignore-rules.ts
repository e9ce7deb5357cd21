import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import ignore, { type Ignore } from "ignore";

/** Later ones win. The first is what git keeps out of the repository's files. */
const RULE_FILES = [join(".git", "info", "exclude"), ".gitignore", ".ignore"];

/** The rules of one directory, for everything below it. */
export interface Rules {
  directory: string;
  ignore: Ignore;
}

/** Reads the ignore rules that a directory states, `undefined` when none; `has` tells whether it holds a name. */
export function rulesOf(
  directory: string,
  has = (name: string) => existsSync(join(directory, name)),
): Rules | undefined {
  const places = RULE_FILES.filter((name) => has(name.split(sep, 1)[0]!));
  const text = places.map((name) => readRules(join(directory, name))).join("\n");
  return text.trim() === "" ? undefined : { directory, ignore: ignore({ ignorecase: false }).add(text) };
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

/** Tells whether rules leave a path out; the innermost rule that says anything about it decides. */
export function isIgnored(path: string, isDirectory: boolean, rules: readonly Rules[]): boolean {
  for (let index = rules.length - 1; index >= 0; index--) {
    const { directory, ignore: matcher } = rules[index]!;
    const name = relative(directory, path).split(sep).join("/");
    const verdict = matcher.test(isDirectory ? `${name}/` : name);
    if (verdict.ignored) return true;
    if (verdict.unignored) return false;
  }
  return false;
}

/** Tells whether the rules above leave out a directory, or all that is in it: who searches there wants it searched. */
export function isLeftOut(directory: string): boolean {
  const rules = rulesAbove(directory);
  return isIgnored(directory, true, rules) || isIgnored(join(directory, "any-name"), false, rules);
}

function readRules(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // A file that is missing, or cannot be read, states none.
    return "";
  }
}
