import { existsSync, statSync } from "node:fs";
import { errorCode, systemReason, ToolFailure } from "./result.ts";

const isWindows = process.platform === "win32";
const BASH_PLACES = isWindows
  ? ["C:\\Program Files\\Git\\bin\\bash.exe", "C:\\Program Files (x86)\\Git\\bin\\bash.exe"]
  : ["/bin/bash"];

const SH = isWindows ? "C:\\Program Files\\Git\\usr\\bin\\sh.exe" : "/bin/sh";

/** Finds bash where it usually is, then with what finds programs; else `sh`. Never by a bare name: a project may have one. */
export function defaultShell(findProgram?: (name: string) => string | undefined): string {
  return BASH_PLACES.find(existsSync) ?? findProgram?.("bash") ?? SH;
}

/** Says why a shell could not be started; what is no start failure is answered as it is. */
export function explainStart(cause: unknown, about: { shell: string; command: string; cwd: string }): unknown {
  const code = errorCode(cause);
  if (code === undefined || cause instanceof ToolFailure) return cause;
  if (code === "ERR_INVALID_ARG_VALUE") {
    return new ToolFailure("invalid_command", "The command holds a NUL character, which no shell takes.");
  }
  if (code === "E2BIG") {
    const bytes = Buffer.byteLength(about.command);
    const hint = "Write it into a file with write, and run that file.";
    return new ToolFailure("invalid_command", `The command is too long for the system: ${bytes} bytes.`, hint);
  }
  const directory = problemOfDirectory(about.cwd);
  if (directory) return directory;
  if (code === "ENOENT" || code === "EACCES") {
    const hint = "Set shellPath in the settings to a shell that is there.";
    return new ToolFailure("no_shell", `Shell not found: ${about.shell} (${code})`, hint);
  }
  return new ToolFailure("no_process", `The shell could not be started: ${systemReason(cause) ?? String(cause)}`);
}

function problemOfDirectory(cwd: string): ToolFailure | undefined {
  const hint = "Files can still be reached by absolute paths; commands work again when the directory is back.";
  const stats = statSync(cwd, { throwIfNoEntry: false });
  if (!stats) return new ToolFailure("no_directory", `Working directory does not exist: ${cwd}`, hint);
  if (!stats.isDirectory())
    return new ToolFailure("no_directory", `Working directory is not a directory: ${cwd}`, hint);
  try {
    // Looking at `.` takes the right to enter.
    statSync(`${cwd}/.`);
    return undefined;
  } catch {
    const message = `Working directory cannot be entered: ${cwd} (permission denied)`;
    return new ToolFailure("no_directory", message, hint);
  }
}
