/** One run, from the model that it needs to the moment when it has settled. */
import type { Outcome } from "./contract.ts";
import type { Core } from "./core.ts";
import { AgentError } from "./errors.ts";
import { runLoop } from "./loop.ts";
import type { Image, Message, Usage } from "./messages.ts";
import { recordChoice, requireModel } from "./model-choice.ts";
import { messagesOf } from "./projection.ts";
import { preparePrompt } from "./prompt.ts";
import { ABANDONED, type Run } from "./run.ts";
import { addUsage, emptyUsage } from "./tokens.ts";

/** A prompt as the hooks before a run see it. */
export interface Asked {
  text: string;
  images?: Image[];
}

/** Makes sure of a model and a key. Whoever is aborted while a key is looked for still has their prompt stored. */
export async function beginRun(core: Core, run: Run): Promise<void> {
  core.hooks.tellUnheard();
  const model = await run.bounded(requireModel(core));
  if (model !== ABANDONED || core.model) return;
  throw new AgentError("aborted", "The run was aborted before a model was found.", { hint: "Prompt again." });
}

/** Runs until nothing is left to do, and tells how it ended. */
export async function performRun(
  core: Core,
  run: Run,
  { entering, asked }: { entering: readonly Message[]; asked: Asked },
): Promise<Outcome> {
  let outcome: Outcome = "error";
  try {
    recordChoice(core, core.model!);
    const asides = core.queue.takeNextTurn();
    const added = await preparePrompt(core, run, asked);
    outcome = await runLoop(core, run, [...entering, ...asides, ...added]);
  } finally {
    await core.flush("settled");
    await core.tell({ type: "agent_settled", runId: run.id, outcome, aborted: run.isAborted });
  }
  return outcome;
}

/** What a run on a fresh transcript came to: the last answer's text, what all cost, what was said. */
export function resultOf({ transcript }: Core): { answer: string; usage: Usage; messages: Message[] } {
  const messages = messagesOf(transcript.path());
  const answers = messages.filter((message) => message.role === "assistant");
  const last = answers.at(-1)?.content ?? [];
  return {
    answer: last.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n"),
    usage: answers.map(({ usage }) => usage).reduce(addUsage, emptyUsage()),
    messages,
  };
}
