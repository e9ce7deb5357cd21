import { statSync } from "node:fs";
import { basename, dirname } from "node:path";
import type { ToolResult } from "@pi-agent/kernel";
import { showName } from "./entry-name.ts";
import { type ListNotes, listResult } from "./list-result.ts";
import { missingPath } from "./nearest.ts";
import { kindOf } from "./open-file.ts";
import { ToolFailure, textResult, throwIfAborted } from "./result.ts";
import { type RipgrepExit, runRipgrep } from "./ripgrep.ts";
import { cutText } from "./truncate.ts";

export interface GrepQuery {
  pattern: string;
  /** Absolute; a directory or a file. */
  root: string;
  /** The path as the call gave it, and the directory it starts from. */
  shown: string;
  base: string;
  glob?: string;
  ignoreCase: boolean;
  literal: boolean;
  /** Lines. */
  context: number;
  /** Matches, at least 1. */
  limit: number;
  signal: AbortSignal | undefined;
}

export interface GrepLine {
  /** Relative to the root, or the name of the file that is the root. */
  path: string;
  number: number;
  text: string;
  isMatch: boolean;
}

export interface GrepSearch {
  /** The lines of one file stand together, in their order. */
  lines: GrepLine[];
  /** There are more matches than the limit. */
  isCut: boolean;
  /** Ignore rules leave out the root itself; it was searched all the same. */
  isFromIgnored: boolean;
  /** What could not be searched, in words. */
  problem?: string;
}

/** Searches this machine's files with ripgrep. Fails with `ENOENT`, `bad_search`, `no_ripgrep`. */
export async function search(query: GrepQuery): Promise<GrepSearch> {
  const { root } = query;
  const stats = statSync(root, { throwIfNoEntry: false });
  if (!stats) throw missingPath(root, query.shown, query.base);
  if (!stats.isDirectory()) {
    // ripgrep would wait for a pipe.
    if (!stats.isFile()) throw new ToolFailure("not_a_file", `${query.shown} is ${kindOf(stats)}, not a file.`);
    const found = await searchAt(query, dirname(root), [...argumentsOf(query), `./${basename(root)}`]);
    return { ...found, isFromIgnored: false };
  }
  const { isInRepository, isLeftOut } = await import("./ignore-rules.ts");
  const isFromIgnored = isLeftOut(root);
  const rules = [
    "--glob=!.git",
    // In a repository this would make rules above the repository hold too.
    ...(isInRepository(root) ? [] : ["--no-require-git"]),
    ...(isFromIgnored ? ["--no-ignore-parent", "--no-ignore-exclude"] : []),
  ];
  const found = await searchAt(query, root, [...rules, ...argumentsOf(query), "."]);
  return { ...found, isFromIgnored };
}

/** Makes the result that the model sees. */
export function showSearch(
  found: GrepSearch,
  { query, maxBytes, maxLineLength }: { query: GrepQuery; maxBytes: number; maxLineLength: number },
): ToolResult {
  if (found.lines.length === 0) {
    return textResult(
      "No matches found\n(.git and what .gitignore leaves out were not searched; name a path to search there)",
    );
  }
  const notes: ListNotes = { notices: [], details: {} };
  if (found.isCut) {
    notes.notices.push(
      `${query.limit} matches limit reached. Use limit=${query.limit * 2} for more, or refine pattern`,
    );
    notes.details.matchLimitReached = query.limit;
  }
  if (found.lines.some(({ text }) => text.length > maxLineLength)) {
    notes.notices.push(`Some lines truncated to ${maxLineLength} chars. Use read tool to see full lines`);
    notes.details.linesTruncated = true;
  }
  if (found.isFromIgnored) notes.notices.push(`.gitignore leaves out ${query.shown}; it was searched all the same`);
  if (found.problem) notes.notices.push(`Not everything could be searched: ${found.problem}`);
  const lines = found.lines.map(({ path, number, text, isMatch }) => {
    const mark = isMatch ? ":" : "-";
    const shown = text.length > maxLineLength ? `${cutText(text, maxLineLength)}... [truncated]` : text;
    return `${showName(path)}${mark}${number}${mark} ${shown}`;
  });
  return listResult(lines, maxBytes, notes);
}

/** Everything from the model stands behind `=` or `--`, so that none of it is an option. */
function argumentsOf({ pattern, glob, ignoreCase, literal, context }: GrepQuery): string[] {
  return [
    "--no-config",
    "--json",
    "--hidden",
    ...(ignoreCase ? ["--ignore-case"] : []),
    ...(literal ? ["--fixed-strings"] : []),
    ...(glob === undefined ? [] : [`--glob=${glob.replace(/^(?:\.\/)+/, "")}`]),
    ...(context > 0 ? [`--context=${context}`] : []),
    "--",
    pattern,
  ];
}

async function searchAt(
  query: GrepQuery,
  cwd: string,
  args: readonly string[],
): Promise<Omit<GrepSearch, "isFromIgnored">> {
  const lines: GrepLine[] = [];
  let matches = 0;
  let isCut = false;
  const exit = await runRipgrep({
    args,
    cwd,
    signal: query.signal,
    onLine(json) {
      const line = parseLine(json);
      if (!line) return true;
      if (line.isMatch && matches === query.limit) {
        isCut = true;
        return false;
      }
      if (line.isMatch) matches++;
      lines.push(line);
      return true;
    },
  });
  throwIfAborted(query.signal);
  const problem = problemOf(exit);
  if (problem !== undefined && lines.length === 0) {
    const hint = problem.includes("regex parse error") ? "With literal: true the pattern is plain text." : undefined;
    throw new ToolFailure("bad_search", `The search failed: ${problem}`, hint);
  }
  return { lines: inOrder(isCut ? withoutNext(lines, query.context) : lines), isCut, problem };
}

function problemOf({ code, stderr }: RipgrepExit): string | undefined {
  return code === null || code <= 1 ? undefined : stderr.trim() || `ripgrep ended with code ${code}`;
}

type Text = { text: string } | { bytes: string };

function parseLine(json: string): GrepLine | undefined {
  const isMatch = json.startsWith('{"type":"match"');
  if (!isMatch && !json.startsWith('{"type":"context"')) return undefined;
  const { data } = JSON.parse(json) as { data: { path: Text; lines: Text; line_number: number } };
  const text = textOf(data.lines).replace(/\r?\n$/, "");
  return { path: textOf(data.path).replace(/^\.[\\/]/, ""), number: data.line_number, text, isMatch };
}

/** What is not UTF-8 comes as Base64. */
function textOf(part: Text): string {
  return "text" in part ? part.text : Buffer.from(part.bytes, "base64").toString("utf8");
}

/** Leaves out the lines that led up to the match after the last one shown. */
function withoutNext(lines: readonly GrepLine[], context: number): GrepLine[] {
  const at = lines.findLastIndex(({ isMatch }) => isMatch);
  const last = lines[at]!;
  return lines.filter(
    ({ path, number }, index) => index <= at || (path === last.path && number <= last.number + context),
  );
}

/** ripgrep answers files as its threads finish them. */
function inOrder(lines: readonly GrepLine[]): GrepLine[] {
  return lines.toSorted((a, b) => (a.path === b.path ? 0 : a.path < b.path ? -1 : 1));
}
