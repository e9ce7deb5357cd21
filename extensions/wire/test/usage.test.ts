import { TEST_MODEL, usageOf } from "@pi-agent/testing/provider";
import { expect, test } from "vitest";
import { priceUsage } from "../src/index.ts";

const tiered = {
  ...TEST_MODEL,
  cost: {
    ...TEST_MODEL.cost,
    tiers: [
      { inputTokensAbove: 2_000, input: 10, output: 20, cacheRead: 1, cacheWrite: 12.5 },
      { inputTokensAbove: 1_000, input: 5, output: 6, cacheRead: 0.5, cacheWrite: 6 },
    ],
  },
};

test("tokens are priced by the million, writes for an hour at twice the input price", () => {
  const cost = priceUsage(
    TEST_MODEL,
    usageOf({ input: 1e6, output: 1e6, cacheRead: 1e6, cacheWrite: 2e6, cacheWrite1h: 1e6 }),
  );
  expect(cost.input).toBeCloseTo(1, 9);
  expect(cost.output).toBeCloseTo(2, 9);
  expect(cost.cacheRead).toBeCloseTo(0.1, 9);
  expect(cost.cacheWrite).toBeCloseTo(1.25 + 2, 9);
  expect(cost.total).toBeCloseTo(6.35, 9);
});

test.each([
  [1_000, 1],
  [1_001, 5],
  [2_001, 10],
])("of tiers the highest that %i input tokens exceed holds for all", (input, rate) => {
  expect(priceUsage(tiered, usageOf({ input })).input).toBeCloseTo((input * rate) / 1e6, 12);
});

test("cached tokens count towards the tier", () => {
  expect(priceUsage(tiered, usageOf({ input: 500, cacheRead: 400, cacheWrite: 200 })).input).toBeCloseTo(0.0025, 9);
});

test("a total that the provider has billed is kept", () => {
  const billed = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0.5, totalFromProvider: true };
  expect(priceUsage(TEST_MODEL, usageOf({ input: 1e6, cost: billed }))).toMatchObject({
    total: 0.5,
    totalFromProvider: true,
  });
});
