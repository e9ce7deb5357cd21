/** The one place that words errors for a person: what happened, why, what to do. */
import { styleText } from "node:util";
import type { Problem } from "./problem.ts";
import { toTerminalText } from "./terminal-text.ts";

/**
 * Writes an error to standard error in three parts. Takes a `Problem`, or anything thrown: an error with a `hint` says
 * what to do, its `cause` why, its `owner` which extension raised it.
 */
export function printError(error: unknown, options: { verbose?: boolean } = {}): void {
  process.stderr.write(formatError(isProblem(error) ? error : toProblem(error), "error"));
  const stack = options.verbose ? findStack(error) : undefined;
  if (stack) process.stderr.write(`${stack}\n`);
}

/** What is expected to fail has a stack of no use; where an extension threw, its own has. */
function findStack(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (!isAgentError(error)) return error.stack;
  return error.owner !== undefined && error.cause instanceof Error ? error.cause.stack : undefined;
}

/** Writes a warning to standard error, in the same form. */
export function printWarning(problem: Problem): void {
  process.stderr.write(formatError(problem, "warning"));
}

/** Words a problem; colour only where standard error is a terminal that wants it. */
export function formatError(problem: Problem, level: "error" | "warning"): string {
  const head = paint(level === "error" ? "red" : "yellow", `${level}:`);
  const lines = [`${head} ${indent(problem.what)}`];
  if (problem.why) lines.push(`  why: ${indent(problem.why)}`);
  if (problem.hint) lines.push(`  try: ${indent(problem.hint)}`);
  return `${lines.join("\n")}\n`;
}

/** Colours text for standard error, unless it is no terminal or NO_COLOR is set. */
export function paint(style: "red" | "yellow" | "dim" | "bold", text: string): string {
  return styleText(style, text, { stream: process.stderr });
}

/**
 * Tells the three parts of anything thrown. An agent error says why in its message; one that was made of a problem keeps
 * it as its cause.
 */
export function toProblem(thrown: unknown): Problem {
  if (!(thrown instanceof Error)) return { what: String(thrown) };
  const { cause } = thrown;
  const what = thrown.message || thrown.name;
  if (!isAgentError(thrown)) return { what, why: cause instanceof Error ? cause.message : undefined };
  const owner = thrown.owner === undefined || what.includes(thrown.owner) ? "" : ` (from ${thrown.owner})`;
  return { what: `${what}${owner}`, why: isProblem(cause) ? cause.why : undefined, hint: thrown.hint };
}

/** Told by its shape, as the kernel does it: `--help` and wrong usage load no kernel. */
function isAgentError(error: Error): error is Error & { hint?: string; owner?: string } {
  return "code" in error && "hint" in error;
}

function isProblem(value: unknown): value is Problem {
  return typeof value === "object" && value !== null && !(value instanceof Error) && "what" in value;
}

function indent(text: string): string {
  return toTerminalText(text).replaceAll("\n", "\n       ");
}
