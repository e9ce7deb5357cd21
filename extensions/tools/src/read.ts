import type { Tool } from "@pi-agent/kernel";
import { DEFAULT_MAX_BYTES, DEFAULT_MAX_LINES } from "./limits.ts";
import { missingPath } from "./nearest.ts";
import { type OpenFile, openFile } from "./open-file.ts";
import { expandPath, locatePath, touchedPath } from "./paths.ts";
import { attempt, errorCode, type MaybePromise } from "./result.ts";
import { showFile } from "./show-file.ts";
import type { TextLimits } from "./truncate.ts";

/** Where `read` gets its bytes. */
export interface ReadOperations {
  /** Fails with the codes of `open`, `ENOENT` for a missing file. */
  open(path: string): MaybePromise<OpenFile>;
}

export interface ReadOptions extends TextLimits {
  /** Another place than this machine's disk. Paths are then only made absolute, never looked up here. */
  operations?: ReadOperations;
}

const parameters = {
  type: "object",
  properties: {
    path: { type: "string", description: "Path of the file, relative or absolute" },
    offset: { type: "number", description: "Line to start from, 1 is the first" },
    limit: { type: "number", description: "How many lines to read" },
  },
  required: ["path"],
} as const;

/**
 * Makes the `read` tool. Relative paths start from `cwd`; left out, from the agent's working directory at the time of
 * the call.
 */
export function createReadTool(cwd?: string, options: ReadOptions = {}): Tool<typeof parameters> {
  const { operations, maxLines = DEFAULT_MAX_LINES, maxBytes = DEFAULT_MAX_BYTES } = options;
  const locate = operations ? expandPath : locatePath;
  return {
    name: "read",
    label: "read",
    description: `Read a file. Text comes as lines, at most ${maxLines} or ${Math.floor(maxBytes / 1_024)}KB at a time; go on with offset. PNG, JPEG, GIF and WebP images come as images.`,
    parameters,
    promptSnippet: "Read file contents",
    promptGuidelines: ["Look at files with read rather than with cat or sed."],
    effect: "read",
    touches: ({ path }, ctx) => ({ read: [touchedPath(locate, path, cwd ?? ctx.cwd)] }),
    execute: (_id, { path, offset, limit }, signal, _onUpdate, ctx) =>
      attempt(signal, async () => {
        const base = cwd ?? ctx.cwd;
        const file = operations ? await operations.open(expandPath(path, base)) : openNear(path, base);
        try {
          const request = { shown: path, offset, limit, maxLines, maxBytes, signal, model: ctx.model };
          return await showFile(file, request);
        } finally {
          await file.close();
        }
      }),
  };
}

/** Opens a file by its name as written, and only when that is missing by what a person would have meant. */
function openNear(path: string, cwd: string): OpenFile {
  const isPlain = !path.startsWith("@");
  const literal = isPlain ? expandPath(path, cwd) : locatePath(path, cwd);
  try {
    return openFile(literal);
  } catch (cause) {
    if (errorCode(cause) !== "ENOENT") throw cause;
    const meant = locatePath(path, cwd);
    if (meant === literal) throw missingPath(literal, path, cwd);
    return openFile(meant);
  }
}
