/**
 * Runs a shell command on this machine.
 *
 *   spawn ─► output … ─► shell exits ─► both pipes end, or 100 ms of silence, or 1 s ─► over
 *      └► time is up, or abort ─► its whole tree is ended ─► over
 *
 * 1. The command leads a session of its own: signals to its group never reach the agent, and it has no terminal.
 * 2. What outlives the shell, in its group or at its pipes, is named and left running; who is told by `onLeft` ends it.
 *    Its output is read on and dropped, because a closed pipe would end it. A daemon that left both is not followed.
 * 3. Nothing of it keeps the agent's process alive; what still runs when that process exits is killed.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Socket } from "node:net";
import { constants } from "node:os";
import type { Readable } from "node:stream";
import { guardExit } from "./exit-guard.ts";
import { endTree, type FoundProcess, findTree, hasGroup, type ProcessRoot } from "./process-tree.ts";
import { defaultShell, explainStart } from "./shell-start.ts";

export interface CommandRequest {
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** This command's part of `PI_COMMAND_MARK`. */
  mark: string;
  /** Left out: bash, else sh. */
  shell?: string;
  /** Finds programs that no project brought. */
  findProgram?: (name: string) => string | undefined;
  /** Left out: as long as it takes. */
  timeoutMs?: number;
  signal?: AbortSignal;
  /** Called for every piece of output; the bytes are the callee's to keep. */
  onOutput: (bytes: Uint8Array, stream: "stdout" | "stderr") => void;
  /** Called when something of the command outlives its shell. */
  onLeft?: (root: ProcessRoot) => void;
}

export interface CommandExit {
  /** As a shell tells it: 128 and the number of the signal that ended it. `null` when its end was not awaited. */
  code: number | null;
  /** The signal that ended it, if one did. */
  signal?: string;
  endedBy?: "timeout" | "abort";
  /** Running on in the background. */
  background: FoundProcess[];
  /** Could not be ended. */
  survivors: FoundProcess[];
}

type Shell = ChildProcessByStdio<null, Readable, Readable>;

/** Silence after which an open pipe is taken to be a background process's. */
const QUIET_MS = 100;
/** How long the output of what outlives the shell is waited for at most. */
const MAX_AFTER_EXIT_MS = 1_000;

/** Runs a command to its end. Fails with `no_directory`, `no_shell`, `invalid_command`, `no_process`. */
export async function runCommand(command: string, request: CommandRequest): Promise<CommandExit> {
  const shell = request.shell ?? defaultShell(request.findProgram);
  try {
    const child = spawn(shell, ["-c", command], {
      cwd: request.cwd,
      env: request.env,
      detached: process.platform !== "win32",
      stdio: ["ignore", "pipe", "pipe"],
      windowsHide: true,
    });
    return await attend(child, request);
  } catch (cause) {
    throw explainStart(cause, { shell, command, cwd: request.cwd });
  }
}

async function attend(child: Shell, request: CommandRequest): Promise<CommandExit> {
  // Without a pid it never started, and the wait tells why.
  const root = { pid: child.pid ?? 0, mark: request.mark };
  const unguard = child.pid === undefined ? () => {} : guardExit(root);
  const endedBy = await untilOver(child, request).catch((thrown: unknown) => {
    unguard();
    throw thrown;
  });
  const survivors = endedBy ? await endTree(root) : [];
  unguard();
  if (endedBy) await untilClosed(child);
  const isLeft = !endedBy && (hasGroup(root.pid) || !isClosed(child));
  const background = isLeft ? findTree(root) : [];
  if (background.length > 0) request.onLeft?.(root);
  letGo(child);
  return { ...exitOf(child), endedBy, background, survivors };
}

async function untilOver(child: Shell, request: CommandRequest): Promise<"timeout" | "abort" | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<"timeout" | "abort" | undefined>();
  const { signal, timeoutMs, onOutput } = request;
  const over = () => resolve(undefined);
  const onAbort = () => resolve("abort");
  const onTimeout = () => resolve("timeout");
  const timeout = timeoutMs === undefined ? undefined : setTimeout(onTimeout, timeoutMs);
  let quiet: NodeJS.Timeout | undefined;
  let longest: NodeJS.Timeout | undefined;
  for (const name of ["stdout", "stderr"] as const) {
    child[name].on("error", over).on("data", (bytes: Buffer) => {
      onOutput(bytes, name);
      quiet?.refresh();
    });
  }
  child.on("error", reject).once("close", over);
  const onExit = () => {
    clearTimeout(timeout);
    quiet = setTimeout(over, QUIET_MS);
    longest = setTimeout(over, MAX_AFTER_EXIT_MS);
  };
  child.once("exit", onExit);
  signal?.addEventListener("abort", onAbort);
  try {
    return await promise;
  } finally {
    // A command that was aborted exits after this wait.
    child.off("exit", onExit);
    for (const timer of [timeout, quiet, longest]) clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}

/** Waits a moment for the last output of a command whose processes are gone. */
async function untilClosed(child: Shell): Promise<void> {
  if (isClosed(child)) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, QUIET_MS);
  child.once("close", resolve);
  await promise;
  clearTimeout(timer);
}

function isClosed({ stdout, stderr }: Shell): boolean {
  return stdout.closed && stderr.closed;
}

/** Reads on without keeping anything, and without keeping this process alive. */
function letGo(child: Shell): void {
  for (const stream of [child.stdout, child.stderr]) {
    stream.removeAllListeners("data").resume();
    (stream as Socket).unref();
  }
  child.unref();
}

function exitOf({ exitCode, signalCode }: Shell): { code: number | null; signal?: string } {
  if (signalCode === null) return { code: exitCode };
  return { code: 128 + constants.signals[signalCode], signal: signalCode };
}
