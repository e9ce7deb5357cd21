import type { ExtensionAPI } from "@pi-agent/kernel";
import { API, anthropicMessages, ENV } from "./api.ts";
import { MODELS } from "./models.ts";

/** Registers Anthropic's Messages API and the provider with its models. */
export default function anthropic(pi: ExtensionAPI): void {
  pi.register("api", API, anthropicMessages);
  pi.registerProvider({ id: "anthropic", name: "Anthropic", api: API, models: MODELS, env: ENV });
}
