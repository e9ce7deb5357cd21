import type { Tool } from "@pi-agent/kernel";
import type { FindQuery, FindSearch } from "./find-search.ts";
import { DEFAULT_MAX_BYTES, FIND_DEFAULT_LIMIT } from "./limits.ts";
import { expandPath, locatePath, touchedPath } from "./paths.ts";
import { attempt } from "./result.ts";

/** What searches for `find`. */
export interface FindOperations {
  search(query: FindQuery): Promise<FindSearch>;
}

export interface FindOptions {
  /** Another place than this machine's disk. Paths are then only made absolute, never looked up here. */
  operations?: FindOperations;
  /** Results, where the call names no limit. */
  limit?: number;
  /** Bytes of UTF-8. */
  maxBytes?: number;
}

const parameters = {
  type: "object",
  properties: {
    pattern: {
      type: "string",
      description:
        "Glob. Without a slash it is held against names at any depth, as *.ts; else against paths, as src/**/*.test.ts",
    },
    path: { type: "string", description: "Directory to search; the working directory by default" },
    limit: { type: "number", description: `Most results to show; ${FIND_DEFAULT_LIMIT} by default` },
  },
  required: ["pattern"],
} as const;

/**
 * Makes the `find` tool. Relative paths start from `cwd`; left out, from the agent's working directory at the time of
 * the call.
 */
export function createFindTool(cwd?: string, options: FindOptions = {}): Tool<typeof parameters> {
  const locate = options.operations ? expandPath : locatePath;
  return {
    name: "find",
    label: "find",
    description:
      "Find files and directories by glob. Hidden ones are found; .git and what .gitignore names are not, unless path or pattern names them.",
    parameters,
    promptSnippet: "Find files by glob pattern (respects .gitignore)",
    defaultActive: false,
    effect: "read",
    touches: ({ path }, ctx) => ({ read: [touchedPath(locate, path ?? ".", cwd ?? ctx.cwd)] }),
    execute: (_id, { pattern, path, limit }, signal, _onUpdate, ctx) =>
      attempt(signal, async () => {
        const { search, showSearch } = await import("./find-search.ts");
        const base = cwd ?? ctx.cwd;
        const query: FindQuery = {
          pattern,
          root: locate(path ?? ".", base),
          shown: path ?? ".",
          base,
          limit: Math.max(1, Math.trunc(limit ?? options.limit ?? FIND_DEFAULT_LIMIT)),
          signal,
        };
        const found = await (options.operations?.search(query) ?? search(query));
        return showSearch(found, query, options.maxBytes ?? DEFAULT_MAX_BYTES);
      }),
  };
}
