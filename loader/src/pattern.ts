/**
 * Patterns for paths, which a stranger may have written: `*` any characters of a name, `?` one, `**` any number of
 * names. Everything else is literal. A match takes at most path length × pattern length steps.
 */
import { posix, sep } from "node:path";
import { Refusal } from "./file-view.ts";

/** A pattern, name by name. */
export type Pattern = readonly string[];

/** More than this in one list, or longer than this in characters, is refused. */
export const MAX_PATTERNS = 200;
const MAX_LENGTH = 200;

/** Makes a pattern of its text. A last `**` stands for at least one name. */
export function toPattern(text: string): Pattern {
  const names = posix.normalize(text).split("/");
  return names.at(-1) === "**" ? [...names, "*"] : names;
}

/** Tells whether a pattern matches a whole path. */
export function matchesPattern(path: string, pattern: Pattern): boolean {
  return matches(path.split(sep), { parts: pattern, any: "**" }, matchesName);
}

/** Makes patterns of a list's texts. Fails with a `Refusal` that names `where` for too many, or one that is too long. */
export function toPatterns(texts: readonly string[], where: string): Pattern[] {
  if (texts.length > MAX_PATTERNS) throw new Refusal(`has more than ${MAX_PATTERNS} patterns in ${where}`);
  if (texts.some(({ length }) => length > MAX_LENGTH)) {
    throw new Refusal(`has a pattern of more than ${MAX_LENGTH} characters in ${where}`);
  }
  return texts.map(toPattern);
}

function matchesName(name: string, pattern: string): boolean {
  return matches(name, { parts: pattern, any: "*" }, (given, wanted) => wanted === "?" || given === wanted);
}

/** Goes back to the last `any` alone: what came before it need not be tried again. */
function matches(
  given: ArrayLike<string>,
  { parts, any }: { parts: ArrayLike<string>; any: string },
  isSame: (given: string, wanted: string) => boolean,
): boolean {
  let at = 0;
  let next = 0;
  let last: { next: number; at: number } | undefined;
  while (at < given.length) {
    const wanted = parts[next];
    if (wanted === any) {
      next++;
      last = { next, at };
    } else if (wanted !== undefined && isSame(given[at] ?? "", wanted)) {
      at++;
      next++;
    } else if (last) {
      last.at++;
      ({ next, at } = last);
    } else return false;
  }
  while (parts[next] === any) next++;
  return next === parts.length;
}
