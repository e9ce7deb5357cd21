/**
 * Sources, read in November 2026: the model and price pages of ai.google.dev, the guides on docs.cloud.google.com, and
 * models.dev, which cites them. Prices are US dollars per million tokens of the paid tier. The service takes nothing for
 * writing its implicit cache. `gemini-3.8-flash` costs twice as much from 2027 on.
 */
import type { Model } from "@pi-agent/kernel";

type Levels = Model["thinkingLevelMap"];
type Prices = readonly [input: number, output: number, cacheRead: number];

const ALL: Levels = { off: null, minimal: "MINIMAL", low: "LOW", medium: "MEDIUM", high: "HIGH" };
const FROM_LOW: Levels = { ...ALL, minimal: null };
/** Thinks by a budget of tokens, and cannot be turned off. */
const ALWAYS: Levels = { off: null };
/** Above this many tokens of input the higher prices hold for all of them. */
const LONG_INPUT_TOKENS = 200_000;

const ROWS: readonly [id: string, name: string, Prices, Levels, long?: Prices][] = [
  ["gemini-3.8-flash", "Gemini 3.8 Flash", [0.75, 3.75, 0.075], FROM_LOW],
  ["gemini-3.5-flash", "Gemini 3.5 Flash", [1.5, 9, 0.15], ALL],
  ["gemini-3.1-pro-preview", "Gemini 3.1 Pro Preview", [2, 12, 0.2], FROM_LOW, [4, 18, 0.4]],
  ["gemini-3.1-flash-lite", "Gemini 3.1 Flash-Lite", [0.25, 1.5, 0.025], ALL],
  ["gemini-3-flash-preview", "Gemini 3 Flash Preview", [0.5, 3, 0.05], ALL],
  ["gemini-2.5-pro", "Gemini 2.5 Pro", [1.25, 10, 0.125], ALWAYS, [2.5, 15, 0.25]],
  ["gemini-2.5-flash", "Gemini 2.5 Flash", [0.3, 2.5, 0.03], undefined],
  ["gemini-2.5-flash-lite", "Gemini 2.5 Flash-Lite", [0.1, 0.4, 0.01], undefined],
];

/** The models of the service, the newest first. */
export const MODELS: Model[] = ROWS.map(([id, name, prices, thinkingLevelMap, long]) => ({
  id,
  name,
  provider: "google",
  api: "google-generative-ai",
  reasoning: true,
  ...(thinkingLevelMap && { thinkingLevelMap }),
  input: ["text", "image"],
  cost: {
    ...toCost(prices),
    ...(long && { tiers: [{ inputTokensAbove: LONG_INPUT_TOKENS, ...toCost(long) }] }),
  },
  contextWindow: 1_048_576,
  maxTokens: 65_536,
}));

function toCost([input, output, cacheRead]: Prices) {
  return { input, output, cacheRead, cacheWrite: 0 };
}
