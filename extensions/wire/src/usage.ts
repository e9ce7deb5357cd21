import type { Model, Usage } from "@pi-agent/kernel";

/** Makes a count of nothing. */
export function emptyUsage(): Usage {
  return {
    input: 0,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 0,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  };
}

const PER_TOKEN = 1e-6;
/** What a cache write for an hour costs, in input prices. */
const HOUR_WRITE_FACTOR = 2;

/**
 * Prices tokens in US dollars: the highest tier that the input exceeds holds for all of it.
 * A total that the provider itself has billed is kept.
 */
export function priceUsage(model: Model, usage: Usage): Usage["cost"] {
  const rates = ratesFor(model, usage.input + usage.cacheRead + usage.cacheWrite);
  const hourWrites = usage.cacheWrite1h ?? 0;
  const input = usage.input * rates.input * PER_TOKEN;
  const output = usage.output * rates.output * PER_TOKEN;
  const cacheRead = usage.cacheRead * rates.cacheRead * PER_TOKEN;
  const cacheWrite =
    ((usage.cacheWrite - hourWrites) * rates.cacheWrite + hourWrites * HOUR_WRITE_FACTOR * rates.input) * PER_TOKEN;
  const cost = { input, output, cacheRead, cacheWrite, total: input + output + cacheRead + cacheWrite };
  return usage.cost.totalFromProvider ? { ...cost, total: usage.cost.total, totalFromProvider: true } : cost;
}

function ratesFor(model: Model, inputTokens: number) {
  let rates: Omit<Model["cost"], "tiers"> = model.cost;
  let above = -1;
  for (const tier of model.cost.tiers ?? []) {
    if (inputTokens > tier.inputTokensAbove && tier.inputTokensAbove > above) {
      rates = tier;
      above = tier.inputTokensAbove;
    }
  }
  return rates;
}
