import { spawn } from "node:child_process";

export interface CommandResult {
  code: number | null;
  stdout: string;
  stderr: string;
  isLate: boolean;
}

export interface CommandOptions {
  cwd: string;
  env: Readonly<Record<string, string>>;
  timeoutMs: number;
  /** What is typed at once. */
  first?: string;
  /** Gets what is printed so far; what it answers is typed, and `null` ends the input. Left out: nothing to read. */
  type?: (printed: string) => string | null | undefined;
}

/** Runs a program to its end, or kills it with its group when the time is up. */
export async function runCommand(command: readonly string[], options: CommandOptions): Promise<CommandResult> {
  const { cwd, env, timeoutMs, first, type } = options;
  const [file = "", ...args] = command;
  const child = spawn(file, args, { cwd, env, detached: true, stdio: [type ? "pipe" : "ignore", "pipe", "pipe"] });
  const result: CommandResult = { code: null, stdout: "", stderr: "", isLate: false };
  // Who does not read what is typed may close the pipe.
  child.stdin?.on("error", () => {});
  if (first !== undefined) child.stdin?.write(first);
  child.stdout?.setEncoding("utf8").on("data", (part: string) => {
    result.stdout += part;
    const typed = type?.(result.stdout);
    if (typed === null) child.stdin?.end();
    else if (typed !== undefined) child.stdin?.write(typed);
  });
  child.stderr?.setEncoding("utf8").on("data", (part: string) => {
    result.stderr += part;
  });
  const timer = setTimeout(() => {
    result.isLate = true;
    killGroup(child.pid);
  }, timeoutMs);
  try {
    await new Promise<void>((resolve, reject) => child.once("error", reject).once("close", () => resolve()));
  } finally {
    clearTimeout(timer);
    killGroup(child.pid);
  }
  return { ...result, code: child.exitCode };
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // All of it has ended.
  }
}
