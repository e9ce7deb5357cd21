import type { Model } from "@pi-agent/kernel";

type WireModel = Pick<Model, "id" | "name" | "reasoning" | "input" | "contextWindow" | "maxTokens">;

/** The part of Pi's models.json that a wire server needs. */
export interface ModelsJson {
  providers: Record<string, { baseUrl: string; api: string; apiKey: string; models: WireModel[] }>;
}

const CONTEXT_WINDOW = 1_000_000;
const MAX_TOKENS = 32_000;

/** The providers that `modelsJson` makes, one per format. */
export const WIRE_PROVIDERS = ["wire-anthropic", "wire-chat", "wire-responses", "wire-gemini"] as const;

/** Makes the content of a models.json with one provider per wire format, all at a wire server's `url`. */
export function modelsJson(url: string): ModelsJson {
  const models: WireModel[] = [
    {
      id: "scripted",
      name: "Scripted",
      reasoning: true,
      input: ["text", "image"],
      contextWindow: CONTEXT_WINDOW,
      maxTokens: MAX_TOKENS,
    },
  ];
  const provider = (path: string, api: string) => ({ baseUrl: url + path, api, apiKey: "test-key", models });
  return {
    providers: {
      "wire-anthropic": provider("", "anthropic-messages"),
      "wire-chat": provider("/v1", "openai-completions"),
      "wire-responses": provider("/v1", "openai-responses"),
      "wire-gemini": provider("/v1beta", "google-generative-ai"),
    },
  };
}
