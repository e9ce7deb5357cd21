/** How much may stay and how long requests may be, in the measure in which messages are estimated. */
import type { Model } from "@pi-agent/kernel";
import { UNKNOWN_WINDOW } from "./settings.ts";

export interface Budgets {
  /** About so much of the tail stays. */
  keepTokens: number;
  /** More than this may not stay: what is too long is shortened. */
  mostTokens: number;
  /** How long a request for a summary may be. */
  requestChars: number;
  /** How long a summary may be, in tokens of the model. */
  summaryTokens: number;
  /** Less than this is not worth a summary that nobody asked for. */
  leastTokens: number;
}

export interface Fill {
  model: Pick<Model, "contextWindow" | "maxTokens"> | undefined;
  /** From so many tokens on it compacts by itself. */
  threshold: number;
  keepRecentTokens: number;
  /** What the context was counted to have, in the model's tokens. */
  counted: number;
  /** What its messages are estimated to have. */
  estimated: number;
  /** What prompt and tools are estimated to have. */
  overhead: number;
}

/** The estimate takes four characters for a token, and no writing has more than a token in each. */
const LEAST_SCALE = 1 / 4;
/** Part of the reserve that a summary may fill, as Pi has it. */
const SUMMARY_SHARE = 0.8;
const LEAST_SUMMARY_TOKENS = 1_024;
const CHARS_PER_TOKEN = 4;

/** Divides a window. One estimated token is as many counted ones as it was in the context that is at hand. */
export function budgetsOf({ model, threshold, keepRecentTokens, counted, estimated, overhead }: Fill): Budgets {
  const window = model && model.contextWindow > 0 ? model.contextWindow : UNKNOWN_WINDOW;
  const limit = threshold > 0 ? threshold : window * 0.75;
  const scale = Math.max(LEAST_SCALE, Math.min(1, estimated / Math.max(1, counted - overhead)));
  const room = Math.max(limit - overhead, window / 8);
  const summaryTokens = Math.floor(
    Math.min(
      Math.max(SUMMARY_SHARE * (window - limit), LEAST_SUMMARY_TOKENS),
      window / 4,
      model && model.maxTokens > 0 ? model.maxTokens : Number.POSITIVE_INFINITY,
    ),
  );
  return {
    keepTokens: Math.floor(Math.min(keepRecentTokens, room / 2) * scale),
    mostTokens: Math.floor((room / 2) * scale),
    requestChars: Math.floor((window * 0.95 - summaryTokens) * scale * CHARS_PER_TOKEN),
    summaryTokens,
    leastTokens: Math.floor((limit / 20) * scale),
  };
}
