import type { Context, Json, ToolResult } from "@pi-agent/kernel";
import type { BashOptions } from "./bash.ts";
import { CommandOutput, type FinalOutput } from "./command-output.ts";
import { HEADLESS_TIMEOUT_SECONDS, MAX_TIMEOUT_SECONDS } from "./limits.ts";
import { expandPath } from "./paths.ts";
import type { FoundProcess } from "./process-tree.ts";
import { errorResult, ToolFailure, textResult, throwIfAborted } from "./result.ts";
import { type CommandExit, runCommand } from "./run-command.ts";
import { shellEnvironment } from "./shell-environment.ts";

export interface CommandCall {
  command: string;
  /** Seconds. */
  timeout: number | undefined;
  cwd: string;
  signal: AbortSignal | undefined;
  onUpdate: (partial: ToolResult) => void;
  ctx: Context;
}

/** Runs a command and makes the result that the model sees. Fails with `invalid_timeout`, and as `runCommand` does. */
export async function executeCommand(
  call: CommandCall,
  options: BashOptions & { maxLines: number; maxBytes: number },
): Promise<ToolResult> {
  const { command, cwd, signal, onUpdate, ctx } = call;
  const { shellPath, commandPrefix, timeoutSeconds } = options.settings?.() ?? {};
  const seconds = checkTimeout(call.timeout) ?? defaultTimeout(timeoutSeconds, ctx.mode);
  const mark = crypto.randomUUID();
  const env = shellEnvironment(process.env, {
    secretNames: options.secretNames?.() ?? [],
    session: {
      sessionId: ctx.sessionId,
      sessionFile: options.sessionFile?.(),
      provider: ctx.model?.provider,
      model: ctx.model?.id,
      reasoningLevel: options.reasoningLevel?.(),
    },
    mark,
  });
  const { maxLines, maxBytes, outputDirectory: directory } = options;
  const output = new CommandOutput({ maxLines, maxBytes, directory }, (text) => onUpdate(textResult(text)));
  const run = options.operations?.run.bind(options.operations) ?? runCommand;
  try {
    throwIfAborted(signal);
    const exit = await run(commandPrefix ? `${commandPrefix}\n${command}` : command, {
      cwd,
      env,
      mark,
      shell: shellPath?.startsWith("~/") ? expandPath(shellPath, cwd) : shellPath,
      timeoutMs: seconds === undefined ? undefined : seconds * 1_000,
      signal,
      onOutput: (bytes, stream) => output.push(bytes, stream),
      onLeft: (root) => options.leftRunning?.add(root),
    });
    return resultOf(exit, output.end(), seconds);
  } finally {
    output.end();
  }
}

function checkTimeout(timeout: number | undefined): number | undefined {
  if (timeout === undefined || (timeout > 0 && timeout <= MAX_TIMEOUT_SECONDS)) return timeout;
  throw new ToolFailure(
    "invalid_timeout",
    `timeout must be seconds above 0 and at most ${MAX_TIMEOUT_SECONDS}, not ${timeout}. The command was not run.`,
    "Leave it out for the default.",
  );
}

function defaultTimeout(setting: number | undefined, mode: string): number | undefined {
  if (setting !== undefined) return setting > 0 ? Math.min(setting, MAX_TIMEOUT_SECONDS) : undefined;
  return mode === "tui" ? undefined : HEADLESS_TIMEOUT_SECONDS;
}

function resultOf(exit: CommandExit, output: FinalOutput, seconds: number | undefined): ToolResult {
  const { code, signal, endedBy, background, survivors } = exit;
  const status = statusOf(exit, seconds);
  const isEmpty = output.text.trim() === "";
  const parts = [
    isEmpty ? (endedBy ? "" : "(no output)") : output.text,
    output.notice ?? "",
    background.length > 0 ? backgroundNote(background) : "",
    survivors.length > 0 ? `[Could not be ended: ${listProcesses(survivors)}]` : "",
    status ?? "",
  ].filter((part) => part !== "");
  const text = parts.length > 1 ? [parts[0]!.replace(/\n+$/, ""), ...parts.slice(1)].join("\n\n") : parts[0]!;
  const details: { [key: string]: Json } = {};
  if (code !== null) details.exitCode = code;
  if (signal) details.signal = signal;
  if (endedBy) details.endedBy = endedBy;
  if (output.truncation) details.truncation = output.truncation;
  if (output.path) details.fullOutputPath = output.path;
  if (output.isCleaned) details.cleaned = true;
  if (background.length > 0) details.background = background.map(({ pid, name }) => ({ pid, name }));
  return status === undefined ? textResult(text, details) : errorResult(text, details);
}

/** What went wrong with the command; `undefined` when nothing did. */
function statusOf({ code, signal, endedBy }: CommandExit, seconds: number | undefined): string | undefined {
  if (endedBy === "timeout") return `Command timed out after ${seconds} seconds`;
  if (endedBy === "abort") return "Command aborted";
  if (code === 0) return undefined;
  return `Command exited with code ${code}${signal ? ` (${signal})` : ""}`;
}

function backgroundNote(background: readonly FoundProcess[]): string {
  const pids = background.map(({ pid }) => pid).join(" ");
  return `[Still running in the background: ${listProcesses(background)}. Its output is not followed, and it ends with this session. To stop it: kill ${pids}]`;
}

function listProcesses(processes: readonly FoundProcess[]): string {
  return processes.map(({ pid, name }) => `${pid} (${name})`).join(", ");
}
