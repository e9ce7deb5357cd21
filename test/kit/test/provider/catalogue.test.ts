import { expect, test } from "vitest";
import { assertUsableModels, TEST_MODEL } from "../../src/provider.ts";

test("a catalogue fails for an id that is there twice, a price that cannot be, and an answer larger than the window", () => {
  const model = (changes: object) => ({ ...TEST_MODEL, ...changes });
  const cost = (changes: object) => model({ cost: { ...TEST_MODEL.cost, ...changes } });
  expect(() => assertUsableModels([TEST_MODEL, model({ id: "m2" })])).not.toThrow();
  expect(() => assertUsableModels([TEST_MODEL, TEST_MODEL])).toThrow();
  expect(() => assertUsableModels([cost({ input: 0 })])).toThrow("prices of m1");
  expect(() => assertUsableModels([cost({ output: 1 })])).toThrow("prices of m1");
  expect(() => assertUsableModels([cost({ cacheRead: 1 })])).toThrow("prices of m1");
  expect(() => assertUsableModels([model({ maxTokens: 100_000 })])).toThrow("room of m1");
});
