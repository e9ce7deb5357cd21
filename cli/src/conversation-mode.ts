/**
 * A plain conversation, line by line.
 *
 *   ask ──► agent.input ──► text as it streams, one line a step ──► ask …
 *
 * Ctrl-C ends a run; pressed again, or twice at the question, it ends the conversation. So do Ctrl-D and /quit.
 */
import type { Agent, Undo } from "@pi-agent/kernel";
import { answerCommands, type ChangingHost, changeAgent, isAboutTrust, LEAVE } from "./conversation-commands.ts";
import type { Exit } from "./exit.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import { paint, printError, printWarning } from "./print-error.ts";
import { type Prompt, runPrompts } from "./prompts.ts";
import type { Output } from "./stdout-guard.ts";
import { showSteps } from "./steps.ts";
import type { Terminal } from "./terminal.ts";
import { toAnswerText } from "./terminal-text.ts";
import { talkTrust } from "./trust/conversation.ts";
import type { TrustTarget } from "./trust/perform.ts";

export interface ConversationOptions extends TrustTarget {
  agent: Agent;
  host: ChangingHost;
  terminal: Terminal;
  output: Output;
  exit: Exit;
  /** What was on the command line: run first. */
  prompts: readonly Prompt[];
}

/** Talks until the person leaves, and answers the exit code. */
export async function runConversation(options: ConversationOptions): Promise<number> {
  const { agent, terminal, output } = options;
  const write = (text: string) => output.write(text);
  const undos = [showConversation(agent, write), answerCommands(agent, write)];
  output.write(`${paint("dim", greet(agent))}\n`);
  let wasInterrupted = false;
  for (const prompt of options.prompts) wasInterrupted = await runOne(options, prompt);
  for (;;) {
    const reply = await terminal.ask("> ");
    if ("line" in reply) {
      wasInterrupted = false;
      const text = reply.line.trim();
      if (LEAVE.has(text)) break;
      if (isAboutTrust(text)) await talkTrust({ ...options, signal: options.exit.signal, write }, text);
      else if (text !== "" && !(await changeAgent(options, text, write)))
        wasInterrupted = await runOne(options, { text, images: [] });
    } else if (reply.key === "interrupt" && !wasInterrupted) {
      wasInterrupted = true;
      output.write("\n(Ctrl-C again, or Ctrl-D, leaves)\n");
    } else {
      output.write("\n");
      break;
    }
  }
  for (const undo of undos) await undo();
  return EXIT_CODES.answered;
}

/** Answers whether the person interrupted it. */
async function runOne({ agent, terminal, exit, output }: ConversationOptions, prompt: Prompt): Promise<boolean> {
  let isInterrupted = false;
  const release = exit.onInterrupt(() => {
    isInterrupted = true;
    void agent.abort("Ctrl-C");
  });
  try {
    const { error, warning } = await runPrompts(agent, [prompt]);
    if (isInterrupted) output.write("(stopped; Ctrl-C again leaves)\n");
    else if (warning) printWarning(warning);
    else if (error) printError(error);
  } catch (thrown) {
    printError(thrown);
  } finally {
    release();
  }
  // What was typed ahead was for the run that is stopped.
  if (isInterrupted) await terminal.forget();
  return isInterrupted;
}

/** Writes answers as they stream and steps as they happen. */
function showConversation(agent: Agent, write: (text: string) => void): Undo {
  let isLineOpen = false;
  const endLine = () => {
    if (isLineOpen) write("\n");
    isLineOpen = false;
  };
  const undos = [
    agent.on("message_update", ({ assistantMessageEvent: event }) => {
      if (event.type !== "text_delta") return;
      write(toAnswerText(event.delta));
      isLineOpen = true;
    }),
    agent.on("message_end", endLine),
    showSteps(agent, (line) => {
      endLine();
      write(`${line}\n`);
    }),
  ];
  return async () => {
    for (const undo of undos) await undo();
  };
}

function greet(agent: Agent): string {
  const { model } = agent.state;
  const name = model ? `${model.provider}/${model.id}` : "no model chosen yet";
  return `pi with ${name}. Type a task; /help lists commands, /quit or Ctrl-D leaves, Ctrl-C stops a run.`;
}
