import type { ProviderRequest, ThinkingLevel } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { toConfig } from "../src/config.ts";
import { createRequest, model } from "./chunks.ts";

const config = (changes: Partial<ProviderRequest>) => toConfig(createRequest(changes));
const thinking = (id: string, thinkingLevel: ThinkingLevel) =>
  config({ model: model(id), thinkingLevel }).thinkingConfig;

test("a level goes as a level to newer models and as a budget to older ones", () => {
  expect(thinking("gemini-3.8-flash", "high")).toEqual({ includeThoughts: true, thinkingLevel: "HIGH" });
  expect(thinking("gemini-3.8-flash", "minimal")).toMatchObject({ thinkingLevel: "LOW" });
  expect(thinking("gemini-3.8-flash", "off")).toEqual({ thinkingLevel: "LOW" });
  expect(thinking("gemini-3.5-flash", "max")).toMatchObject({ thinkingLevel: "HIGH" });
  expect(thinking("gemini-2.5-flash", "medium")).toEqual({ includeThoughts: true, thinkingBudget: 8_192 });
  expect(thinking("gemini-2.5-flash", "off")).toEqual({ thinkingBudget: 0 });
  expect(thinking("gemini-2.5-pro", "off")).toEqual({ thinkingBudget: 1_024 });
});

test("a model that does not reason is told nothing of thinking", () => {
  const plain = model("gemini-2.5-flash", { reasoning: false });
  expect(config({ model: plain, thinkingLevel: "high" })).toEqual({});
});

test("the limit of an answer is widened by what its thoughts may take", () => {
  expect(config({ model: model("gemini-2.5-flash"), thinkingLevel: "low", maxTokens: 100 })).toMatchObject({
    maxOutputTokens: 2_148,
  });
  expect(config({ maxTokens: 100_000 })).toMatchObject({ maxOutputTokens: 65_536 });
});

test("prompt, temperature and the model's own settings are sent", () => {
  const tuned = model("gemini-2.5-flash", { samplingParams: { topK: 3 }, reasoning: false });
  expect(config({ model: tuned, systemPrompt: "Be kind.", temperature: 0.2 })).toEqual({
    systemInstruction: { parts: [{ text: "Be kind." }] },
    temperature: 0.2,
    topK: 3,
  });
});

test("a tool without parameters has no schema", () => {
  const parameters = { type: "object", properties: {} };
  expect(config({ tools: [{ name: "now", description: "Tells the time.", parameters }] }).tools).toEqual([
    { functionDeclarations: [{ name: "now", description: "Tells the time." }] },
  ]);
});
