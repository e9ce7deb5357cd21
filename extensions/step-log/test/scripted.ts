import type { Api, AssistantMessage, Extension, Model, StreamEvent, Usage } from "@pi-agent/kernel";

const rates = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const usage: Usage = {
  input: 10,
  output: 5,
  cacheRead: 2,
  cacheWrite: 1,
  totalTokens: 18,
  cost: { ...rates, total: 0.25 },
};

/** An answer of the scripted model. */
export function answer(content: AssistantMessage["content"], more: Partial<AssistantMessage> = {}): AssistantMessage {
  const asksTools = content.some((block) => block.type === "toolCall");
  return {
    role: "assistant",
    content,
    api: "scripted",
    provider: "scripted",
    model: "scripted-1",
    usage: structuredClone(usage),
    stopReason: asksTools ? "toolUse" : "stop",
    timestamp: 1,
    ...more,
  };
}

export type Turn = (signal: AbortSignal) => AssistantMessage | Promise<AssistantMessage>;

/** A provider that plays its turns one by one, and then answers "done". */
export function scripted(turns: Turn[] = []): Extension {
  const model: Model = {
    id: "scripted-1",
    name: "Scripted",
    provider: "scripted",
    api: "scripted",
    reasoning: false,
    input: ["text"],
    cost: rates,
    contextWindow: 100_000,
    maxTokens: 1_000,
  };
  const api: Api = {
    async *stream({ signal }) {
      const message = await (turns.shift() ?? (() => answer([{ type: "text", text: "done" }])))(signal);
      const end: StreamEvent =
        message.stopReason === "error" || message.stopReason === "aborted"
          ? { type: "error", reason: message.stopReason, error: message }
          : { type: "done", reason: message.stopReason as "stop", message };
      yield [{ type: "start", partial: message }, end];
    },
  };
  return (pi) => {
    pi.register("api", "scripted", api);
    pi.registerProvider({ id: "scripted", api: "scripted", models: [model], env: [] });
  };
}
