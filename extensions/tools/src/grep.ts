import type { Tool } from "@pi-agent/kernel";
import type { GrepQuery, GrepSearch } from "./grep-search.ts";
import { DEFAULT_MAX_BYTES, GREP_DEFAULT_LIMIT, GREP_MAX_LINE_LENGTH } from "./limits.ts";
import { expandPath, locatePath, touchedPath } from "./paths.ts";
import { attempt } from "./result.ts";

/** What searches for `grep`. */
export interface GrepOperations {
  search(query: GrepQuery): Promise<GrepSearch>;
}

export interface GrepOptions {
  /** Another place than this machine's disk. Paths are then only made absolute, never looked up here. */
  operations?: GrepOperations;
  /** Matches, where the call names no limit. */
  limit?: number;
  /** Bytes of UTF-8. */
  maxBytes?: number;
  /** Characters. */
  maxLineLength?: number;
}

const parameters = {
  type: "object",
  properties: {
    pattern: { type: "string", description: "Regular expression, or plain text with literal" },
    path: { type: "string", description: "Directory or file to search; the working directory by default" },
    glob: { type: "string", description: "Only files that match this glob, as *.ts or src/**" },
    ignoreCase: { type: "boolean", description: "Upper and lower case are the same" },
    literal: { type: "boolean", description: "The pattern is plain text" },
    context: { type: "number", description: "Lines to show before and after each match" },
    limit: { type: "number", description: `Most matches to show; ${GREP_DEFAULT_LIMIT} by default` },
  },
  required: ["pattern"],
} as const;

/**
 * Makes the `grep` tool. Relative paths start from `cwd`; left out, from the agent's working directory at the time of
 * the call.
 */
export function createGrepTool(cwd?: string, options: GrepOptions = {}): Tool<typeof parameters> {
  const { maxBytes = DEFAULT_MAX_BYTES, maxLineLength = GREP_MAX_LINE_LENGTH } = options;
  const locate = options.operations ? expandPath : locatePath;
  return {
    name: "grep",
    label: "grep",
    description:
      "Search the content of files with ripgrep. Hidden files are searched; .git and what .gitignore names are not, unless path names it.",
    parameters,
    promptSnippet: "Search file contents for patterns (respects .gitignore)",
    defaultActive: false,
    effect: "read",
    touches: ({ path }, ctx) => ({ read: [touchedPath(locate, path ?? ".", cwd ?? ctx.cwd)] }),
    execute: (_id, { pattern, path, glob, ignoreCase, literal, context, limit }, signal, _onUpdate, ctx) =>
      attempt(signal, async () => {
        const { search, showSearch } = await import("./grep-search.ts");
        const base = cwd ?? ctx.cwd;
        const query: GrepQuery = {
          pattern,
          root: locate(path ?? ".", base),
          shown: path ?? ".",
          base,
          glob,
          ignoreCase: ignoreCase ?? false,
          literal: literal ?? false,
          context: Math.max(0, Math.trunc(context ?? 0)),
          limit: Math.max(1, Math.trunc(limit ?? options.limit ?? GREP_DEFAULT_LIMIT)),
          signal,
        };
        const found = await (options.operations?.search(query) ?? search(query));
        return showSearch(found, { query, maxBytes, maxLineLength });
      }),
  };
}
