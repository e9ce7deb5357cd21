/** A real terminal that a test types in and reads from. Needs tmux. */
import { execFile, spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";

export const HAS_TMUX: boolean = spawnSync("tmux", ["-V"]).status === 0;

export interface TerminalOptions {
  cwd: string;
  /** All that the command inherits, beside PATH, LANG and TERM. */
  env: Record<string, string>;
  columns?: number;
  rows?: number;
}

export interface TestTerminal {
  /** Types text as it is, then presses each key, by tmux's name for it. */
  type(text: string, ...keys: string[]): Promise<void>;
  /** Waits until the screen matches, and answers it; fails with the screen that never did. */
  sees(expected: string | RegExp, timeoutMs?: number): Promise<string>;
  /** What is on the screen and above it, with lines that were wrapped made whole. */
  screen(): Promise<string>;
  /** Sends a signal to the command. */
  kill(signal: NodeJS.Signals): void;
  /** Waits until the command has ended. */
  ended(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const LONGEST_WAIT_MS = 30_000;
const LOOK_AGAIN_MS = 250;
const HISTORY_LINES = 2_000;

/** Runs a command in a terminal of its own; at the end of its block neither is left. */
export async function openTerminal(command: readonly string[], options: TerminalOptions): Promise<TestTerminal> {
  const { cwd, env, columns = 100, rows = 50 } = options;
  const socket = `pi-agent-test-${randomUUID()}`;
  const { PATH = "/usr/bin:/bin" } = process.env;
  const run = async (...args: string[]) => {
    const inherited = { PATH, LANG: "C.UTF-8", TERM: "xterm-256color", ...env };
    return (await promisify(execFile)("tmux", ["-L", socket, "-f", "/dev/null", ...args], { cwd, env: inherited }))
      .stdout;
  };
  const size = ["-x", String(columns), "-y", String(rows)];
  // The screen stays when the command ends.
  await run(
    "start-server",
    ";",
    "set",
    "-g",
    "remain-on-exit",
    "on",
    ";",
    "set",
    "-g",
    "history-limit",
    String(HISTORY_LINES),
    ";",
    "new-session",
    "-d",
    "-s",
    "it",
    ...size,
    "-c",
    cwd,
    ...command,
  );
  const pid = Number(await run("display", "-p", "-t", "it", "#{pane_pid}"));
  // In control mode tmux tells when something is written.
  const watch = spawn("tmux", ["-L", socket, "-C", "attach", "-t", "it"], { env: { PATH, TERM: "xterm" } });
  const listeners = new Set<() => void>();
  createInterface({ input: watch.stdout }).on("line", () => {
    for (const listener of listeners) listener();
  });
  const screen = async () => {
    const text = await run("capture-pane", "-p", "-J", "-t", "it", "-S", `-${HISTORY_LINES}`);
    return text
      .split("\n")
      .map((line) => line.trimEnd())
      .join("\n")
      .trimEnd();
  };
  const until = async (isDone: () => Promise<boolean>, timeoutMs: number, explain: () => Promise<string>) => {
    const deadline = AbortSignal.timeout(timeoutMs);
    while (!(await isDone())) {
      if (deadline.aborted) throw new Error(await explain());
      const { promise, resolve } = Promise.withResolvers<void>();
      listeners.add(resolve);
      // Something may have been written since it was looked at, and of an end tmux tells nothing.
      const again = setTimeout(resolve, LOOK_AGAIN_MS);
      await promise;
      clearTimeout(again);
      listeners.delete(resolve);
    }
  };
  const hasEnded = async () => (await run("display", "-p", "-t", "it", "#{pane_dead}")).trim() === "1";
  let closing: Promise<void> | undefined;
  const close = () =>
    (closing ??= (async () => {
      const closed = new Promise((resolve) => watch.once("close", resolve));
      if (!(await hasEnded())) process.kill(pid, "SIGKILL");
      await run("kill-server");
      await closed;
    })());
  // A test whose time is up leaves its block at no time.
  onTestFinished(close);
  return {
    screen,
    async type(text, ...keys) {
      if (text !== "") await run("send-keys", "-t", "it", "-l", "--", text);
      if (keys.length > 0) await run("send-keys", "-t", "it", ...keys);
    },
    async sees(expected, timeoutMs = LONGEST_WAIT_MS) {
      let seen = "";
      const isThere = async () => {
        seen = await screen();
        return typeof expected === "string" ? seen.includes(expected) : expected.test(seen);
      };
      await until(isThere, timeoutMs, async () => `${String(expected)} never appeared on:\n${seen}`);
      return seen;
    },
    kill: (signal) => void process.kill(pid, signal),
    ended: () => until(hasEnded, LONGEST_WAIT_MS, async () => `the command did not end:\n${await screen()}`),
    [Symbol.asyncDispose]: close,
  };
}
