import { constants } from "node:os";
import type { ExecOptions, ExecResult } from "@pi-agent/kernel";
import { isBareName, type Programs } from "./programs.ts";

// From Pi: both streams together, and how long a program may take to end when it is asked to.
const MAX_BUFFER = 256 << 20;
const KILL_AFTER_MS = 5_000;
// What a program that has ended still holds open is not waited for longer than this.
const DRAIN_MS = 1_000;

const NOT_STARTED: ExecResult = {
  stdout: "",
  stderr: "It was aborted before it started.",
  code: 1,
  killed: true,
  truncated: false,
};

type Run = ExecOptions & { cwd: string; env?: NodeJS.ProcessEnv };

/**
 * Runs a program for an extension, as `exec` does: a bare name is looked for outside of the project, and while that is
 * not trusted, git that only reads runs nothing of it.
 */
export async function execOutside(
  command: string,
  args: readonly string[],
  options: Run & { env: NodeJS.ProcessEnv; programs: Programs; isTrusted: boolean },
): Promise<ExecResult> {
  const { programs, isTrusted, ...given } = options;
  const program = isBareName(command) ? programs.find(command) : command;
  if (program === undefined) {
    return { ...NOT_STARTED, stderr: `There is no program ${command} on PATH outside of the project.`, killed: false };
  }
  if (isTrusted || command !== "git") return exec(program, args, given);
  const { tameGit } = await import("./tame-git.ts");
  const tamed = await tameGit(args, given.env, (more, env) => exec(program, more, { ...given, env }));
  return exec(program, tamed?.args ?? args, { ...given, env: tamed?.env ?? given.env });
}

/**
 * Runs a program: no shell, no standard input. Never rejects: a program that cannot be started is code 1 with the reason
 * in `stderr`; one that a signal ended is 128 and the signal's number. `env` is by default the process's.
 */
export async function exec(command: string, args: readonly string[], options: Run): Promise<ExecResult> {
  const { signal, timeout, cwd, env, maxBuffer = MAX_BUFFER } = options;
  const { spawn } = await import("node:child_process");
  if (signal?.aborted) return NOT_STARTED;
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], windowsHide: true });
    const chunks = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
    const timers: NodeJS.Timeout[] = [];
    let size = 0;
    let killed = false;
    let truncated = false;

    const kill = () => {
      if (killed) return;
      killed = true;
      child.kill("SIGTERM");
      timers.push(setTimeout(() => child.kill("SIGKILL"), KILL_AFTER_MS));
    };
    const collect = (name: "stdout" | "stderr") => (chunk: Buffer) => {
      const room = maxBuffer - size;
      size += chunk.length;
      if (chunk.length > room) {
        truncated = true;
        kill();
      }
      if (room > 0) chunks[name].push(chunk.subarray(0, room));
    };
    const end = (code: number, message?: string) => {
      for (const timer of timers) clearTimeout(timer);
      signal?.removeEventListener("abort", kill);
      const text = (name: "stdout" | "stderr") => Buffer.concat(chunks[name]).toString("utf8");
      const failed = (killed || truncated) && code === 0 ? 1 : code;
      resolve({ stdout: text("stdout"), stderr: message ?? text("stderr"), code: failed, killed, truncated });
    };

    child.stdout.on("data", collect("stdout"));
    child.stderr.on("data", collect("stderr"));
    child.on("error", (error) => end(1, error.message));
    child.on("exit", () => {
      timers.push(setTimeout(() => [child.stdout, child.stderr].forEach((stream) => void stream.destroy()), DRAIN_MS));
    });
    child.on("close", (code, name) => end(code ?? 128 + (name ? constants.signals[name] : 0)));
    signal?.addEventListener("abort", kill, { once: true });
    if (timeout !== undefined && timeout > 0) timers.push(setTimeout(kill, timeout));
  });
}
