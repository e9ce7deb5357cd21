import type { ExtensionAPI, Point } from "@pi-agent/kernel";
import type { BashOperations } from "./bash.ts";
import type { UserCommandResult } from "./user-command.ts";

declare module "@pi-agent/kernel" {
  interface HookPoints {
    /**
     * A command that the person typed, before it runs. A handler may have it run elsewhere, say itself what came of it,
     * or refuse it; the first answer decides. One that fails, or answers anything else, refuses it too (K13).
     */
    user_bash: Point<
      "first",
      { command: string; excludeFromContext: boolean; cwd: string },
      { operations: BashOperations } | { result: UserCommandResult } | { block: true; reason?: string }
    >;
  }
}

/** How a command is to be run: left out, on this machine. */
export type Verdict = { operations?: BashOperations } | { result: UserCommandResult };

/** Asks about a command. Fails with `user_bash_refused`. */
export async function askUserBash(
  pi: ExtensionAPI,
  event: { command: string; excludeFromContext: boolean; cwd: string },
): Promise<Verdict> {
  const answer: unknown = await pi.dispatch("user_bash", event);
  if (answer === undefined) return {};
  const { block, reason, operations, result } = answer as Record<string, unknown>;
  if (block === true) {
    const why = typeof reason === "string" ? reason : "An extension refused it.";
    throw refused(pi, why, "Change what refuses it, or run the command in a shell of your own.");
  }
  if (isOperations(operations) && result === undefined) return { operations };
  if (isResult(result) && operations === undefined) return { result };
  const why = "An extension answered user_bash with neither operations alone nor a result alone.";
  throw refused(pi, why, "Mend the extension: return { operations } or { result }, or nothing.");
}

function refused(pi: ExtensionAPI, why: string, hint: string): Error {
  return pi.error("user_bash_refused", `The command was not run: ${why}`, { hint });
}

function isOperations(value: unknown): value is BashOperations {
  return isRecord(value) && typeof value.run === "function";
}

function isResult(value: unknown): value is UserCommandResult {
  if (!isRecord(value) || typeof value.output !== "string") return false;
  const { exitCode, cancelled, truncated, fullOutputPath } = value;
  const isCode = exitCode === undefined || Number.isInteger(exitCode);
  const isPath = fullOutputPath === undefined || typeof fullOutputPath === "string";
  return isCode && isPath && typeof cancelled === "boolean" && typeof truncated === "boolean";
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
