import type { ProviderRequest, ThinkingLevel } from "@pi-agent/kernel";
import { clampThinkingLevel, thinkingBudget } from "@pi-agent/wire";
import { thinkingStyle } from "./model-version.ts";

/** The least that the API takes. */
const MIN_BUDGET = 1_024;
/** Tokens that are left for the answer itself. */
const MIN_ANSWER_TOKENS = 1_024;

const BINDING_BETA = "thinking-binding-controls-2026-08-01";
const INTERLEAVED_BETA = "interleaved-thinking-2025-05-14";

/** What makes the model think, and the beta features that it needs. */
export interface Thinking {
  fields: { max_tokens: number; thinking?: { type: string }; output_config?: { effort: string } };
  betas: string[];
  /** Thinking that was bound to a conversation is not taken back by a request without thinking. */
  dropsEarlier: boolean;
}

/**
 * Translates the thinking level and the limit of the answer. A level that the model does not have becomes the next
 * one up, else down. `room` is the number of tokens that still fit.
 */
export function toThinking({ model, thinkingLevel, maxTokens }: ProviderRequest, room: number): Thinking {
  const limit = Math.max(1, Math.min(model.maxTokens, room));
  const level = clampThinkingLevel(model, thinkingLevel);
  if (level !== "off" && thinkingStyle(model) === "budget") return toBudget(level, maxTokens ?? limit, limit);
  const max_tokens = Math.min(maxTokens ?? limit, limit);
  const isBound = model.compat?.bindsThinking === true;
  const word = model.thinkingLevelMap?.[level];
  if (level === "off") {
    const fields = word ? { max_tokens, thinking: { type: word } } : { max_tokens };
    return { fields, betas: [], dropsEarlier: isBound };
  }
  const thinking = {
    type: "adaptive",
    display: thinkingLevel === "off" ? "omitted" : "summarized",
    // A prompt or a history that has changed makes earlier thinking void. That must not fail the request.
    ...(isBound && { block_binding: { prefix_mismatch_behavior: "drop_block" } }),
  };
  const fields = { max_tokens, thinking, output_config: { effort: word ?? level } };
  return { fields, betas: isBound ? [BINDING_BETA] : [], dropsEarlier: false };
}

/** What was asked for is meant for the answer: the budget comes on top, as far as the model goes. */
function toBudget(level: ThinkingLevel, answerTokens: number, limit: number): Thinking {
  const wanted = thinkingBudget(level);
  const max_tokens = Math.min(answerTokens + wanted, limit);
  const budget_tokens = Math.min(wanted, max_tokens - MIN_ANSWER_TOKENS);
  if (budget_tokens < MIN_BUDGET) return { fields: { max_tokens }, betas: [], dropsEarlier: false };
  const fields = { max_tokens, thinking: { type: "enabled", budget_tokens } };
  return { fields, betas: [INTERLEAVED_BETA], dropsEarlier: false };
}
