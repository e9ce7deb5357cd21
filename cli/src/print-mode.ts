/** Print mode: the final answer on standard output, everything else on standard error. */
import type { Agent } from "@pi-agent/kernel";
import { answerText } from "./answer.ts";
import { printError, printWarning } from "./print-error.ts";
import { describeUnsent, type Prompt, runPrompts } from "./prompts.ts";
import type { Output } from "./stdout-guard.ts";
import { showSteps } from "./steps.ts";
import { toAnswerText } from "./terminal-text.ts";

export interface PrintOptions {
  agent: Agent;
  prompts: readonly Prompt[];
  output: Output;
  /** Standard output is a log, whose last line holds the answer. */
  isLogged?: boolean;
  /** Shows each step on standard error. */
  showsSteps: boolean;
  signal: AbortSignal;
}

/** Runs the prompts, prints the last answer, and answers the exit code. */
export async function runPrintMode(options: PrintOptions): Promise<number> {
  const { agent, output } = options;
  if (options.showsSteps) watch(agent);
  const ending = await runPrompts(agent, options.prompts);
  // Who interrupted the run, or went away, needs no report of it.
  if (options.signal.aborted) return ending.code;
  if (ending.answer && !options.isLogged) {
    const text = answerText(ending.answer);
    output.write(output.stream.isTTY ? toAnswerText(text) : text);
  }
  if (ending.warning) printWarning(ending.warning);
  if (ending.error) printError(ending.error);
  const unsent = describeUnsent(agent.queue);
  if (unsent) printWarning(unsent);
  return ending.code;
}

/** Shows each step on standard error, and what the model says before its last answer. */
function watch(agent: Agent): void {
  const write = (line: string) => void process.stderr.write(`${line}\n`);
  agent.on("message_end", ({ message }) => {
    if (message.role === "assistant" && message.stopReason === "toolUse") {
      const text = toAnswerText(answerText(message)).trim();
      if (text !== "") write(text);
    }
  });
  showSteps(agent, write);
}
