/** OpenAI's two apis, and the provider `openai`. */
import type { ExtensionAPI } from "@pi-agent/kernel";
import { chatApi } from "./chat.ts";
import { ENV, ORIGINAL_BASE_URL, PROVIDER } from "./http.ts";
import { createModels } from "./models.ts";
import { responsesApi } from "./responses.ts";

export default function openai(pi: ExtensionAPI): void {
  pi.register("api", "openai-completions", chatApi);
  pi.register("api", "openai-responses", responsesApi);
  pi.registerProvider({
    id: PROVIDER,
    name: "OpenAI",
    api: "openai-responses",
    baseUrl: ORIGINAL_BASE_URL,
    env: ENV,
    models: createModels(),
  });
}
