import type { MessageDeltaUsage, Usage as WireUsage } from "@anthropic-ai/sdk/resources/messages";
import type { Usage } from "@pi-agent/kernel";

type Given = Partial<WireUsage> | Partial<MessageDeltaUsage>;

/**
 * Reads the counts that an event tells, each the total so far. What it leaves out, as compatible servers do, stands.
 * Wire: `input_tokens` is without what was read from the cache or written to it.
 */
export function toCounts(given: Given): Partial<Omit<Usage, "totalTokens" | "cost">> {
  const counts: Partial<Omit<Usage, "totalTokens" | "cost">> = {};
  set("input", given.input_tokens);
  set("output", given.output_tokens);
  set("cacheRead", given.cache_read_input_tokens);
  set("cacheWrite", given.cache_creation_input_tokens);
  if ("cache_creation" in given) set("cacheWrite1h", given.cache_creation?.ephemeral_1h_input_tokens || undefined);
  set("reasoning", given.output_tokens_details?.thinking_tokens);
  return counts;
  function set(name: keyof typeof counts, count: number | null | undefined) {
    if (typeof count === "number") counts[name] = count;
  }
}
