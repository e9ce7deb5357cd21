import type { Model, ProviderDefinition } from "@pi-agent/kernel";

/** The model that a cassette answers for. */
export const MODEL: Model = {
  id: "scripted",
  name: "What the cassette holds",
  provider: "cassette",
  api: "cassette",
  reasoning: true,
  input: ["text", "image"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 1_000_000,
  maxTokens: 64_000,
};

/** Its provider, which needs no key. */
export const PROVIDER: ProviderDefinition = {
  id: MODEL.provider,
  name: "Cassette",
  api: MODEL.api,
  env: [],
  models: [MODEL],
};
