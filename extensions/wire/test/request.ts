import type { Model, ProviderRequest } from "@pi-agent/kernel";

export const MODEL: Model = {
  id: "m1",
  name: "M 1",
  provider: "acme",
  api: "acme-api",
  reasoning: true,
  input: ["text", "image"],
  cost: { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 1.25 },
  contextWindow: 100_000,
  maxTokens: 1_000,
};

export function createRequest(changes: Partial<ProviderRequest> = {}): ProviderRequest {
  return {
    model: MODEL,
    systemPrompt: "",
    messages: [],
    tools: [],
    thinkingLevel: "off",
    auth: {},
    purpose: "turn",
    sessionId: "s1",
    cacheRetention: "short",
    signal: new AbortController().signal,
    fetch,
    onPayload: async (payload) => payload,
    onHeaders: async (headers) => headers,
    onResponse: async () => {},
    ...changes,
  };
}

export function bodyOf(chunks: readonly (string | Uint8Array)[]): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(typeof chunk === "string" ? encoder.encode(chunk) : chunk);
      controller.close();
    },
  });
}
