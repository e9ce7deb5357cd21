import type { BashExecutionMessage } from "@pi-agent/kernel";
import type { BashOptions } from "./bash.ts";
import { captureCommand, leftoverNotes } from "./capture-command.ts";
import { DEFAULT_MAX_BYTES, DEFAULT_MAX_LINES } from "./limits.ts";

/** What came of a command that the person ran. Without `exitCode` it did not end by itself. */
export type UserCommandResult = Pick<
  BashExecutionMessage,
  "output" | "exitCode" | "cancelled" | "truncated" | "fullOutputPath"
>;

/**
 * Runs a command for the person, who is there to end it: without a time limit, and without being told of the session. An
 * abort is a result. Fails as `runCommand` does.
 */
export async function runUserCommand(
  command: string,
  request: { cwd: string; signal: AbortSignal; onUpdate: (output: string) => void },
  options: BashOptions,
): Promise<UserCommandResult> {
  if (request.signal.aborted) return { output: "", cancelled: true, truncated: false };
  const { maxLines = DEFAULT_MAX_LINES, maxBytes = DEFAULT_MAX_BYTES } = options;
  const { exit, output } = await captureCommand(
    command,
    { ...request, settings: options.settings?.() ?? {}, session: {} },
    { ...options, maxLines, maxBytes },
  );
  const notes = leftoverNotes(exit);
  const cancelled = exit.endedBy !== undefined;
  return {
    output: notes.length > 0 ? [output.text.trimEnd(), ...notes].filter(Boolean).join("\n\n") : output.text,
    ...(exit.code !== null && !cancelled && { exitCode: exit.code }),
    cancelled,
    truncated: output.truncation !== undefined,
    ...(output.path !== undefined && { fullOutputPath: output.path }),
  };
}
