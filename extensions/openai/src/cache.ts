import type { JsonObject, ProviderRequest } from "@pi-agent/kernel";

/** The longest key that OpenAI takes. */
const MAX_KEY_CHARS = 64;

/** Makes the fields that keep the requests of one session on one prompt cache. */
export function cacheFields({ cacheRetention, sessionId }: ProviderRequest): JsonObject {
  if (cacheRetention === "none" || sessionId === "") return {};
  const fields: JsonObject = { prompt_cache_key: sessionId.slice(0, MAX_KEY_CHARS) };
  if (cacheRetention === "long") fields.prompt_cache_retention = "24h";
  return fields;
}
