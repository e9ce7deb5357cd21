import { isAbsolute, relative, sep } from "node:path";
import { ToolFailure } from "./result.ts";

/** A glob, told apart into what can be looked up and what has to be matched. */
export interface Glob {
  /** Relative to the search directory. */
  pattern: string;
  /** The directories at its start that hold no wildcard, with `/` between them; empty when there are none. */
  base: string;
  onlyDirectories: boolean;
}

/** Reads a pattern of `find`. Fails with `invalid_glob` for one that is empty or leaves the search directory. */
export function parseGlob(given: string, root: string): Glob {
  let pattern = isAbsolute(given) ? relative(root, given).split(sep).join("/") : given.replace(/^(?:\.\/+)+/, "");
  const onlyDirectories = given.endsWith("/");
  pattern = pattern.replace(/\/+$/, "");
  if (pattern === "") throw new ToolFailure("invalid_glob", "The pattern is empty.", "Use * for everything.");
  const parts = pattern.split("/");
  if (parts.includes("..")) {
    throw new ToolFailure(
      "invalid_glob",
      `${given} leaves the directory that is searched.`,
      "Give the directory as path.",
    );
  }
  const wild = parts.findIndex((part) => /[*?[\]{}\\]/.test(part));
  const fixed = parts.slice(0, wild === -1 ? parts.length - 1 : Math.min(wild, parts.length - 1));
  return { pattern, base: fixed.join("/"), onlyDirectories };
}

// As long as a path may be on Linux.
const MAX_PATTERN_CHARS = 4_096;

/**
 * Makes the matcher of a glob: a pattern with `/` is held against paths, any other against names; one without capital
 * letters matches both cases. Fails with `invalid_glob`.
 */
export async function compileGlob({ pattern }: Glob): Promise<(entry: { path: string; name: string }) => boolean> {
  const { globMatcher } = await import("./glob-match.ts");
  if (pattern.length > MAX_PATTERN_CHARS) {
    const problem = `The pattern is ${pattern.length} characters long, ${MAX_PATTERN_CHARS} at most.`;
    throw new ToolFailure(
      "invalid_glob",
      problem,
      "Nothing was searched. Give a shorter one, or search in several calls.",
    );
  }
  try {
    const isMatch = globMatcher(pattern, pattern === pattern.toLowerCase());
    return pattern.includes("/") ? ({ path }) => isMatch(path) : ({ name }) => isMatch(name);
  } catch (cause) {
    throw new ToolFailure(
      "invalid_glob",
      `${pattern} is not a valid glob: ${(cause as Error).message}.`,
      "Nothing was searched. Mend the pattern: only * ** ? [] {} and \\ mean something in it.",
    );
  }
}
