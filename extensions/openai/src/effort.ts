import type { Json, JsonObject, Model, ProviderRequest, ThinkingLevel } from "@pi-agent/kernel";
import { clampThinkingLevel } from "@pi-agent/wire";
import type { ChatCompat } from "./compat.ts";

/** A server's word for a thinking level, or for the nearest that the model has; `undefined` says nothing. */
export function effortOf(model: Model, asked: ThinkingLevel): string | undefined {
  if (!model.reasoning) return undefined;
  const level = clampThinkingLevel(model, asked);
  return model.thinkingLevelMap?.[level] ?? (level === "off" ? undefined : level);
}

/** Makes the temperature of a request; OpenAI's models refuse one while they reason. */
export function temperatureOf({ model, thinkingLevel, temperature }: ProviderRequest): number | undefined {
  const effort = effortOf(model, thinkingLevel);
  return model.reasoning && effort !== "none" ? undefined : temperature;
}

type Format = (thinks: boolean, effort: string | undefined) => Record<string, Json | undefined>;

const FORMATS: Record<ChatCompat["thinkingFormat"], Format> = {
  openai: (_thinks, effort) => ({ reasoning_effort: effort }),
  openrouter: (thinks, effort) => (thinks && !effort ? {} : { reasoning: { effort: effort ?? "none" } }),
  deepseek: (thinks, effort) => ({
    thinking: { type: thinks ? "enabled" : "disabled" },
    reasoning_effort: thinks ? effort : undefined,
  }),
  zai: (thinks) => ({ thinking: { type: thinks ? "enabled" : "disabled" } }),
  qwen: (thinks) => ({ enable_thinking: thinks }),
  "qwen-chat-template": (thinks) => ({ chat_template_kwargs: { enable_thinking: thinks } }),
};

/** Makes the fields that ask a chat server for thinking. */
export function thinkingFields(model: Model, level: ThinkingLevel, compat: ChatCompat): JsonObject {
  if (!model.reasoning) return {};
  const effort = compat.supportsReasoningEffort ? effortOf(model, level) : undefined;
  const format = FORMATS[compat.thinkingFormat] ?? FORMATS.openai;
  return dropUndefined(format(clampThinkingLevel(model, level) !== "off", effort));
}

export function dropUndefined(fields: Record<string, Json | undefined>): JsonObject {
  const kept: JsonObject = {};
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) kept[name] = value;
  return kept;
}
