import type { ContextUsage } from "./contract.ts";
import type { Core } from "./core.ts";
import type { AssistantMessage, Message, Usage } from "./messages.ts";
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

/** The last answer's own count, and an estimate of what came after it. What was counted before a compaction is not so any more. */
export function contextTokens(transcript: TranscriptTree): number {
  const messages = transcript.project();
  const at = lastCounted(transcript, messages);
  if (at < 0) return estimateTokens(messages);
  const counted = messages[at] as AssistantMessage;
  return counted.usage.totalTokens + estimateTokens(messages.slice(at + 1));
}

/** How full the context is; unknown right after a compaction, until the next answer. */
export function contextUsage({ model, transcript }: Core): ContextUsage | undefined {
  if (!model) return undefined;
  const { contextWindow } = model;
  const messages = transcript.project();
  const isUnknown = transcript.keptMessages > 0 && lastCounted(transcript, messages) < 0;
  if (isUnknown) return { tokens: null, contextWindow, percent: null };
  const tokens = contextTokens(transcript);
  return { tokens, contextWindow, percent: (100 * tokens) / contextWindow };
}

function lastCounted({ keptMessages }: TranscriptTree, messages: readonly Message[]): number {
  for (let i = messages.length - 1; i >= keptMessages; i--) {
    const message = messages[i]!;
    if (message.role === "assistant" && message.usage.totalTokens > 0) return i;
  }
  return -1;
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
