import type { Api, AssistantMessage, Model, ProviderRequest, StreamEvent } from "@pi-agent/kernel";
import { type Reply, type ServedRequest, serveReplies } from "./serve.ts";
import { assertStreamOrder } from "./stream-order.ts";

/** A model that thinks and sees, of nobody's. */
export const TEST_MODEL: Model = {
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

/** Long enough to be taken for a secret. */
export const TEST_KEY = "key-01234567";

/** Makes a request that says "Hello" to the test model without a cache, but for the changes. */
export function providerRequest(changes: Partial<ProviderRequest> = {}): ProviderRequest {
  return {
    model: TEST_MODEL,
    systemPrompt: "",
    messages: [{ role: "user", content: "Hello", timestamp: 0 }],
    tools: [],
    thinkingLevel: "off",
    auth: { apiKey: TEST_KEY },
    purpose: "turn",
    sessionId: "session-1",
    cacheRetention: "none",
    signal: new AbortController().signal,
    fetch,
    onPayload: async (payload) => payload,
    onHeaders: async (headers) => headers,
    onResponse: async () => {},
    ...changes,
  };
}

/** An answer that was streamed to its end. */
export interface StreamedAnswer {
  events: StreamEvent[];
  message: AssistantMessage;
}

/** Streams one answer to its end and holds it to the order of stream events; `onEvent` gets each event as it comes. */
export async function streamToEnd(
  api: Api,
  request: ProviderRequest,
  onEvent: (event: StreamEvent) => void = () => {},
): Promise<StreamedAnswer> {
  const batches: (readonly StreamEvent[])[] = [];
  for await (const batch of api.stream(request)) {
    batches.push(batch);
    for (const event of batch) onEvent(event);
  }
  return { events: batches.flat(), message: assertStreamOrder(batches) };
}

/** Streams the answer to one reply from loopback. The changes are those of `providerRequest`; `auth` is filled up. */
export async function streamReply(
  api: Api,
  reply: Reply,
  changes: Partial<ProviderRequest> = {},
): Promise<StreamedAnswer & { seen: readonly ServedRequest[] }> {
  await using server = await serveReplies(reply);
  const auth = { apiKey: TEST_KEY, baseUrl: server.url, ...changes.auth };
  return { ...(await streamToEnd(api, providerRequest({ ...changes, auth }))), seen: server.seen };
}
