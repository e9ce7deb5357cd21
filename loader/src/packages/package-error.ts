/** Problems with packages, each in three parts: what happened and why, and what to do. */
import { AgentError, isAgentError } from "@pi-agent/kernel";
import { Refusal } from "../file-view.ts";
import type { FileProblem } from "../jsonc.ts";
import { messageOf } from "../own-file.ts";
import { toPrintable } from "../printable.ts";

/** Words why a source is not one that can be installed. The text is shown without what may be a credential in it. */
export function wordSource(text: string, why: string, hint: string): AgentError {
  return new AgentError("package_source", `"${showSource(text)}" is no package source: ${why}.`, { hint });
}

/** Makes a source that somebody wrote fit to be shown: nothing before the `@` of an address, nothing that hides. */
export function showSource(text: string): string {
  // A password may hold an `@` itself.
  const bare = text.replace(/(\/\/)[^/\s]*@/g, "$1").replace(/^(git:)[^\s/@:]+:[^\s/]*@/i, "$1");
  return toPrintable(bare).slice(0, 300);
}

/** Words why a package is not taken into the store, whoever asks. */
export function wordUnsafe(name: string, why: string): AgentError {
  return new AgentError("package_unsafe", `${toPrintable(name)} was refused: ${why}.`, {
    hint: "Nothing of it was installed. Tell its author, or install another version.",
  });
}

/** Words that bytes are not those that were promised. */
export function wordIntegrity(name: string, why: string): AgentError {
  return new AgentError("package_integrity", `${toPrintable(name)} was refused: ${why}.`, {
    hint: "Nothing was installed. Try again; if it stays, the registry or the lock file is not to be trusted.",
  });
}

/** Words why the store, the lock file or the settings could not be written; other errors that are worded stay. */
export function wordUnsaved(what: string, cause: unknown): AgentError {
  if (isAgentError(cause)) return cause;
  const code = codeOf(cause);
  const why = UNSAVED[code] ?? messageOf(cause);
  return new AgentError("package_not_saved", `${what} could not be written: ${why}.`, {
    hint: "What was installed before is as it was. Make room or make the folder yours, then try again.",
    cause,
  });
}

const UNSAVED: Record<string, string> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the quota of the disk is used up",
  EROFS: "the file system is read-only",
  EACCES: "it may not be written",
  EPERM: "it may not be written",
};

/** Tells whether an error is that of a disk. */
export function isDiskFault(cause: unknown): boolean {
  const isConnecting = cause instanceof Error && "syscall" in cause && cause.syscall === "connect";
  return Object.hasOwn(UNSAVED, codeOf(cause)) && !isConnecting;
}

/** The code of a system's or a library's error; empty where there is none. */
export function codeOf(cause: unknown): string {
  return cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "";
}

/** Words that another process took over while this one stood still. */
export function wordLocked(store: string, cause: unknown): AgentError {
  return new AgentError(
    "package_not_saved",
    `${store} is being changed by another pi: this one was held up for too long.`,
    {
      hint: "What was installed before is as it was. Try again.",
      cause,
    },
  );
}

/** Words that a settings file cannot be read, so that nothing is declared in it. */
export function wordSettings({ path, line, message, hint }: FileProblem): AgentError {
  return new AgentError("package_settings", `${path}${line === undefined ? "" : `:${line}`}: ${message}`, { hint });
}

/** Words that a script which was allowed to run failed. */
export function wordScript(
  name: string,
  { event, command, said }: { event: string; command: string; said: string },
): AgentError {
  const shown = toPrintable(said.replace(/\n/g, " / ")) || "it said nothing";
  return new AgentError(
    "package_script",
    `The ${event} script of ${name} (${toPrintable(command)}) failed: ${shown}.`,
    {
      hint: "Nothing was installed. Leave it out of --allow-scripts to install without it.",
    },
  );
}

/** Words that a file which was named as a package cannot be read. */
export function wordNoFile(path: string, cause: unknown): AgentError {
  const isMissing = cause === undefined || codeOf(cause) === "ENOENT";
  const why = isMissing ? "there is nothing" : cause instanceof Refusal ? `it ${cause.message}` : messageOf(cause);
  return new AgentError("package_not_found", `${toPrintable(path)} could not be read: ${why}.`, {
    hint: "Check the path. A folder is loaded where it is, and has to stay there.",
    cause,
  });
}

/** Words that two packages have one name. */
export function wordConflict(name: string, other: string): AgentError {
  return new AgentError("package_conflict", `${name} is already installed, from ${toPrintable(other)}.`, {
    hint: `One package is there once: pi remove ${toPrintable(other)}, then install this one.`,
  });
}

/** Words that a folder has nothing that could be loaded. */
export function wordNothing(path: string): AgentError {
  return new AgentError("package_empty", `There is nothing to load in ${toPrintable(path)}.`, {
    hint: "A package has a pi key in its package.json, or folders extensions, skills, prompts or themes.",
  });
}

/** Words where settings and lock differ. */
export function wordDrift(settings: string, differences: readonly string[]): AgentError {
  const message = `${settings} and the lock file do not name the same: ${toPrintable(differences.join("; "))}.`;
  return new AgentError("package_drift", message, {
    hint: "Nothing was installed. Without --frozen, pi install locks what is declared.",
  });
}

/** Words that a project's lock names scripts that the person has not allowed. */
export function wordForeignScripts(name: string, scripts: readonly string[]): AgentError {
  const shown = toPrintable(scripts.join(", "));
  return new AgentError("package_script", `The lock file wants scripts of ${shown} to run for ${name}.`, {
    hint: `Nothing was installed. Look at them first, then allow them: --allow-scripts=${shown.replaceAll(", ", ",")}`,
  });
}
