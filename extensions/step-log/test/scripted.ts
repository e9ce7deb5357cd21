import type { AssistantMessage, Extension, StreamEvent } from "@pi-agent/kernel";
import { SCRIPTED_MODEL } from "@pi-agent/testing";
import { assistantMessage, usageOf } from "@pi-agent/testing/provider";

/** An answer of the scripted model, which costs something. */
export function answer(content: AssistantMessage["content"], more: Partial<AssistantMessage> = {}): AssistantMessage {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0.25 };
  const usage = usageOf({ input: 10, output: 5, cacheRead: 2, cacheWrite: 1, totalTokens: 18, cost });
  return assistantMessage(SCRIPTED_MODEL, content, { usage, ...more });
}

export type Turn = (signal: AbortSignal) => AssistantMessage | Promise<AssistantMessage>;

/** A provider that plays its turns one by one, and then answers "done". */
export function scripted(turns: Turn[] = []): Extension {
  return (pi) => {
    pi.register("api", "scripted", {
      async *stream({ signal }) {
        const message = await (turns.shift() ?? (() => answer([{ type: "text", text: "done" }])))(signal);
        const end: StreamEvent =
          message.stopReason === "error" || message.stopReason === "aborted"
            ? { type: "error", reason: message.stopReason, error: message }
            : { type: "done", reason: message.stopReason as "stop", message };
        yield [{ type: "start", partial: message }, end];
      },
    });
    pi.registerProvider({ id: "scripted", api: "scripted", models: [SCRIPTED_MODEL], env: [] });
  };
}
