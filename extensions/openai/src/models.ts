/**
 * OpenAI's models as its model pages have them (developers.openai.com/api/docs/models, November 2026).
 * Others, and other prices, come from the person's models.json.
 */
import type { Model, ThinkingLevel } from "@pi-agent/kernel";
import { PROVIDER } from "./http.ts";

/** US dollars per million tokens: input, cached input, written to the cache, output. */
type Prices = [input: number, cacheRead: number, cacheWrite: number, output: number];

interface Row {
  id: string;
  name: string;
  prices: Prices;
  contextWindow: number;
  maxTokens: number;
  /** The words for effort that the model takes; without them it does not reason. */
  efforts?: readonly string[];
  /** Input tokens above which all of a request costs double, and its output half as much again. */
  doubleAbove?: number;
}

/** From the first GPT-5.4 on. */
const LARGE = { contextWindow: 1_050_000, maxTokens: 128_000, doubleAbove: 272_000 };
const MEDIUM = { contextWindow: 400_000, maxTokens: 128_000 };
const GPT_4_1 = { contextWindow: 1_047_576, maxTokens: 32_768 };
const GPT_4O = { contextWindow: 128_000, maxTokens: 16_384 };

const LOW_TO_MAX = ["low", "medium", "high", "xhigh", "max"];
const NONE_TO_MAX = ["none", ...LOW_TO_MAX];
const NONE_TO_XHIGH = ["none", "low", "medium", "high", "xhigh"];
const NONE_TO_HIGH = ["none", "low", "medium", "high"];
const MINIMAL_TO_HIGH = ["minimal", "low", "medium", "high"];

/** The first is what an agent takes when nobody has chosen. */
const ROWS: readonly Row[] = [
  { id: "gpt-6.1-sol", name: "GPT-6.1 Sol", prices: [2, 0.1, 2.5, 10], ...LARGE, efforts: LOW_TO_MAX },
  { id: "gpt-6.1-terra", name: "GPT-6.1 Terra", prices: [1, 0.05, 1.25, 5], ...LARGE, efforts: NONE_TO_MAX },
  { id: "gpt-6-astra", name: "GPT-6 Astra", prices: [10, 1, 12.5, 50], ...LARGE, efforts: LOW_TO_MAX },
  { id: "gpt-6-luna", name: "GPT-6 Luna", prices: [0.1, 0.01, 0.125, 0.5], ...LARGE, efforts: NONE_TO_MAX },
  { id: "gpt-5.6-sol", name: "GPT-5.6 Sol", prices: [4, 0.4, 5, 20], ...LARGE, efforts: NONE_TO_MAX },
  { id: "gpt-5.6-terra", name: "GPT-5.6 Terra", prices: [2, 0.2, 2.5, 12], ...LARGE, efforts: NONE_TO_MAX },
  { id: "gpt-5.6-luna", name: "GPT-5.6 Luna", prices: [0.2, 0.02, 0.25, 1.2], ...LARGE, efforts: NONE_TO_MAX },
  { id: "gpt-5.5", name: "GPT-5.5", prices: [5, 0.5, 5, 30], ...LARGE, efforts: NONE_TO_XHIGH },
  { id: "gpt-5.4", name: "GPT-5.4", prices: [2.5, 0.25, 2.5, 15], ...LARGE, efforts: NONE_TO_XHIGH },
  { id: "gpt-5.4-mini", name: "GPT-5.4 mini", prices: [0.75, 0.075, 0.75, 4.5], ...MEDIUM, efforts: NONE_TO_XHIGH },
  { id: "gpt-5.2", name: "GPT-5.2", prices: [1.75, 0.175, 1.75, 14], ...MEDIUM, efforts: NONE_TO_XHIGH },
  { id: "gpt-5.1", name: "GPT-5.1", prices: [1.25, 0.125, 1.25, 10], ...MEDIUM, efforts: NONE_TO_HIGH },
  { id: "gpt-5", name: "GPT-5", prices: [1.25, 0.125, 1.25, 10], ...MEDIUM, efforts: MINIMAL_TO_HIGH },
  { id: "gpt-5-mini", name: "GPT-5 mini", prices: [0.25, 0.025, 0.25, 2], ...MEDIUM, efforts: MINIMAL_TO_HIGH },
  { id: "gpt-5-nano", name: "GPT-5 nano", prices: [0.05, 0.005, 0.05, 0.4], ...MEDIUM, efforts: MINIMAL_TO_HIGH },
  { id: "gpt-4.1", name: "GPT-4.1", prices: [2, 0.5, 2, 8], ...GPT_4_1 },
  { id: "gpt-4.1-mini", name: "GPT-4.1 mini", prices: [0.4, 0.1, 0.4, 1.6], ...GPT_4_1 },
  { id: "gpt-4.1-nano", name: "GPT-4.1 nano", prices: [0.1, 0.025, 0.1, 0.4], ...GPT_4_1 },
  { id: "gpt-4o", name: "GPT-4o", prices: [2.5, 1.25, 2.5, 10], ...GPT_4O },
  { id: "gpt-4o-mini", name: "GPT-4o mini", prices: [0.15, 0.075, 0.15, 0.6], ...GPT_4O },
];

/** Makes the bundled catalogue. */
export function createModels(): Model[] {
  return ROWS.map(toModel);
}

function toModel({ id, name, prices, contextWindow, maxTokens, efforts, doubleAbove }: Row): Model {
  const cost: Model["cost"] = toCost(prices);
  if (doubleAbove !== undefined) {
    const [input, cacheRead, cacheWrite, output] = prices;
    cost.tiers = [
      { inputTokensAbove: doubleAbove, ...toCost([2 * input, 2 * cacheRead, 2 * cacheWrite, 1.5 * output]) },
    ];
  }
  const model: Model = {
    id,
    name,
    provider: PROVIDER,
    api: "openai-responses",
    reasoning: efforts !== undefined,
    input: ["text", "image"],
    cost,
    contextWindow,
    maxTokens,
  };
  if (efforts) model.thinkingLevelMap = toLevels(efforts);
  return model;
}

function toCost([input, cacheRead, cacheWrite, output]: Prices) {
  return { input, output, cacheRead, cacheWrite };
}

const LEVELS: readonly ThinkingLevel[] = ["off", "minimal", "low", "medium", "high", "xhigh", "max"];

function toLevels(efforts: readonly string[]): NonNullable<Model["thinkingLevelMap"]> {
  const words = LEVELS.map((level) => {
    const word = level === "off" ? "none" : level;
    return [level, efforts.includes(word) ? word : null];
  });
  return Object.fromEntries(words);
}
