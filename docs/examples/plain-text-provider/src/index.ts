import type { AssistantMessage, ExtensionAPI, Model, ProviderRequest, StreamEvent } from "@pi-agent/kernel";

const MODEL: Model = {
  id: "plain",
  name: "Plain",
  provider: "plain-text",
  api: "plain-text",
  baseUrl: "http://127.0.0.1:8080/answer",
  reasoning: false,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 32_000,
  maxTokens: 4_000,
};
const KINDS: Record<number, "auth" | "rate_limit"> = { 401: "auth", 429: "rate_limit" };

/** Adds a provider: the conversation goes out as JSON, the answer comes back as plain text. It offers no tools. */
export default function plainText(pi: ExtensionAPI): void {
  pi.register("api", "plain-text", { stream });
  pi.registerProvider({ id: "plain-text", api: "plain-text", env: ["PLAIN_TEXT_API_KEY"], models: [MODEL] });
}

/** Streams one answer. Whatever goes wrong is its last event, never a throw; where there is no answer, it is the network. */
async function* stream(request: ProviderRequest): AsyncGenerator<readonly StreamEvent[]> {
  const { id: model, provider, api, cost } = request.model;
  const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { ...cost, total: 0 } };
  const block = { type: "text" as const, text: "" };
  const about = { api, provider, model, usage, timestamp: Date.now() };
  const message: AssistantMessage = { role: "assistant", content: [block], stopReason: "stop", ...about };
  yield [{ type: "start", partial: message }];
  yield [{ type: "text_start", contentIndex: 0 }];
  try {
    for await (const delta of await ask(request)) {
      await request.onStreamEvent?.(delta);
      block.text += delta;
      yield [{ type: "text_delta", contentIndex: 0, delta }];
    }
    yield [{ type: "text_end", contentIndex: 0, content: block.text }];
    yield [{ type: "done", reason: "stop", message }];
  } catch (thrown) {
    const { message: why, failure = { kind: "network" } } = thrown as Error & Pick<AssistantMessage, "failure">;
    const reason = request.signal.aborted ? ("aborted" as const) : ("error" as const);
    const error = Object.assign(message, { stopReason: reason, failure, errorMessage: `${provider}: ${why}` });
    yield [{ type: "error", reason, error }];
  }
}

async function ask({ auth, model, signal, ...request }: ProviderRequest): Promise<AsyncIterable<string>> {
  const text = ({ content }: ProviderRequest["messages"][number]) =>
    typeof content === "string" ? content : content.map((part) => (part.type === "text" ? part.text : "")).join("");
  const messages = request.messages.map((message) => ({ role: message.role, text: text(message) }));
  const body = JSON.stringify(await request.onPayload({ system: request.systemPrompt, messages }));
  const own = await request.onHeaders({ authorization: `Bearer ${auth.apiKey}`, ...model.headers, ...auth.headers });
  const headers = Object.entries(own).filter((pair): pair is [string, string] => pair[1] !== null);
  const response = await request.fetch(auth.baseUrl ?? model.baseUrl!, { method: "POST", headers, body, signal });
  await request.onResponse(response);
  if (response.ok && response.body) return response.body.pipeThrough(new TextDecoderStream());
  const { status } = response;
  throw Object.assign(new Error(await response.text()), { failure: { kind: KINDS[status] ?? "unknown", status } });
}
