import type { Model } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { judgeDefault } from "../src/choose-model.ts";

const model = (provider: string, id: string) => ({ provider, id }) as Model;
const TAKEN = model("anthropic", "claude-one");
const ALL = [TAKEN, model("openai", "gpt-nine")];

function judge(settings: Record<string, string>) {
  const host = { settings: { get: (key: string) => settings[key] }, models: { list: () => ALL } };
  return judgeDefault(host as never, TAKEN);
}

test("a default model that nobody knows is told, with the nearest and what is taken", () => {
  expect(judge({ defaultProvider: "anthropic", defaultModel: "claude-oen" })).toEqual({
    what: "The default model anthropic/claude-oen is not known: taking anthropic/claude-one",
    why: "no provider has it under this name",
    hint: "did you mean anthropic/claude-one? Mend defaultProvider and defaultModel in settings.json",
  });
});

test("a default model without a provider beside it is told", () => {
  expect(judge({ defaultModel: "gpt-nine" })?.why).toBe("the settings name no defaultProvider beside it");
});

test("a default model without a key is told", () => {
  expect(judge({ defaultProvider: "openai", defaultModel: "gpt-nine" })).toMatchObject({
    what: "The default model openai/gpt-nine is left out: taking anthropic/claude-one",
    why: "openai has no key",
  });
});

test("a default model that is taken, and none at all, are not spoken of", () => {
  expect(judge({ defaultProvider: "anthropic", defaultModel: "claude-one" })).toBeUndefined();
  expect(judge({})).toBeUndefined();
});
