import type { Api, AssistantMessage, Model, ProviderRequest } from "@pi-agent/kernel";
import {
  assistantMessage,
  providerRequest,
  type Reply,
  replyStream,
  streamReply,
  TEST_MODEL,
} from "@pi-agent/testing/provider";

export function createModel(changes: Partial<Model> = {}): Model {
  return { ...TEST_MODEL, provider: "openai", api: "openai-completions", reasoning: false, ...changes };
}

export function createRequest(changes: Partial<ProviderRequest> = {}): ProviderRequest {
  return providerRequest({ model: createModel(), cacheRetention: "short", ...changes });
}

/** An answer that the model gave. */
export function createAnswer(content: AssistantMessage["content"], changes: Partial<AssistantMessage> = {}) {
  return assistantMessage(createModel(), content, changes);
}

/** Frames a value as the services do, or leaves a text as it is. */
export function frame(line: unknown): string {
  return typeof line === "string" ? line : `data: ${JSON.stringify(line)}\n\n`;
}

/** Replies with a stream of lines, each a value, or a text as it is. */
export function sse(...lines: readonly unknown[]): Reply {
  return replyStream(...lines.map(frame));
}

export const DONE = "data: [DONE]\n\n";

/** Streams the answer to one reply to its end. */
export function ask(api: Api, reply: Reply, changes: Partial<ProviderRequest> = {}) {
  return streamReply(api, reply, createRequest(changes));
}
