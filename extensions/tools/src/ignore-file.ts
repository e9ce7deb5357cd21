/** The lines of an ignore file, as git reads them, in time that grows with the line times the name. */
import { matchSteps, type PartStep, partStep } from "./glob-match.ts";

export interface IgnoreRule {
  /** Held against the parts of a path below the file's folder, or against the last one alone. */
  steps: readonly PartStep[];
  onlyName: boolean;
  onlyDirectories: boolean;
  /** Takes back what an earlier rule left out. */
  isBack: boolean;
}

/** Characters of a line; a longer one names no path that can be. */
const MAX_LINE_CHARS = 4_096;

/** Reads the rules of an ignore file. A line that git cannot make sense of is none. */
export function readIgnoreFile(text: string): IgnoreRule[] {
  return text
    .replace(/^\uFEFF/, "")
    .split(/\r?\n/)
    .flatMap((line) => readRule(line) ?? []);
}

/** Answers what the rules say of a path, the last that matches: leave it out, take it back, or nothing. */
export function judgePath(
  rules: readonly IgnoreRule[],
  path: string,
  isDirectory: boolean,
): "ignored" | "back" | undefined {
  const parts = path.split("/");
  const name = parts.slice(-1);
  for (let at = rules.length - 1; at >= 0; at--) {
    const { steps, onlyName, onlyDirectories, isBack } = rules[at]!;
    if (onlyDirectories && !isDirectory) continue;
    if (matchSteps(steps, onlyName ? name : parts)) return isBack ? "back" : "ignored";
  }
  return undefined;
}

function readRule(line: string): IgnoreRule | undefined {
  if (line.length > MAX_LINE_CHARS || line.startsWith("#")) return undefined;
  const isBack = line.startsWith("!");
  const trimmed = trimSpaces(isBack ? line.slice(1) : line);
  const onlyDirectories = trimmed.endsWith("/");
  const pattern = onlyDirectories ? trimmed.slice(0, -1) : trimmed;
  if (pattern === "") return undefined;
  const parts = pattern.replace(/^\//, "").split("/");
  const onlyName = !pattern.includes("/");
  // What is in a folder does not mean the folder.
  if (!onlyName && parts.at(-1) === "**") parts.push("*");
  try {
    return { steps: parts.map((part) => partStep(part, onlyName)), onlyName, onlyDirectories, isBack };
  } catch {
    // A set without its end: it matches nothing.
    return undefined;
  }
}

/** Takes off the spaces at the end, but for one behind a backslash. */
function trimSpaces(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === " " && line[end - 2] !== "\\") end--;
  return line.slice(0, end);
}
