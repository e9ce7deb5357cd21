/** A real agent whose model is scripted: each call of it gives the next answer. */
import {
  type Agent,
  type AgentOptions,
  type AssistantMessage,
  createAgent,
  type Extension,
  type Model,
  type StreamEvent,
} from "@pi-agent/kernel";

const MODEL: Model = {
  id: "scripted",
  name: "Scripted",
  provider: "test",
  api: "scripted",
  reasoning: false,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 100_000,
  maxTokens: 1_000,
};

/** An answer: its text, or the fields that differ from a plain one. */
export type Answer = string | Partial<AssistantMessage>;

/** Makes the agent; its model gives the answers in turn, each in deltas of `deltaSize` characters. */
export function createScriptedAgent(
  answers: readonly Answer[],
  options: AgentOptions & { deltaSize?: number } = {},
): Agent {
  const { deltaSize = 5, ...rest } = options;
  return createAgent({
    ...rest,
    model: MODEL,
    extensions: [scriptModel(answers, deltaSize), ...(options.extensions ?? [])],
  });
}

/** An extension that provides the model. */
function scriptModel(answers: readonly Answer[], deltaSize: number): Extension {
  const left = [...answers];
  return (pi) => {
    pi.registerProvider({ id: "test", api: "scripted", models: [MODEL], env: [] });
    pi.register("api", "scripted", {
      async *stream() {
        yield* batches(toMessage(left.shift() ?? "no more answers"), deltaSize);
      },
    });
  };
}

function toMessage(answer: Answer): AssistantMessage {
  return {
    role: "assistant",
    content: typeof answer === "string" ? [{ type: "text", text: answer }] : [],
    api: MODEL.api,
    provider: MODEL.provider,
    model: MODEL.id,
    usage: {
      input: 1,
      output: 1,
      cacheRead: 0,
      cacheWrite: 0,
      totalTokens: 2,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    },
    stopReason: "stop",
    timestamp: Date.now(),
    ...(typeof answer === "string" ? {} : answer),
  };
}

function* batches(message: AssistantMessage, deltaSize: number): Generator<StreamEvent[]> {
  const partial: AssistantMessage = { ...message, content: [], stopReason: "pending" };
  yield [{ type: "start", partial }];
  for (const [contentIndex, block] of message.content.entries()) {
    if (block.type === "text") {
      const live = { type: "text" as const, text: "" };
      partial.content.push(live);
      yield [{ type: "text_start", contentIndex }];
      for (let at = 0; at < block.text.length; at += deltaSize) {
        const delta = block.text.slice(at, at + deltaSize);
        live.text += delta;
        yield [{ type: "text_delta", contentIndex, delta }];
      }
      yield [{ type: "text_end", contentIndex, content: block.text }];
    } else if (block.type === "toolCall") {
      partial.content.push(block);
      yield [
        { type: "toolcall_start", contentIndex, id: block.id, toolName: block.name },
        { type: "toolcall_end", contentIndex, toolCall: block },
      ];
    }
  }
  const { stopReason } = message;
  if (stopReason === "error" || stopReason === "aborted") yield [{ type: "error", reason: stopReason, error: message }];
  else yield [{ type: "done", reason: stopReason as "stop", message }];
}
