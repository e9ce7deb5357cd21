/**
 * Sources, read in November 2026: the model pages and the price list on platform.claude.com, and models.dev, which
 * cites them. Prices are US dollars per million tokens.
 */
import type { Model } from "@pi-agent/kernel";

type Levels = Model["thinkingLevelMap"];
type Prices = readonly [input: number, output: number, cacheRead: number];

const EFFORTS: Levels = { minimal: "low", xhigh: "xhigh", max: "max" };
const NO_XHIGH: Levels = { minimal: "low", max: "max" };
/** Thinking cannot be turned off. */
const ALWAYS: Levels = { ...EFFORTS, off: null };
/** Thinks unless it is told not to. */
const BY_DEFAULT: Levels = { ...EFFORTS, off: "disabled" };
/** Its thinking counts only behind the very conversation that it came from. */
const BOUND: Partial<Model> = { compat: { bindsThinking: true } };

const ROWS: readonly [id: string, name: string, Prices, Levels, Partial<Model>?][] = [
  ["claude-opus-5-5", "Claude Opus 5.5", [4, 20, 0.2], ALWAYS, BOUND],
  ["claude-sonnet-5-5", "Claude Sonnet 5.5", [2, 10, 0.1], ALWAYS, BOUND],
  [
    "claude-haiku-5-5",
    "Claude Haiku 5.5",
    [0.1, 0.5, 0.01],
    BY_DEFAULT,
    {
      ...BOUND,
      cost: { ...toCost([0.1, 0.5, 0.01]), tiers: [{ inputTokensAbove: 100_000, ...toCost([0.5, 2.5, 0.05]) }] },
    },
  ],
  ["claude-fable-5-2", "Claude Fable 5.2", [8, 40, 0.2], ALWAYS, BOUND],
  ["claude-fable-5-1", "Claude Fable 5.1", [10, 50, 0.25], ALWAYS, BOUND],
  ["claude-fable-5", "Claude Fable 5", [10, 50, 1], ALWAYS],
  ["claude-opus-5", "Claude Opus 5", [5, 25, 0.5], BY_DEFAULT],
  ["claude-sonnet-5", "Claude Sonnet 5", [2, 10, 0.2], BY_DEFAULT],
  ["claude-opus-4-8", "Claude Opus 4.8", [5, 25, 0.5], EFFORTS],
  ["claude-opus-4-7", "Claude Opus 4.7", [5, 25, 0.5], EFFORTS],
  ["claude-opus-4-6", "Claude Opus 4.6", [5, 25, 0.5], NO_XHIGH],
  ["claude-sonnet-4-6", "Claude Sonnet 4.6", [3, 15, 0.3], NO_XHIGH, { maxTokens: 64_000 }],
  ["claude-haiku-4-5", "Claude Haiku 4.5", [1, 5, 0.1], undefined, { contextWindow: 200_000, maxTokens: 64_000 }],
];

/** The models of the service, the one that it recommends first. */
export const MODELS: Model[] = ROWS.map(([id, name, prices, thinkingLevelMap, special]) => ({
  id,
  name,
  provider: "anthropic",
  api: "anthropic-messages",
  reasoning: true,
  ...(thinkingLevelMap && { thinkingLevelMap }),
  input: ["text", "image"],
  cost: toCost(prices),
  contextWindow: 1_000_000,
  maxTokens: 128_000,
  ...special,
}));

/** A cache write for five minutes costs 1.25 times the input on every model. */
function toCost([input, output, cacheRead]: Prices) {
  return { input, output, cacheRead, cacheWrite: input * 1.25 };
}
