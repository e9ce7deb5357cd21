import type { ContextUsage } from "./contract.ts";
import type { Core } from "./core.ts";
import type { Message, Usage } from "./messages.ts";
import type { TranscriptTree } from "./transcript.ts";
import { isRecord } from "./values.ts";

/** Four characters make a token, an image counts as 4,800 characters: the estimate that Pi's sessions are measured by. */
const CHARS_PER_TOKEN = 4;
const IMAGE_CHARS = 4_800;

export function emptyUsage(): Usage {
  return {
    input: 0,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 0,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  };
}

/** What a provider counted, with zeros for what it did not. */
export function wholeUsage(given: unknown): Usage {
  const empty = emptyUsage();
  if (!isRecord(given)) return empty;
  const cost = isRecord(given.cost) ? given.cost : {};
  return { ...empty, ...given, cost: { ...empty.cost, ...cost } };
}

export function addUsage(sum: Usage, more: Usage): Usage {
  const { cost } = sum;
  return {
    input: sum.input + more.input,
    output: sum.output + more.output,
    cacheRead: sum.cacheRead + more.cacheRead,
    cacheWrite: sum.cacheWrite + more.cacheWrite,
    totalTokens: sum.totalTokens + more.totalTokens,
    cost: {
      input: cost.input + more.cost.input,
      output: cost.output + more.cost.output,
      cacheRead: cost.cacheRead + more.cost.cacheRead,
      cacheWrite: cost.cacheWrite + more.cost.cacheWrite,
      total: cost.total + more.cost.total,
    },
  };
}

export function estimateText(text: string): number {
  return Math.ceil(text.length / CHARS_PER_TOKEN);
}

/** Estimates what messages cost a model to read, in tokens. */
export function estimateTokens(messages: readonly Message[]): number {
  let chars = 0;
  for (const message of messages) chars += countChars(message);
  return Math.ceil(chars / CHARS_PER_TOKEN);
}

/** The last answer's own count, and an estimate of what came after it; without one, of all that is sent. */
export function contextTokens(core: Core): number {
  const messages = core.transcript.project();
  const at = lastCounted(core.transcript, messages);
  if (at < 0) return estimateTokens(messages) + promptTokens(core);
  return countedBy(messages[at]!) + estimateTokens(messages.slice(at + 1));
}

/** How full the context is; unknown right after a compaction, until the next answer. */
export function contextUsage(core: Core): ContextUsage | undefined {
  const { model, transcript } = core;
  if (!model) return undefined;
  const { contextWindow } = model;
  const messages = transcript.project();
  const isUnknown = transcript.outdatedMessages > 0 && lastCounted(transcript, messages) < 0;
  if (isUnknown) return { tokens: null, contextWindow, percent: null };
  const tokens = contextTokens(core);
  return { tokens, contextWindow, percent: (100 * tokens) / contextWindow };
}

function promptTokens(core: Core): number {
  return estimateText(core.systemPrompt) + estimateText(JSON.stringify(core.loadout().schemas));
}

/** Where the last answer is whose count still holds: not from before a compaction or an edit. */
function lastCounted({ outdatedMessages }: TranscriptTree, messages: readonly Message[]): number {
  for (let i = messages.length - 1; i >= outdatedMessages; i--) if (countedBy(messages[i]!) > 0) return i;
  return -1;
}

/** What an answer's provider counted; not every one gives the sum. Sessions of others may lack it. */
function countedBy(message: Message): number {
  if (message.role !== "assistant") return 0;
  const usage: Partial<Usage> = message.usage ?? {};
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = usage;
  return usage.totalTokens || input + output + cacheRead + cacheWrite;
}

function countChars(message: Message): number {
  if (typeof message.content === "string") return message.content.length;
  let chars = 0;
  for (const block of message.content) {
    if (block.type === "text") chars += block.text.length;
    else if (block.type === "image") chars += IMAGE_CHARS;
    else if (block.type === "thinking") chars += block.thinking.length;
    else chars += block.name.length + JSON.stringify(block.arguments).length;
  }
  return chars;
}
