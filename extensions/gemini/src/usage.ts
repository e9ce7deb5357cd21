import type { GenerateContentResponseUsageMetadata } from "@google/genai";
import type { Usage } from "@pi-agent/kernel";

/**
 * Reads the counts so far. Wire: `promptTokenCount` includes what was read from the cache, `candidatesTokenCount` is
 * without thoughts, and what the service's own tools have read counts as input.
 */
export function toCounts(given: GenerateContentResponseUsageMetadata): Partial<Omit<Usage, "totalTokens" | "cost">> {
  const cacheRead = given.cachedContentTokenCount ?? 0;
  const thoughts = given.thoughtsTokenCount ?? 0;
  return {
    input: Math.max(0, (given.promptTokenCount ?? 0) - cacheRead) + (given.toolUsePromptTokenCount ?? 0),
    output: (given.candidatesTokenCount ?? 0) + thoughts,
    cacheRead,
    ...(thoughts > 0 && { reasoning: thoughts }),
  };
}
