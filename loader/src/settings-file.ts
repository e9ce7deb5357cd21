import { chmod, mkdir, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { AgentError, type Json } from "@pi-agent/kernel";
import { messageOf, type OwnFile, readOwnFile } from "./own-file.ts";

// Pi holds this lock for a few milliseconds: 2 s of asking are plenty, and 10 s make it a dead process's.
const LOCK = {
  realpath: false,
  stale: 10_000,
  retries: { retries: 100, factor: 1, minTimeout: 20, maxTimeout: 20 },
};

/**
 * Changes one field of a settings file under the lock that Pi takes, by an atomic replacement that keeps comments,
 * other fields, mode and link; `undefined` takes the field out. Answers the file as it is then.
 * Fails with `settings_broken` and `settings_unwritable`.
 */
export async function writeSetting(path: string, keys: string[], value: Json | undefined): Promise<OwnFile> {
  const lockfile = await import("proper-lockfile");
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const lost: { cause?: Error } = {};
  const release = await lockfile
    .lock(path, { ...LOCK, onCompromised: (cause) => void (lost.cause = cause) })
    .catch((cause: unknown) => Promise.reject(unwritable(path, cause)));
  try {
    const file = readOwnFile(path);
    if (file.problem) throw settingsBroken(file);
    const text = await editJson(file.text, keys, value);
    if (lost.cause) throw lost.cause;
    await replaceFile(path, text);
    return readOwnFile(path);
  } catch (cause) {
    throw cause instanceof AgentError ? cause : unwritable(path, cause);
  } finally {
    if (!lost.cause) await release();
  }
}

/** Says that a file with a fault is not written to. */
function settingsBroken({ path, problem }: OwnFile): AgentError {
  const place = problem?.line ? `:${problem.line}:${problem.column}` : "";
  return new AgentError("settings_broken", `Nothing was written to ${path}${place}. ${problem?.message ?? ""}`, {
    hint: "Mend the file there, then try again.",
  });
}

async function editJson(text: string, keys: string[], value: Json | undefined): Promise<string> {
  const { applyEdits, modify } = await import("jsonc-parser");
  const hasMark = text.charCodeAt(0) === 0xfeff;
  const body = (hasMark ? text.slice(1) : text) || "{}";
  const eol = body.includes("\r\n") ? "\r\n" : "\n";
  const formattingOptions = { insertSpaces: true, tabSize: 2, eol };
  return (hasMark ? "\uFEFF" : "") + applyEdits(body, modify(body, keys, value, { formattingOptions }));
}

async function replaceFile(path: string, text: string): Promise<void> {
  const target = await realpath(path).catch(() => path);
  const mode = await stat(target).then(
    (stats) => stats.mode & 0o777,
    () => 0o600,
  );
  const draft = `${target}.${process.pid}.${crypto.randomUUID().slice(0, 8)}.tmp`;
  try {
    await writeFile(draft, text, { mode, flag: "wx" });
    await chmod(draft, mode);
    await rename(draft, target);
  } catch (cause) {
    await rm(draft, { force: true });
    throw cause;
  }
}

function unwritable(path: string, cause: unknown): AgentError {
  const isLocked = cause instanceof Error && "code" in cause && cause.code === "ELOCKED";
  const why = isLocked ? "another process is holding its lock" : messageOf(cause);
  return new AgentError("settings_unwritable", `${path} could not be written: ${why}.`, {
    hint: isLocked
      ? `Try again; if no other pi is running, remove ${path}.lock.`
      : "See that the folder is there, is yours, and has space left.",
    cause,
  });
}
