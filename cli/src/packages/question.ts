/** Asks a person whether something shall be done. Nothing but a yes that was typed after the question is one. */
import { isatty } from "node:tty";

/** `interrupted`: Ctrl-C, or a signal; `nobody`: there is no terminal to ask at. */
export type Answer = "yes" | "no" | "interrupted" | "nobody";

// The time in which keys that were meant for something else still arrive, held ones too.
const READING_MS = 300;

/** Tells whether a person is there: who can type, and sees what is told beside the results. */
export function isPersonThere(): boolean {
  return isatty(0) && isatty(2);
}

/** Asks on standard error, so that standard output stays for results. */
export async function askPerson(question: string, signal: AbortSignal): Promise<Answer> {
  if (!isPersonThere()) return "nobody";
  const { createTerminal } = await import("../terminal.ts");
  const { stdin: input, stderr: output } = process;
  const terminal = createTerminal({ input, output, notices: output });
  await terminal.forget(READING_MS);
  const reply = await terminal.ask(`${question} [y/N] `, { signal });
  if ("line" in reply) return /^y(es)?$/i.test(reply.line.trim()) ? "yes" : "no";
  // The cursor still stands behind the question.
  output.write("\n");
  return reply.key === "end" ? "no" : "interrupted";
}
