import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import type { Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { createOutputWatch, type OutputWatch } from "./output-watch.ts";
import { childProcessesOf, type ProcessInfo, processesWithVariable } from "./processes.ts";

/** The built command that tests run; PI_TEST_BIN names another build, such as an installed one. */
export const PI_BIN: string =
  process.env.PI_TEST_BIN ?? fileURLToPath(new URL("../../../cli/bin/pi.js", import.meta.url));

export interface RunPiOptions {
  cwd: string;
  home: string;
  /** Beside PATH, HOME, TMPDIR, LANG and NODE_COMPILE_CACHE; nothing else is inherited. */
  env?: Record<string, string>;
  /** What it reads, to the end. Left out: /dev/null. */
  stdin?: string | Uint8Array;
  /** A pipe that stays open after `stdin`, or silent without it. */
  holdStdin?: boolean;
  /** Kills it with all it started. */
  signal?: AbortSignal;
  /** When it is killed with all it started, and `done` fails. Default 30,000. */
  timeoutMs?: number;
  /** What runs instead of the built command. */
  bin?: string;
  /** A program that starts it, such as `sh -c 'exec "$@" > /dev/full' sh`: gets the command as its last arguments. */
  via?: readonly [string, ...string[]];
}

export interface PiResult {
  /** `null` when a signal ended it. */
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface PiRun {
  pid: number;
  /** Absent unless it is held open. */
  stdin: Writable | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Resolves when it has ended and its output is read; fails only on a timeout. */
  done: Promise<PiResult>;
  kill(signal?: NodeJS.Signals): void;
  /** Resolves with the match; fails when the process ends without it. */
  waitForStdout: OutputWatch["waitFor"];
  waitForStderr: OutputWatch["waitFor"];
  /** What it started and is still alive, also after its own end. */
  leftovers(): ProcessInfo[];
  /** Kills it and all that it started; answers what was left beside itself. */
  reap(): ProcessInfo[];
  /** Closes the reading end of its standard output, as `| head` does. */
  closeStdout(): void;
}

// Inherited by everything that a run starts, so that nothing can hide by leaving its process group.
const RUN_VARIABLE = "PI_TEST_RUN";
const DEFAULT_TIMEOUT_MS = 30_000;

const living = new Set<() => void>();
process.once("exit", () => {
  for (const reap of living) reap();
});

/** Starts the built command with a scrubbed environment and collects what it says. Never leaves a process behind. */
export function runPi(args: readonly string[], options: RunPiOptions): PiRun {
  const marker = randomUUID();
  const { via, bin = PI_BIN } = options;
  const [file, ...rest]: [string, ...string[]] = via ? [...via, process.execPath] : [process.execPath];
  const child = spawn(file, [...rest, bin, ...args], {
    cwd: options.cwd,
    env: createEnvironment(options, marker),
    stdio: [options.stdin === undefined && !options.holdStdin ? "ignore" : "pipe", "pipe", "pipe"],
    detached: true,
  });
  const stdout = createOutputWatch("stdout", child.stdout);
  const stderr = createOutputWatch("stderr", child.stderr);
  feed(child, options);
  const leftovers = () => processesWithVariable(RUN_VARIABLE, marker).filter(({ pid }) => pid !== child.pid);
  const isAlive = () => child.exitCode === null && child.signalCode === null;
  const reap = () => {
    const { pid } = child;
    const below = pid !== undefined && isAlive() ? childProcessesOf(pid) : [];
    const left = leftovers();
    for (const info of [...below, ...left]) killQuietly(info.pid);
    if (pid !== undefined && isAlive()) killQuietly(pid);
    return left;
  };
  living.add(reap);
  return {
    pid: child.pid ?? 0,
    stdin: options.holdStdin ? child.stdin : null,
    get stdout() {
      return stdout.text;
    },
    get stderr() {
      return stderr.text;
    },
    done: waitForEnd({ child, stdout, stderr, reap, options }),
    kill: (signal = "SIGTERM") => void child.kill(signal),
    waitForStdout: stdout.waitFor,
    waitForStderr: stderr.waitFor,
    leftovers,
    reap,
    closeStdout: () => child.stdout?.destroy(),
  };
}

function createEnvironment(options: RunPiOptions, marker: string): Record<string, string> {
  const { PATH = "/usr/bin:/bin", TMPDIR = "/tmp", LANG = "C.UTF-8", NODE_COMPILE_CACHE } = process.env;
  const inherited = { PATH, TMPDIR, LANG, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) };
  return { ...inherited, HOME: options.home, ...options.env, [RUN_VARIABLE]: marker };
}

/** A process that does not read its input closes the pipe; that is its right. */
function feed(child: ChildProcess, { stdin, holdStdin }: RunPiOptions): void {
  child.stdin?.on("error", () => undefined);
  if (stdin !== undefined) child.stdin?.write(stdin);
  if (!holdStdin) child.stdin?.end();
}

async function waitForEnd(run: {
  child: ChildProcess;
  stdout: OutputWatch;
  stderr: OutputWatch;
  reap: () => void;
  options: RunPiOptions;
}): Promise<PiResult> {
  const { child, stdout, stderr, reap, options } = run;
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    reap();
  }, timeoutMs);
  options.signal?.addEventListener("abort", reap, { once: true });
  if (options.signal?.aborted) reap();
  const ended = Promise.withResolvers<void>();
  child.once("error", ended.reject);
  child.once("close", () => ended.resolve());
  try {
    await ended.promise;
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener("abort", reap);
    living.delete(reap);
  }
  const result = { code: child.exitCode, signal: child.signalCode, stdout: stdout.text, stderr: stderr.text };
  if (!isLate) return result;
  throw new Error(`pi did not end within ${timeoutMs} ms.\nstdout:\n${result.stdout}\nstderr:\n${result.stderr}`);
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended by itself in the meantime.
  }
}
