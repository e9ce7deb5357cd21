/** Problems with what registries, repositories and their servers answer, each in three parts. */
import { AgentError, isAgentError } from "@pi-agent/kernel";
import { messageOf } from "../own-file.ts";
import { toPrintable } from "../printable.ts";
import { codeOf, isDiskFault, showSource, wordIntegrity, wordUnsaved } from "./package-error.ts";

/**
 * Words what a registry, or a tarball's server, answered. Where `signal` has fired, its reason stays what it is.
 */
export function wordFetchFault(what: string, cause: unknown, signal?: AbortSignal): Error {
  if (isAgentError(cause)) return cause;
  if (signal?.aborted && signal.reason instanceof Error) return signal.reason;
  if (isDiskFault(cause)) return wordUnsaved("What was fetched", cause);
  const code = codeOf(cause);
  const status = statusOf(cause);
  const shown = toPrintable(what);
  if (code === "ENOTCACHED") {
    return new AgentError("package_unreachable", `${shown} is not in the cache, and nothing may be fetched now.`, {
      hint: "Leave out --offline, or install it while there is a network.",
      cause,
    });
  }
  if (status === 404 || NOT_FOUND.has(code)) {
    return new AgentError("package_not_found", `${shown} was not found: ${whyMissing(code, cause)}.`, {
      hint: "Check the name and the version. For a private one, see that your .npmrc names its registry.",
      cause,
    });
  }
  if (status === 401 || status === 403) {
    return new AgentError("package_denied", `The registry does not give out ${shown} to you (${status}).`, {
      hint: "Log in to it: npm login, or a token for it in your .npmrc.",
      cause,
    });
  }
  if (INTEGRITY.has(code) || /^Z_|^TAR_/.test(code)) return wordIntegrity(what, wordBytes(code, cause));
  return new AgentError("package_unreachable", `${shown} could not be fetched: ${wordNetwork(code, status, cause)}.`, {
    hint: "Try again later. What is installed still works; --offline uses nothing else.",
    cause,
  });
}

const NOT_FOUND = new Set(["E404", "ETARGET", "ENOVERSIONS"]);
const INTEGRITY = new Set(["EINTEGRITY", "EBADSIZE", "ERR_BUFFER_TOO_LARGE"]);

function statusOf(cause: unknown): number | undefined {
  return cause instanceof Error && "statusCode" in cause && typeof cause.statusCode === "number"
    ? cause.statusCode
    : undefined;
}

function whyMissing(code: string, cause: unknown): string {
  if (code !== "ETARGET" && code !== "ENOVERSIONS") return "the registry does not have it";
  return toPrintable(messageOf(cause).split("\n")[0] ?? "").replace(/\.$/, "");
}

function wordBytes(code: string, cause: unknown): string {
  if (code === "EINTEGRITY") return "its bytes are not those that its integrity promises";
  return `its tarball is damaged (${toPrintable(messageOf(cause))})`;
}

function wordNetwork(code: string, status: number | undefined, cause: unknown): string {
  if (status !== undefined) return `the registry answered ${status}`;
  if (TIMEOUTS.has(code)) return "there was no answer in time";
  return toPrintable(messageOf(cause).split("\n")[0] ?? "").replace(/\.$/, "");
}

const TIMEOUTS = new Set([
  "ERR_SOCKET_TIMEOUT",
  "ETIMEDOUT",
  "EIDLETIMEOUT",
  "ECONNECTIONTIMEOUT",
  "FETCH_ERROR_TIMEOUT",
]);

/** Words why the person's npm configuration could not be read. */
export function wordUnreadableConfig(cause: unknown): AgentError {
  return new AgentError("package_config", `Your npm configuration cannot be used: ${toPrintable(messageOf(cause))}.`, {
    hint: "Mend your .npmrc: npm config list shows which files count.",
    cause,
  });
}

const HOUR_MS = 3_600_000;

/** Words that a version is younger than the person wants, or may be. */
export function wordTooYoung(what: string, why: string, minimumMs: number): AgentError {
  const wanted = `${Math.round(minimumMs / HOUR_MS)} hours`;
  return new AgentError(
    "package_too_young",
    `${toPrintable(what)} was refused: ${why}, and minimumReleaseAge asks for ${wanted}.`,
    {
      hint: "Name an older version, wait, or change minimumReleaseAge in your settings.",
    },
  );
}

/** Words what git said about a repository: its first lines, since advice for those who clone by hand follows. */
export function wordGit(repository: string, why: string, hint?: string): AgentError {
  const lines = why.split(/\r?\n/).filter((line) => line.trim() !== "");
  const said = lines.slice(0, 3).map(showSource).join(" / ");
  return new AgentError("package_unreachable", `${showSource(repository)} could not be fetched: ${said}.`, {
    hint: hint ?? "Try git ls-remote with its address yourself: git must reach it without asking for a password.",
  });
}

/** Words that a repository has not what was asked for, or has two of it. */
export function wordNoRef(
  repository: string,
  why: string,
  hint = "Look at its branches and tags, then name one.",
): AgentError {
  return new AgentError("package_not_found", `${showSource(repository)}: ${toPrintable(why)}.`, { hint });
}
