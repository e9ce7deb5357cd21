/** Turns piped text, files and words into prompts, and runs them one after the other. */
import type { Agent, AssistantMessage, Image, Message, Outcome, Queue } from "@pi-agent/kernel";
import { judgeAnswer, type Verdict } from "./answer.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import type { Problem } from "./problem.ts";
import { toTerminalLine } from "./terminal-text.ts";

export interface Prompt {
  text: string;
  images: Image[];
}

export interface PromptSources {
  piped: string;
  files: { text: string; images: Image[] };
  words: readonly string[];
}

/** The first prompt is what was piped, the files and the first word; each further word is a prompt of its own. */
export function composePrompts({ piped, files, words }: PromptSources): Prompt[] {
  const [first = "", ...others] = words;
  const text = [piped, files.text, first].filter((part) => part !== "").join("\n");
  const prompts = [{ text, images: files.images }, ...others.map((word) => ({ text: word, images: [] }))];
  return prompts.filter((prompt) => prompt.text.trim() !== "" || prompt.images.length > 0);
}

export interface Ending extends Verdict {
  answer?: AssistantMessage;
}

const NO_END: Problem = {
  what: "The run did not come to its end",
  why: "it started, and nothing told how it ended",
  hint: "run again with --verbose; pi doctor lists what is loaded",
};

/** Runs the prompts until one fails, and answers how the last run ended. A prompt that a command handled has no answer. */
export async function runPrompts(agent: Agent, prompts: readonly Prompt[]): Promise<Ending> {
  const runs: { answer?: AssistantMessage; outcome: Outcome }[] = [];
  const undo = agent.on("agent_end", ({ messages, outcome }) => {
    runs.push({ answer: messages.findLast((message) => message.role === "assistant"), outcome });
  });
  try {
    let ending: Ending = { code: EXIT_CODES.answered };
    for (const { text, images } of prompts) {
      const became = await agent.input(text, { images });
      await agent.settled();
      const run = runs.splice(0).at(-1);
      if (run) ending = { answer: run.answer, ...judgeAnswer(run.answer, run.outcome) };
      else if (became === "started") ending = { code: EXIT_CODES.failed, error: NO_END };
      if (ending.code !== EXIT_CODES.answered) break;
    }
    return ending;
  } finally {
    await undo();
  }
}

// What one line holds of a message that is quoted.
const QUOTE_WIDTH = 60;

/** Words what waits in the queue when nothing more will run; `undefined` when nothing does. */
export function describeUnsent({ steering, followUp }: Queue): Problem | undefined {
  const left = [...steering, ...followUp];
  if (left.length === 0) return undefined;
  const quotes = left.map((message) => `"${toTerminalLine(textOf(message), QUOTE_WIDTH)}"`);
  return {
    what: `Not sent, because the run ended before: ${quotes.join(", ")}`,
    hint: "send it again with: pi -c",
  };
}

function textOf({ content }: Message): string {
  if (typeof content === "string") return content;
  return content.map((block) => (block.type === "text" ? block.text : "")).join(" ");
}
