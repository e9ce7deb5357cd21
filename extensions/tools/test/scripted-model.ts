import type { AssistantMessage, ExtensionAPI, JsonObject, Model } from "@pi-agent/kernel";

const MODEL: Model = {
  id: "scripted",
  name: "Scripted",
  provider: "scripted",
  api: "scripted",
  reasoning: false,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 100_000,
  maxTokens: 1_000,
};

/** Tool calls of one answer, each `[name, arguments]`. */
export type Calls = [name: string, args: JsonObject][];

/** A model that asks for the given calls, one batch per answer, and then is done. */
export function scriptedModel(...batches: Calls[]): (pi: ExtensionAPI) => void {
  let turn = 0;
  return (pi) => {
    pi.registerProvider({ id: "scripted", api: "scripted", models: [MODEL], env: [] });
    pi.register("api", "scripted", {
      async *stream() {
        const message = answer(batches[turn++] ?? []);
        yield [
          { type: "start", partial: message },
          { type: "done", reason: message.stopReason === "toolUse" ? "toolUse" : "stop", message },
        ];
      },
    });
  };
}

function answer(calls: Calls): AssistantMessage {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  return {
    role: "assistant",
    content:
      calls.length === 0
        ? [{ type: "text", text: "done" }]
        : calls.map(([name, args], index) => ({ type: "toolCall", id: `call_${index}`, name, arguments: args })),
    api: "scripted",
    provider: "scripted",
    model: "scripted",
    usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost },
    stopReason: calls.length === 0 ? "stop" : "toolUse",
    timestamp: 1,
  };
}
