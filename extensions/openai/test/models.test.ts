import { assertUsableModels } from "@pi-agent/testing/provider";
import { expect, test } from "vitest";
import { effortOf } from "../src/effort.ts";
import { createModels } from "../src/models.ts";

const models = createModels();

test("every model of the catalogue can be used and priced", () => {
  assertUsableModels(models);
  for (const model of models) expect(model).toMatchObject({ provider: "openai", api: "openai-responses" });
});

test("levels are told in the words that a model takes", () => {
  const word = (id: string, level: "off" | "minimal" | "high" | "max") => {
    const model = models.find((one) => one.id === id);
    return model && effortOf(model, level);
  };
  expect(word("gpt-6.1-terra", "off")).toBe("none");
  expect(word("gpt-6.1-sol", "off")).toBe("low");
  expect(word("gpt-6.1-sol", "max")).toBe("max");
  expect(word("gpt-5", "minimal")).toBe("minimal");
  expect(word("gpt-5.5", "max")).toBe("xhigh");
  expect(word("gpt-4.1", "high")).toBeUndefined();
});

test("above its limit of input a model costs double, and half as much again for output", () => {
  const sol = models.find(({ id }) => id === "gpt-6.1-sol");
  expect(sol?.cost).toEqual({
    input: 2,
    output: 10,
    cacheRead: 0.1,
    cacheWrite: 2.5,
    tiers: [{ inputTokensAbove: 272_000, input: 4, output: 15, cacheRead: 0.2, cacheWrite: 5 }],
  });
});
