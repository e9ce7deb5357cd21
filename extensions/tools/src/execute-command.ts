import type { Context, Json, ToolResult } from "@pi-agent/kernel";
import type { BashOptions } from "./bash.ts";
import { type CapturedCommand, captureCommand, leftoverNotes } from "./capture-command.ts";
import { HEADLESS_TIMEOUT_SECONDS, MAX_TIMEOUT_SECONDS } from "./limits.ts";
import { errorResult, ToolFailure, textResult } from "./result.ts";
import type { CommandExit } from "./run-command.ts";
import type { TextLimits } from "./truncate.ts";

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
  { command, timeout, cwd, signal, onUpdate, ctx }: CommandCall,
  options: BashOptions & Required<TextLimits>,
): Promise<ToolResult> {
  const settings = options.settings?.() ?? {};
  const seconds = checkTimeout(timeout) ?? defaultTimeout(settings.timeoutSeconds, ctx.hasUI);
  const request = {
    cwd,
    settings,
    session: {
      sessionId: ctx.sessionId,
      sessionFile: options.sessionFile?.(),
      provider: ctx.model?.provider,
      model: ctx.model?.id,
      reasoningLevel: options.reasoningLevel?.(),
    },
    timeoutMs: seconds === undefined ? undefined : seconds * 1_000,
    signal,
    onUpdate: (text: string) => onUpdate(textResult(text)),
  };
  return resultOf(await captureCommand(command, request, options), seconds);
}

function checkTimeout(timeout: number | undefined): number | undefined {
  if (timeout === undefined || (timeout > 0 && timeout <= MAX_TIMEOUT_SECONDS)) return timeout;
  throw new ToolFailure(
    "invalid_timeout",
    `timeout must be seconds above 0 and at most ${MAX_TIMEOUT_SECONDS}, not ${timeout}. The command was not run.`,
    "Leave it out for the default.",
  );
}

function defaultTimeout(setting: number | undefined, hasUI: boolean): number | undefined {
  if (setting !== undefined) return setting > 0 ? Math.min(setting, MAX_TIMEOUT_SECONDS) : undefined;
  return hasUI ? undefined : HEADLESS_TIMEOUT_SECONDS;
}

function resultOf({ exit, output }: CapturedCommand, seconds: number | undefined): ToolResult {
  const { code, signal, endedBy, background } = exit;
  const status = statusOf(exit, seconds);
  const isEmpty = output.text.trim() === "";
  const parts = [
    isEmpty ? (endedBy ? "" : "(no output)") : output.text,
    output.notice ?? "",
    ...leftoverNotes(exit),
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
