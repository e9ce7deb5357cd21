import type { Extension, Message, Model, ProviderRequest } from "@pi-agent/kernel";
import { streamTurn } from "./scripted-stream.ts";
import { countParts, joinTexts } from "./wire-server/json-values.ts";
import type { NeutralMessage, NeutralRequest } from "./wire-server/neutral-request.ts";
import { createScriptReader, type Script } from "./wire-server/turn.ts";

/** The one model of the scripted provider. */
export const SCRIPTED_MODEL: Model = {
  id: "scripted",
  name: "Scripted",
  provider: "scripted",
  api: "scripted",
  reasoning: true,
  input: ["text", "image"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 1_000_000,
  maxTokens: 32_000,
};

/** An extension with a model that follows a script, in this process and without any wait. */
export interface ScriptedProvider extends Extension {
  /** Every request that reached the model. */
  requests: ProviderRequest[];
}

/** Makes an extension that registers api and provider `scripted` with the model `scripted/scripted`. */
export function scriptedProvider(script: Script): ScriptedProvider {
  const nextTurn = createScriptReader(script);
  const requests: ProviderRequest[] = [];
  const extension: Extension = (pi) => {
    pi.register("api", "scripted", {
      async *stream(request) {
        // The conversation goes on in the list that was given.
        requests.push({ ...request, messages: [...request.messages] });
        const neutral = toNeutral(request);
        const turn = (await nextTurn(neutral)) ?? { fail: { status: 400, body: "The script has no turn left." } };
        yield* streamTurn(turn, request, JSON.stringify(neutral).length);
      },
    });
    pi.registerProvider({ id: "scripted", api: "scripted", models: [SCRIPTED_MODEL], env: [] });
  };
  return Object.assign(extension, { requests });
}

function toNeutral(request: ProviderRequest): NeutralRequest {
  return {
    format: "kernel",
    model: request.model.id,
    system: request.systemPrompt,
    messages: request.messages.map(toNeutralMessage),
    tools: request.tools.map(({ name, description, parameters }) => ({ name, description, schema: parameters })),
  };
}

function toNeutralMessage(message: Message): NeutralMessage {
  const text = joinTexts(message.content);
  const images = countParts(message.content, ["image"]);
  if (message.role === "toolResult") {
    const { toolCallId: callId, toolName: name, isError } = message;
    return { role: "tool", callId, name, text, images, isError };
  }
  if (message.role !== "assistant") return { role: "user", text, images };
  const thinking = message.content.map((block) => (block.type === "thinking" ? block.thinking : "")).join("");
  const calls = message.content.filter((block) => block.type === "toolCall");
  return {
    role: "assistant",
    text,
    thinking,
    calls: calls.map(({ id, name, arguments: args }) => ({ id, name, arguments: args })),
  };
}
