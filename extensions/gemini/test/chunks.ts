import type { Model, ProviderRequest } from "@pi-agent/kernel";
import { providerRequest, type Reply, streamReply, streamToEnd } from "@pi-agent/testing/provider";
import { googleGenerativeAi } from "../src/api.ts";
import { MODELS } from "../src/models.ts";

/** Frames whole chunks as the service does. */
export function sse(...chunks: object[]): string {
  return chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`).join("");
}

/** A chunk with parts. */
export function parts(...given: object[]): object {
  return { candidates: [{ content: { role: "model", parts: given }, index: 0 }] };
}

export function finish(finishReason: string, more: object = {}): object {
  return { candidates: [{ content: { role: "model" }, finishReason, ...more }], ...USAGE };
}
export const USAGE = { usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 } };

export function model(id: string, changes: Partial<Model> = {}): Model {
  const found = MODELS.find((one) => one.id === id);
  if (!found) throw new Error(`no model ${id}`);
  return { ...found, ...changes };
}

export function createRequest(changes: Partial<ProviderRequest> = {}): ProviderRequest {
  return providerRequest({ model: model("gemini-3.8-flash"), ...changes });
}

/** Streams one answer to its end. */
export function run(changes: Partial<ProviderRequest>) {
  return streamToEnd(googleGenerativeAi, createRequest(changes));
}

/** Streams the answer to one reply to its end. */
export function answerTo(reply: Reply, changes: Partial<ProviderRequest> = {}) {
  return streamReply(googleGenerativeAi, reply, { model: model("gemini-3.8-flash"), ...changes });
}
