import type { Api, AssistantMessage, Extension, Model } from "@pi-agent/kernel";

const zero = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };

/** An answer of the scripted model. */
export function answer(content: AssistantMessage["content"]): AssistantMessage {
  const asksTools = content.some((block) => block.type === "toolCall");
  return {
    role: "assistant",
    content,
    api: "scripted",
    provider: "scripted",
    model: "scripted-1",
    usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: zero },
    stopReason: asksTools ? "toolUse" : "stop",
    timestamp: 1,
  };
}

export type Turn = () => AssistantMessage | Promise<AssistantMessage>;

/** A provider that plays its turns one by one, and then answers "done". */
export function scripted(turns: Turn[] = []): Extension {
  const model: Model = {
    id: "scripted-1",
    name: "Scripted",
    provider: "scripted",
    api: "scripted",
    reasoning: false,
    input: ["text"],
    cost: zero,
    contextWindow: 100_000,
    maxTokens: 1_000,
  };
  const api: Api = {
    async *stream() {
      const made = await (turns.shift() ?? (() => answer([{ type: "text", text: "done" }])))();
      yield [
        { type: "start" as const, partial: made },
        { type: "done" as const, reason: made.stopReason as "stop", message: made },
      ];
    },
  };
  return (pi) => {
    pi.register("api", "scripted", api);
    pi.registerProvider({ id: "scripted", api: "scripted", models: [model], env: [] });
  };
}
