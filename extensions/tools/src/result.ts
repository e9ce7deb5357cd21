import type { Json, ToolResult } from "@pi-agent/kernel";

/** What a tool could not do, told to the model: what happened and why, then what to do. */
export class ToolFailure extends Error {
  readonly code: string;
  readonly hint: string | undefined;

  constructor(code: string, message: string, hint?: string) {
    super(message);
    this.name = "ToolFailure";
    this.code = code;
    this.hint = hint;
  }
}

export type MaybePromise<T> = T | Promise<T>;

export function textResult(text: string, details?: Json): ToolResult {
  return { content: [{ type: "text", text }], details };
}

export function errorResult(text: string, details?: Json): ToolResult {
  return { content: [{ type: "text", text }], details, isError: true };
}

/**
 * Runs the work of a call. A failure that has a reason becomes an error result; anything else is thrown on, because it
 * is a fault of the tool.
 */
export async function attempt(
  signal: AbortSignal | undefined,
  work: () => MaybePromise<ToolResult>,
): Promise<ToolResult> {
  try {
    throwIfAborted(signal);
    return await work();
  } catch (thrown) {
    if (signal?.aborted) return errorResult("Operation aborted");
    const failure = asFailure(thrown);
    if (!failure) throw thrown;
    return errorResult(failure.hint ? `${failure.message}\n${failure.hint}` : failure.message);
  }
}

export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new ToolFailure("aborted", "Operation aborted");
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "operation not permitted",
  EROFS: "the file system is read-only",
  ENOSPC: "no space is left on the device",
  EDQUOT: "the disk quota is used up",
  ENOENT: "no such file or directory",
  ENOTDIR: "a part of the path is a file, not a directory",
  EEXIST: "a part of the path is a file, not a directory",
  EISDIR: "it is a directory",
  ELOOP: "its symbolic links lead in a circle",
  ENAMETOOLONG: "the name is too long",
  EMFILE: "too many files are open",
  ENXIO: "it is a socket or device that nobody serves",
  EAGAIN: "it has nothing to read now",
  ERR_INVALID_ARG_VALUE: "the path holds a NUL character",
};

/** Tells a system error in words; `undefined` for an error that the system did not make. */
export function systemReason(thrown: unknown): string | undefined {
  const code = errorCode(thrown);
  if (code === undefined || thrown instanceof ToolFailure) return undefined;
  const reason = REASONS[code];
  if (reason) return `${reason} (${code})`;
  return "syscall" in (thrown as Error) ? (thrown as Error).message : undefined;
}

/** The code of an error that the system made. */
export function systemCode(thrown: unknown): string | undefined {
  return systemReason(thrown) === undefined ? undefined : errorCode(thrown);
}

export function errorCode(thrown: unknown): string | undefined {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  return typeof code === "string" ? code : undefined;
}

function asFailure(thrown: unknown): ToolFailure | undefined {
  if (thrown instanceof ToolFailure) return thrown;
  const reason = systemReason(thrown);
  if (reason === undefined) return undefined;
  const { path } = thrown as NodeJS.ErrnoException;
  return new ToolFailure(errorCode(thrown)!, path ? `Cannot use ${path}: ${reason}.` : `Failed: ${reason}.`);
}
