import type { AssistantMessage, Model } from "@pi-agent/kernel";

/** An answer that says nothing was refused for want of room when so much of the window was taken. */
const FULL = 0.99;

/**
 * Tells what an answer's end says of the window, if it says anything. `cut`: it ended for want of room, and there is more
 * to say. `full`: it is whole, and what it was asked for with was longer than the window, which the service has hidden.
 */
export function endOf({ usage, stopReason, ...answer }: AssistantMessage, model: Model): "cut" | "full" | undefined {
  const { contextWindow, maxTokens } = model;
  const isOfThisModel = answer.provider === model.provider && answer.model === model.id;
  if (!(contextWindow > 0) || !isOfThisModel) return undefined;
  const input = usage.input + usage.cacheRead + usage.cacheWrite;
  if (stopReason === "stop") return input > contextWindow ? "full" : undefined;
  if (stopReason !== "length") return undefined;
  if (usage.output === 0) return input >= FULL * contextWindow ? "cut" : undefined;
  // Below the model's own limit it was the window that ended it, where that had no room for an answer of full length.
  return usage.output < maxTokens && input + maxTokens > contextWindow ? "cut" : undefined;
}
