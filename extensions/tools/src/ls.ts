import { readdirSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Tool, ToolResult } from "@pi-agent/kernel";
import { showName } from "./entry-name.ts";
import { DEFAULT_MAX_BYTES, LS_DEFAULT_LIMIT } from "./limits.ts";
import { type ListNotes, listResult } from "./list-result.ts";
import { missingPath } from "./nearest.ts";
import { expandPath, locatePath, touchedPath } from "./paths.ts";
import { attempt, type MaybePromise, systemReason, ToolFailure, textResult } from "./result.ts";

export interface ListedEntry {
  name: string;
  /** Of what a link leads to. */
  isDirectory: boolean;
  /** Where a link leads that leads nowhere. */
  brokenTarget?: string;
}

/** Where `ls` looks. */
export interface LsOperations {
  /** Fails with the codes of the system, `ENOENT` for a missing directory, `ENOTDIR` for a file. */
  list(path: string): MaybePromise<ListedEntry[]>;
}

export interface LsOptions {
  /** Another place than this machine's disk. Paths are then only made absolute, never looked up here. */
  operations?: LsOperations;
  /** Entries, where the call names no limit. */
  limit?: number;
  /** Bytes of UTF-8. */
  maxBytes?: number;
}

const parameters = {
  type: "object",
  properties: {
    path: { type: "string", description: "Directory to list; the working directory by default" },
    limit: { type: "number", description: `Most entries to show; ${LS_DEFAULT_LIMIT} by default` },
  },
} as const;

/**
 * Makes the `ls` tool. Relative paths start from `cwd`; left out, from the agent's working directory at the time of the
 * call.
 */
export function createLsTool(cwd?: string, options: LsOptions = {}): Tool<typeof parameters> {
  const operations = options.operations ?? { list: listLocal };
  const locate = options.operations ? expandPath : locatePath;
  return {
    name: "ls",
    label: "ls",
    description: "List a directory, hidden entries too. Directories end with /.",
    parameters,
    promptSnippet: "List directory contents",
    defaultActive: false,
    effect: "read",
    touches: ({ path }, ctx) => ({ read: [touchedPath(locate, path ?? ".", cwd ?? ctx.cwd)] }),
    execute: (_id, { path = ".", limit }, signal, _onUpdate, ctx) =>
      attempt(signal, async () => {
        const base = cwd ?? ctx.cwd;
        const directory = locate(path, base);
        const entries = await whileListing({ directory, shown: path, base }, () => operations.list(directory));
        return show(entries, {
          limit: Math.max(1, Math.trunc(limit ?? options.limit ?? LS_DEFAULT_LIMIT)),
          maxBytes: options.maxBytes ?? DEFAULT_MAX_BYTES,
        });
      }),
  };
}

function listLocal(path: string): ListedEntry[] {
  return readdirSync(path, { withFileTypes: true }).map((entry) => {
    const { name } = entry;
    if (!entry.isSymbolicLink()) return { name, isDirectory: entry.isDirectory() };
    const link = join(path, name);
    try {
      return { name, isDirectory: statSync(link).isDirectory() };
    } catch {
      // It leads nowhere, in a circle, or where nobody may look.
      return { name, isDirectory: false, brokenTarget: readlinkSync(link) };
    }
  });
}

async function whileListing(
  { directory, shown, base }: { directory: string; shown: string; base: string },
  list: () => MaybePromise<ListedEntry[]>,
): Promise<ListedEntry[]> {
  try {
    return await list();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT") throw missingPath(directory, shown, base);
    if (code === "ENOTDIR") throw new ToolFailure(code, `Not a directory: ${shown}`, "Look at a file with read.");
    const reason = systemReason(cause);
    throw reason === undefined ? cause : new ToolFailure(code!, `Cannot read directory: ${shown}: ${reason}`);
  }
}

function show(entries: ListedEntry[], { limit, maxBytes }: { limit: number; maxBytes: number }): ToolResult {
  if (entries.length === 0) return textResult("(empty directory)");
  const notes: ListNotes = { notices: [], details: {} };
  if (entries.length > limit) {
    notes.notices.push(`${limit} entries limit reached. Use limit=${limit * 2} for more`);
    notes.details.entryLimitReached = limit;
  }
  return listResult(entries.toSorted(byName).slice(0, limit).map(showEntry), maxBytes, notes);
}

function showEntry({ name, isDirectory, brokenTarget }: ListedEntry): string {
  if (brokenTarget !== undefined) return `${showName(name)} -> ${showName(brokenTarget)} (broken link)`;
  return isDirectory ? `${showName(name)}/` : showName(name);
}

/** Without regard to case; names that differ in nothing else in the order of their characters. */
function byName(a: ListedEntry, b: ListedEntry): number {
  const [left, right] = [a.name.toLowerCase(), b.name.toLowerCase()];
  if (left !== right) return left < right ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}
