import { lstatSync, statSync } from "node:fs";
import { join } from "node:path";
import type { ToolResult } from "@pi-agent/kernel";
import { showName } from "./entry-name.ts";
import { compileGlob, type Glob, parseGlob } from "./glob.ts";
import { type ListNotes, listResult } from "./list-result.ts";
import { missingPath } from "./nearest.ts";
import { ToolFailure } from "./result.ts";
import { type WalkReport, walk } from "./walk.ts";

export interface FindQuery {
  pattern: string;
  /** Absolute. */
  root: string;
  /** The path as the call gave it, and the directory it starts from. */
  shown: string;
  base: string;
  /** Results, at least 1. */
  limit: number;
  signal: AbortSignal | undefined;
}

interface FoundEntry {
  /** Relative to the root, with `/` between its parts. */
  path: string;
  isDirectory: boolean;
}

export interface FindSearch extends WalkReport {
  entries: FoundEntry[];
  /** There are more than the limit. */
  isCut: boolean;
}

/** Looks for files and directories of this machine. Fails with `ENOENT`, `ENOTDIR`, `invalid_glob`. */
export async function search(query: FindQuery): Promise<FindSearch> {
  const { root, limit, signal } = query;
  assertDirectory(query);
  const glob = parseGlob(query.pattern, root);
  // A name that exists as it is written is what was meant, whatever its characters mean in globs or ignore rules.
  const literal = literalEntry(root, glob);
  const found = new Map(literal ? [[literal.path, literal]] : []);
  const isMatch = await compileGlob(glob).catch((cause: unknown) => {
    if (literal) return undefined;
    throw cause;
  });
  const base = leadsToDirectory(join(root, glob.base)) ? glob.base : "";
  const prefix = base === "" ? "" : `${base}/`;
  const report = await walk({
    root: join(root, base),
    signal,
    onEntry(entry) {
      const path = prefix + entry.path;
      if (isMatch?.({ path, name: entry.name }) && (entry.isDirectory || !glob.onlyDirectories)) {
        found.set(path, { path, isDirectory: entry.isDirectory });
      }
      return isMatch !== undefined && found.size <= limit;
    },
  });
  return { ...report, entries: [...found.values()].slice(0, limit), isCut: found.size > limit };
}

/** Makes the result that the model sees. */
export function showSearch(found: FindSearch, query: FindQuery, maxBytes: number): ToolResult {
  const notes: ListNotes = { notices: [], details: {} };
  if (found.isCut) {
    notes.notices.push(
      `${query.limit} results limit reached. Use limit=${query.limit * 2} for more, or refine pattern`,
    );
    notes.details.resultLimitReached = query.limit;
  }
  if (found.entries.length === 0 && found.hasIgnored) {
    notes.notices.push("What .gitignore leaves out was not searched; name its folder as path to search there");
  }
  if (found.isFromIgnored) notes.notices.push(".gitignore leaves out this folder; it was searched all the same");
  if (found.unreadable.length > 0) notes.notices.push(`Could not be read: ${found.unreadable.join(", ")}`);
  const names = found.entries.map(({ path, isDirectory }) => showName(path) + (isDirectory ? "/" : ""));
  return listResult(names.length > 0 ? names : ["No files found matching pattern"], maxBytes, notes);
}

function assertDirectory({ root, shown, base }: FindQuery): void {
  const stats = statSync(root, { throwIfNoEntry: false });
  if (!stats) throw missingPath(root, shown, base);
  if (!stats.isDirectory()) throw new ToolFailure("ENOTDIR", `Not a directory: ${shown}`);
}

function leadsToDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function literalEntry(root: string, { pattern, onlyDirectories }: Glob): FoundEntry | undefined {
  try {
    const stats = lstatSync(join(root, pattern));
    return onlyDirectories && !stats.isDirectory() ? undefined : { path: pattern, isDirectory: stats.isDirectory() };
  } catch {
    // Not there, or not to be looked at under this name; the walk tells more.
    return undefined;
  }
}
