/** Turns piped text, files and words into prompts, and runs them one after the other. */
import type { Agent, AssistantMessage, Image, Outcome } from "@pi-agent/kernel";
import { judgeAnswer, type Verdict } from "./answer.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import type { Problem } from "./problem.ts";

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
