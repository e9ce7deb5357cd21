import type { ProviderRequest } from "@pi-agent/kernel";
import { clampThinkingLevel, thinkingBudget } from "@pi-agent/wire";
import { isGemini3 } from "./model-version.ts";
import { toDeclarations } from "./tools.ts";

/** Settings under the SDK's names; those of `samplingParams` among them. */
export type Config = Record<string, unknown>;

/** Builds everything of a request but its contents, in the SDK's terms. */
export function toConfig(request: ProviderRequest): Config {
  const { model, systemPrompt, tools, temperature } = request;
  const thinkingConfig = toThinking(request);
  return {
    ...(systemPrompt.trim() !== "" && { systemInstruction: { parts: [{ text: systemPrompt.toWellFormed() }] } }),
    ...(tools.length > 0 && { tools: [{ functionDeclarations: [...toDeclarations(tools)] }] }),
    ...(thinkingConfig && { thinkingConfig }),
    ...outputLimit(request),
    ...(temperature !== undefined && { temperature }),
    ...model.samplingParams,
  };
}

function toThinking({ model, thinkingLevel }: ProviderRequest): Config | undefined {
  if (!model.reasoning) return undefined;
  const level = clampThinkingLevel(model, thinkingLevel);
  if (level === "off") return isGemini3(model) ? undefined : { thinkingBudget: 0 };
  // A model that cannot do without is not asked to show what nobody wanted.
  const shown = thinkingLevel === "off" ? {} : { includeThoughts: true };
  if (!isGemini3(model)) return { ...shown, thinkingBudget: thinkingBudget(level) };
  return { ...shown, thinkingLevel: model.thinkingLevelMap?.[level] ?? level.toUpperCase() };
}

/** What was asked for is meant for the answer, but the service counts thoughts too: they get room of their own. */
function outputLimit({ model, thinkingLevel, maxTokens }: ProviderRequest): Config {
  if (maxTokens === undefined) return {};
  const thoughts = model.reasoning ? thinkingBudget(clampThinkingLevel(model, thinkingLevel)) : 0;
  return { maxOutputTokens: Math.min(maxTokens + thoughts, model.maxTokens) };
}
