import type { MessageCreateParamsStreaming, MessageParam } from "@anthropic-ai/sdk/resources/messages";
import type { ProviderRequest } from "@pi-agent/kernel";
import { answerRoom } from "./answer-room.ts";
import { cacheControl, markTools, markTurns, toSystem } from "./caching.ts";
import { toMessages, toMessagesWithoutThinking } from "./messages.ts";
import { takesSampling } from "./model-version.ts";
import { toThinking } from "./thinking.ts";
import { toTools } from "./tools.ts";

export type Body = MessageCreateParamsStreaming;

export interface Payload {
  body: Body;
  /** Features to ask for in `anthropic-beta`. */
  betas: string[];
}

/** Builds the body of a Messages request. */
export function toPayload(request: ProviderRequest): Payload {
  const { model, systemPrompt, tools, temperature } = request;
  const { fields, betas, dropsEarlier } = toThinking(request, answerRoom(request));
  const messages = (dropsEarlier ? toMessagesWithoutThinking : toMessages)(request.messages, model);
  if (fields.thinking?.type === "enabled" && isInForeignLoop(messages)) delete fields.thinking;
  const mark = cacheControl(request);
  if (mark) markTurns(messages, mark);
  const isSampled = temperature !== undefined && fields.thinking?.type !== "enabled" && takesSampling(model);
  const body = {
    model: model.id,
    messages,
    ...fields,
    ...(systemPrompt.trim() !== "" && { system: toSystem(systemPrompt, mark) }),
    ...(tools.length > 0 && { tools: markTools(toTools(tools), mark) }),
    ...(isSampled && { temperature }),
    ...model.samplingParams,
    stream: true,
  };
  return { body: body as Body, betas };
}

/**
 * Tells whether tools are being answered whose calls came without thinking, from another model for one. The API does
 * not begin to think by budget in the middle of such a loop.
 */
function isInForeignLoop(messages: readonly MessageParam[]): boolean {
  const at = messages.findLastIndex(({ role }) => role === "assistant");
  const blocks = at < 0 ? [] : messages[at]!.content;
  if (typeof blocks === "string" || !blocks.some(({ type }) => type === "tool_use")) return false;
  const first = blocks[0]?.type;
  return at < messages.length - 1 && first !== "thinking" && first !== "redacted_thinking";
}
