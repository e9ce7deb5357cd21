import type { Message, ProviderRequest } from "@pi-agent/kernel";

const CHARS_PER_TOKEN = 3.5;
const IMAGE_CHARS = 4_800;
const MIN_MARGIN_TOKENS = 4_096;
const MARGIN_OF_INPUT = 0.15;
/** Below this room the margin is not taken as a share of the input, but fixed. */
const TIGHT_ROOM_TOKENS = 32_768;

/**
 * Estimates how many tokens an answer may have before the context window is full. The API refuses a request whose
 * input and `max_tokens` together exceed it. Never below 1.
 */
export function answerRoom(request: ProviderRequest): number {
  const input = inputTokens(request);
  const left = request.model.contextWindow - input;
  const room = left - Math.max(MIN_MARGIN_TOKENS, Math.ceil(input * MARGIN_OF_INPUT));
  if (room >= TIGHT_ROOM_TOKENS) return room;
  return Math.max(1, Math.min(TIGHT_ROOM_TOKENS, left - MIN_MARGIN_TOKENS));
}

/**
 * The last answer's own count, and an estimate of what came after it: history is not read again. What was counted before
 * the conversation was compacted is not so any more.
 */
function inputTokens({ messages, systemPrompt, tools }: ProviderRequest): number {
  const [first] = messages;
  const compactedAt = first?.role === "custom" && first.customType === "compactionSummary" ? first.timestamp : 0;
  let chars = 0;
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at]!;
    if (message.role === "assistant" && message.usage.totalTokens > 0 && message.timestamp >= compactedAt)
      return message.usage.totalTokens + Math.ceil(chars / CHARS_PER_TOKEN);
    chars += countChars(message);
  }
  chars += systemPrompt.length + (tools.length > 0 ? JSON.stringify(tools).length : 0);
  return Math.ceil(chars / CHARS_PER_TOKEN);
}

function countChars({ content }: Message): number {
  if (typeof content === "string") return content.length;
  let chars = 0;
  for (const block of content) {
    if (block.type === "text") chars += block.text.length;
    else if (block.type === "image") chars += IMAGE_CHARS;
    else if (block.type === "thinking") chars += block.thinking.length;
    else chars += block.name.length + JSON.stringify(block.arguments).length;
  }
  return chars;
}
