import type { Model, ProviderRequest } from "@pi-agent/kernel";
import { providerRequest, type Reply, streamReply, streamToEnd } from "@pi-agent/testing/provider";
import { anthropicMessages } from "../src/api.ts";
import { MODELS } from "../src/models.ts";

/** Frames events as the service does. */
export function sse(...events: ({ type: string } & Record<string, unknown>)[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

export const begin = sse({
  type: "message_start",
  message: { id: "msg_1", model: "claude-haiku-4-5", content: [], usage: { input_tokens: 10, output_tokens: 1 } },
});

export function finish(stop_reason: string | null, usage: object = { output_tokens: 5 }): string {
  return sse({ type: "message_delta", delta: { stop_reason }, usage }, { type: "message_stop" });
}

export function textBlock(text: string, index = 0): string {
  return sse(
    { type: "content_block_start", index, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index, delta: { type: "text_delta", text } },
    { type: "content_block_stop", index },
  );
}

export function model(id: string, changes: Partial<Model> = {}): Model {
  const found = MODELS.find((one) => one.id === id);
  if (!found) throw new Error(`no model ${id}`);
  return { ...found, ...changes };
}

export function createRequest(changes: Partial<ProviderRequest> = {}): ProviderRequest {
  return providerRequest({ model: model("claude-haiku-4-5"), ...changes });
}

/** Streams one answer to its end. */
export function run(changes: Partial<ProviderRequest>) {
  return streamToEnd(anthropicMessages, createRequest(changes));
}

/** Streams the answer to one reply to its end. */
export function answerTo(reply: Reply, changes: Partial<ProviderRequest> = {}) {
  return streamReply(anthropicMessages, reply, createRequest(changes));
}
