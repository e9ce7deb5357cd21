import { mkdir, realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { AgentError, type Json, type JsonObject } from "@pi-agent/kernel";
import { isLocked, removeDrafts, replaceFile, withLock } from "./locked-file.ts";
import { messageOf, type OwnFile, readOwnFile } from "./own-file.ts";

// Pi holds this lock for a few milliseconds.
const WAIT_MS = 2_000;

/** A field or a place in a list, and its new value: `undefined` takes it out, `isNew` puts it into a list there. */
export interface SettingEdit {
  keys: (string | number)[];
  value: Json | undefined;
  isNew?: boolean;
}

/** Changes one field of a settings file as `editSettings` does. */
export function writeSetting(path: string, keys: string[], value: Json | undefined): Promise<OwnFile> {
  return editSettings(path, () => [{ keys, value }]);
}

/**
 * Changes a settings file under the lock that Pi takes, by an atomic replacement that keeps comments, other fields, mode
 * and link. `edit` gets what the file says then, and answers what to do, in this order; nothing leaves the file as it is.
 * Answers the file as it is afterwards. Fails with `settings_broken` and `settings_unwritable`.
 */
export async function editSettings(path: string, edit: (values: JsonObject) => SettingEdit[]): Promise<OwnFile> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    return await withLock(path, WAIT_MS, async (assertHeld) => {
      const file = readOwnFile(path);
      if (file.problem) throw settingsBroken(file);
      const edits = edit(file.values);
      if (edits.length === 0) return file;
      const target = await realpath(path).catch(() => path);
      await removeDrafts(target);
      await replaceFile(target, await editJson(file.text, edits), { mode: await modeOf(target), assertHeld });
      return readOwnFile(path);
    });
  } catch (cause) {
    throw cause instanceof AgentError ? cause : unwritable(path, cause);
  }
}

/** Says that a file with a fault is not written to. */
function settingsBroken({ path, problem }: OwnFile): AgentError {
  const place = problem?.line ? `:${problem.line}:${problem.column}` : "";
  return new AgentError("settings_broken", `Nothing was written to ${path}${place}. ${problem?.message ?? ""}`, {
    hint: "Mend the file there, then try again.",
  });
}

async function editJson(text: string, edits: readonly SettingEdit[]): Promise<string> {
  const { applyEdits, modify } = await import("jsonc-parser");
  const hasMark = text.charCodeAt(0) === 0xfeff;
  const body = (hasMark ? text.slice(1) : text) || "{}";
  const eol = body.includes("\r\n") ? "\r\n" : "\n";
  const formattingOptions = { insertSpaces: true, tabSize: 2, eol };
  const change = (before: string, { keys, value, isNew: isArrayInsertion }: SettingEdit) =>
    applyEdits(before, modify(before, keys, value, { formattingOptions, isArrayInsertion }));
  return (hasMark ? "\uFEFF" : "") + edits.reduce(change, body);
}

function modeOf(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ mode }) => mode & 0o777,
    () => undefined,
  );
}

function unwritable(path: string, cause: unknown): AgentError {
  const isHeld = isLocked(cause);
  const why = isHeld ? "another process is holding its lock" : messageOf(cause);
  return new AgentError("settings_unwritable", `${path} could not be written: ${why}.`, {
    hint: isHeld
      ? `Try again; if no other pi is running, remove ${path}.lock.`
      : "See that the folder is there, is yours, and has space left.",
    cause,
  });
}
