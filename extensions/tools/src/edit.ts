import type { Tool, ToolResult } from "@pi-agent/kernel";
import type { Edited } from "./edit-match.ts";
import { decodeText, encodeText, type Source } from "./encoding.ts";
import { changeFile } from "./file-lock.ts";
import { type FileVersion, versionOf } from "./file-version.ts";
import type { RefusalOf } from "./gate.ts";
import { MAX_EDIT_BYTES } from "./limits.ts";
import { mutate } from "./mutation-queue.ts";
import { nearestHint } from "./nearest.ts";
import { openFile, readWhole } from "./open-file.ts";
import { expandPath, locatePath, touchedPath } from "./paths.ts";
import { type Conditions, replaceFile } from "./replace-file.ts";
import {
  attempt,
  errorCode,
  type MaybePromise,
  systemCode,
  ToolFailure,
  textResult,
  throwIfAborted,
} from "./result.ts";
import { assertWhole } from "./write.ts";

/** Where `edit` gets and puts its bytes. */
export interface EditOperations {
  /** Reads a file whole. Fails with the codes of the system. */
  read(path: string): MaybePromise<Buffer>;
  /** Writes a file whole or not at all. Fails with the codes of the system. */
  replace(path: string, bytes: Buffer): MaybePromise<void>;
}

export interface EditOptions {
  /** Another place than this machine's disk. Paths are then only made absolute, never looked up here. */
  operations?: EditOperations;
  /** Asked at the moment of writing on this machine. */
  refusalOf?: RefusalOf;
}

const parameters = {
  type: "object",
  properties: {
    path: { type: "string", description: "Path of the file, relative or absolute" },
    edits: {
      type: "array",
      description: "Replacements. Each is matched against the file as it is now, not after the others.",
      items: {
        type: "object",
        properties: {
          oldText: { type: "string", description: "Exact text that stands in exactly one place of the file" },
          newText: { type: "string", description: "What takes its place" },
        },
        required: ["oldText", "newText"],
      },
    },
  },
  required: ["path", "edits"],
} as const;

/**
 * Makes the `edit` tool. Relative paths start from `cwd`; left out, from the agent's working directory at the time of
 * the call.
 */
export function createEditTool(cwd?: string, options: EditOptions = {}): Tool<typeof parameters> {
  const locate = options.operations ? expandPath : locatePath;
  const touched = (path: string, base: string) => [touchedPath(locate, path, base)];
  return {
    name: "edit",
    label: "edit",
    description:
      "Change a file by replacing exact text. Every oldText must be unique in the file and must not overlap another. All edits are made, or none.",
    parameters,
    promptSnippet: "Make precise file edits by replacing exact text, several places at once",
    promptGuidelines: [
      "Use edit for targeted changes: oldText as short as is unique, several changes of one file in one call.",
    ],
    effect: "write",
    touches: ({ path }, ctx) => {
      const paths = touched(path, cwd ?? ctx.cwd);
      return { read: paths, write: paths };
    },
    prepareArguments: gatherEdits,
    execute: (id, { path, edits }, signal, _onUpdate, ctx) =>
      attempt(signal, async () => {
        for (const [index, each] of edits.entries()) {
          assertWhole(each.oldText, `edits[${index}].oldText`);
          assertWhole(each.newText, `edits[${index}].newText`);
        }
        const base = cwd ?? ctx.cwd;
        const place: Place = { path, base, target: locate(path, base), isLocal: !options.operations };
        const operations = options.operations ?? localOperations((real) => options.refusalOf?.(id, real));
        const { applyEdits } = await import("./edit-match.ts");
        const run = () => {
          throwIfAborted(signal);
          return editFile(operations, place, (original) => applyEdits(original, edits));
        };
        const change = await (place.isLocal ? changeFile(place.target, signal, run) : mutate(place.target, run));
        return report(path, change);
      }),
  };
}

/** Mends what models get wrong: `edits` as JSON text or as one object, a replacement beside or instead of them. */
export function gatherEdits(args: unknown): unknown {
  if (typeof args !== "object" || args === null) return args;
  const { oldText, newText, edits, ...rest } = args as Record<string, unknown>;
  const given = typeof edits === "string" ? parseEdits(edits) : edits;
  const list = Array.isArray(given) ? (given as unknown[]) : given === undefined || given === null ? [] : [given];
  const isBeside = typeof oldText === "string" && typeof newText === "string";
  return { ...rest, edits: isBeside ? [...list, { oldText, newText }] : list };
}

function parseEdits(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Left for validation to name.
    return text;
  }
}

/** Makes the operations of one edit: they replace only what they have read. */
function localOperations(refusalOf: Conditions["refusalOf"]): EditOperations {
  let seen: FileVersion;
  return {
    async read(path) {
      seen = versionOf(path);
      const file = openFile(path);
      try {
        return await readWhole(file, path, MAX_EDIT_BYTES);
      } finally {
        await file.close();
      }
    },
    replace: (path, bytes) => replaceFile(path, bytes, { seen, refusalOf }),
  };
}

interface Place {
  /** As the model gave it. */
  path: string;
  base: string;
  target: string;
  /** On this machine's disk. */
  isLocal: boolean;
}

interface Change extends Edited {
  original: string;
}

// Another program that writes more often than this is not done yet.
const MAX_READS = 5;

/** Edits a file as it is when it is written: one that changes meanwhile is read and matched again. */
async function editFile(operations: EditOperations, place: Place, edit: (original: string) => Edited): Promise<Change> {
  for (let reads = 1; ; reads++) {
    try {
      return await editOnce(operations, place, edit);
    } catch (cause) {
      if (errorCode(cause) !== "changed_meanwhile" || reads === MAX_READS) throw cause;
    }
  }
}

/** Reads, edits and writes a file; whatever fails, fails before anything is written. */
async function editOnce(operations: EditOperations, place: Place, edit: (original: string) => Edited): Promise<Change> {
  const source = await readSource(operations, place);
  const edited = edit(source.text);
  const bytes = encodeText({ ...source, text: edited.text });
  await whileEditing(place.path, () => operations.replace(place.target, bytes));
  return { ...edited, original: source.text };
}

async function readSource(operations: EditOperations, { target, path, base, isLocal }: Place): Promise<Source> {
  const hint = isLocal ? () => nearestHint(target, base) : undefined;
  const source = decodeText(await whileEditing(path, () => operations.read(target), hint));
  if (!("problem" in source)) return source;
  throw new ToolFailure(
    "not_text",
    `Could not edit file: ${path}. It is not valid text: ${source.problem}.`,
    "Nothing was written, because those bytes would be lost. Convert the file with iconv first, or change its bytes in bash.",
  );
}

async function whileEditing<T>(path: string, work: () => MaybePromise<T>, hint?: () => string): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const code = systemCode(cause);
    if (code === undefined) throw cause;
    throw new ToolFailure(
      code,
      `Could not edit file: ${path}. Error code: ${code}.`,
      code === "ENOENT" ? hint?.() : undefined,
    );
  }
}

async function report(path: string, { original, spans, approximate }: Change): Promise<ToolResult> {
  const { diffOf } = await import("./diff.ts");
  const notes = approximate.map(({ edit, line }) => {
    return `\nedits[${edit}].oldText was not exact: it matched at line ${line} with other quotes, dashes, spaces or trailing blanks.`;
  });
  const text = `Successfully replaced ${spans.length} block(s) in ${path}.${notes.join("")}`;
  const details = await diffOf(path, original, spans);
  return textResult(text, approximate.length > 0 ? { ...details, approximate } : details);
}
