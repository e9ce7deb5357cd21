import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Start } from "../adapter.ts";
import type { CommandResult } from "./run-command.ts";

export interface SdkOptions {
  /** The module that has `load`. */
  loader: string;
  /** Packages whose default exports are the agent's official extensions. */
  packages: readonly string[];
  /** Flags for Node. */
  flags?: readonly string[];
}

/** What the process that embeds the loader is asked for. */
export interface SdkRequest extends Pick<Start, "cwd" | "home" | "agentDir" | "env" | "prompts" | "approve"> {
  options: SdkOptions;
  hasMode: boolean;
  model: string;
}

export interface SdkReply {
  told: string;
  asked: boolean;
  code: number;
}

export interface Sdk {
  start(start: Start, hasMode: boolean): Promise<CommandResult & { asked: boolean }>;
  close(): Promise<void>;
}

/** Keeps a process that embeds the loader, and starts agents in it one after another. */
export function createSdk(options: SdkOptions): Sdk {
  let child: ChildProcess | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const open = () => {
    const ending = import.meta.url.endsWith(".ts") ? "ts" : "js";
    const path = fileURLToPath(new URL(`./sdk-process.${ending}`, import.meta.url));
    const opened = fork(path, { execArgv: [...(options.flags ?? [])], stdio: ["ignore", "pipe", "pipe", "ipc"] });
    opened.once("exit", () => {
      if (child === opened) child = undefined;
    });
    return opened;
  };
  const startNow = async (start: Start, hasMode: boolean) => {
    child ??= open();
    const { cwd, home, agentDir, env, prompts, approve } = start;
    const request: SdkRequest = {
      options,
      hasMode,
      model: "attack-kit/scripted",
      cwd,
      home,
      agentDir,
      env,
      prompts,
      approve,
    };
    return ask(child, request, start.timeoutMs);
  };
  return {
    start(start, hasMode) {
      const result = last.then(() => startNow(start, hasMode));
      last = result.catch(() => {});
      return result;
    },
    async close() {
      await last;
      const closing = child;
      if (!closing) return;
      const closed = new Promise((resolve) => closing.once("exit", resolve));
      closing.disconnect();
      await closed;
    },
  };
}

async function ask(
  child: ChildProcess,
  request: SdkRequest,
  timeoutMs: number,
): Promise<CommandResult & { asked: boolean }> {
  let output = "";
  const read = (part: Buffer) => {
    output += part.toString("utf8");
  };
  child.stdout?.on("data", read);
  child.stderr?.on("data", read);
  try {
    const reply = await new Promise<SdkReply | "late" | "ended">((resolve) => {
      const timer = setTimeout(() => resolve("late"), timeoutMs);
      const settle = (answer: SdkReply | "ended") => {
        clearTimeout(timer);
        child.off("message", settle).off("exit", end);
        resolve(answer);
      };
      const end = () => settle("ended");
      child.once("message", settle).once("exit", end);
      child.send(request);
    });
    if (typeof reply === "object")
      return { code: reply.code, stdout: output, stderr: reply.told, isLate: false, asked: reply.asked };
    child.kill("SIGKILL");
    return {
      code: child.exitCode,
      stdout: output,
      stderr: `the process was ${reply}`,
      isLate: reply === "late",
      asked: false,
    };
  } finally {
    child.stdout?.off("data", read);
    child.stderr?.off("data", read);
  }
}
