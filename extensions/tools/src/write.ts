import { existsSync } from "node:fs";
import type { Tool } from "@pi-agent/kernel";
import { changeFile } from "./file-lock.ts";
import type { RefusalOf } from "./gate.ts";
import { mutate } from "./mutation-queue.ts";
import { openFile } from "./open-file.ts";
import { expandPath, locatePath, touchedPath } from "./paths.ts";
import { replaceFile } from "./replace-file.ts";
import { attempt, type MaybePromise, systemReason, ToolFailure, textResult, throwIfAborted } from "./result.ts";

/** Where `write` puts its bytes. */
export interface WriteOperations {
  /** Writes a file whole or not at all, with its parents. Fails with the codes of the system. */
  replace(path: string, bytes: Buffer): MaybePromise<void>;
}

export interface WriteOptions {
  /** Another place than this machine's disk. Paths are then only made absolute, never looked up here. */
  operations?: WriteOperations;
  /** Asked at the moment of writing on this machine. */
  refusalOf?: RefusalOf;
}

const parameters = {
  type: "object",
  properties: {
    path: { type: "string", description: "Path of the file, relative or absolute" },
    content: { type: "string", description: "The whole content of the file" },
  },
  required: ["path", "content"],
} as const;

/**
 * Makes the `write` tool. Relative paths start from `cwd`; left out, from the agent's working directory at the time of
 * the call.
 */
export function createWriteTool(cwd?: string, options: WriteOptions = {}): Tool<typeof parameters> {
  const { operations, refusalOf } = options;
  const locate = operations ? expandPath : locatePath;
  const change: typeof changeFile = operations ? (target, _signal, fn) => mutate(target, fn) : changeFile;
  return {
    name: "write",
    label: "write",
    description: "Write a file: creates it with its parent directories, or replaces all of it.",
    parameters,
    promptSnippet: "Create or overwrite files",
    promptGuidelines: ["Use write for new files and complete rewrites only."],
    effect: "write",
    touches: ({ path }, ctx) => ({ write: [touchedPath(locate, path, cwd ?? ctx.cwd)] }),
    execute: (id, { path, content }, signal, _onUpdate, ctx) =>
      attempt(signal, () => {
        assertNamesFile(path);
        const target = locate(path, cwd ?? ctx.cwd);
        return change(target, signal, async () => {
          throwIfAborted(signal);
          assertWhole(content);
          const note = operations ? "" : await endingNote(target, content);
          const bytes = Buffer.from(content);
          await whileWriting(path, () => {
            if (operations) return operations.replace(target, bytes);
            return replaceFile(target, bytes, { refusalOf: (real) => refusalOf?.(id, real) });
          });
          return textResult(`Successfully wrote to ${path}${note}`);
        });
      }),
  };
}

function assertNamesFile(path: string): void {
  if (!/\/\.{0,2}$/.test(path)) return;
  throw new ToolFailure(
    "not_a_file",
    `Could not write ${path}: this path names a folder, not a file.`,
    "Nothing was written. Give the path of a file; the folders above it are made with it.",
  );
}

/** Tells the failures of a write by the path that the model gave. */
async function whileWriting(path: string, write: () => MaybePromise<void>): Promise<void> {
  try {
    await write();
  } catch (cause) {
    const reason = systemReason(cause);
    throw reason === undefined ? cause : new ToolFailure("write_failed", `Could not write ${path}: ${reason}.`);
  }
}

/** Fails with `lone_surrogate` when a text holds half of a character, which no file can. */
export function assertWhole(text: string, name = "content"): void {
  if (text.isWellFormed()) return;
  const before = text.toWellFormed();
  let at = 0;
  while (text[at] === before[at]) at++;
  const message = `${name} holds half of a character (a lone surrogate) at index ${at}.`;
  throw new ToolFailure("lone_surrogate", message, "Nothing was written. Give the whole character.");
}

// Enough to tell a file's line endings.
const SAMPLE_BYTES = 65_536;

/** Says when a file's line endings change from CRLF to LF, because `read` shows both alike. */
async function endingNote(target: string, content: string): Promise<string> {
  if (content.includes("\r") || !content.includes("\n") || !existsSync(target)) return "";
  const sample = await sampleOf(target);
  const isCrlf = sample.includes("\r\n") && !/(?<!\r)\n/.test(sample);
  return isCrlf ? "\nIts lines ended with CRLF; now they end with LF." : "";
}

async function sampleOf(path: string): Promise<string> {
  try {
    const file = openFile(path);
    try {
      return file.kind === "file" ? (await file.read(0, SAMPLE_BYTES)).toString("latin1") : "";
    } finally {
      await file.close();
    }
  } catch {
    // Not to be read: then the write tells what is the matter, or replaces what nobody has seen.
    return "";
  }
}
