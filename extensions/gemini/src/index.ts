import type { ExtensionAPI } from "@pi-agent/kernel";
import { API, ENV, googleGenerativeAi } from "./api.ts";
import { MODELS } from "./models.ts";

/** Registers Google's Gemini API and the provider with its models. */
export default function gemini(pi: ExtensionAPI): void {
  pi.register("api", API, googleGenerativeAi);
  pi.registerProvider({ id: "google", name: "Google Gemini", api: API, models: MODELS, env: ENV });
}
