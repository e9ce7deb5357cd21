import type { CacheControlEphemeral, MessageParam, TextBlockParam, Tool } from "@anthropic-ai/sdk/resources/messages";
import type { ProviderRequest } from "@pi-agent/kernel";

/** Says how long the service keeps what it has read, or `undefined` when it should not. */
export function cacheControl({ cacheRetention, model }: ProviderRequest): CacheControlEphemeral | undefined {
  if (cacheRetention === "none") return undefined;
  const isLong = cacheRetention === "long" && model.compat?.supportsLongCacheRetention !== false;
  return isLong ? { type: "ephemeral", ttl: "1h" } : { type: "ephemeral" };
}

/**
 * Marks the last two turns of the user. The later mark writes; the earlier one stands where the last request wrote, so
 * that it is found however many blocks lie between: the API looks back over 20 only. Changes the array, not the messages.
 */
export function markTurns(messages: MessageParam[], mark: CacheControlEphemeral): void {
  let left = 2;
  for (let at = messages.length - 1; at >= 0 && left > 0; at--) {
    const message = messages[at]!;
    if (message.role !== "user" || typeof message.content === "string") continue;
    const content = [...message.content];
    const last = content.at(-1)!;
    content[content.length - 1] = { ...last, cache_control: mark } as typeof last;
    messages[at] = { role: "user", content };
    left--;
  }
}

/** Makes the system prompt one marked block. */
export function toSystem(text: string, mark: CacheControlEphemeral | undefined): TextBlockParam[] {
  const block: TextBlockParam = { type: "text", text: text.toWellFormed() };
  return [mark ? { ...block, cache_control: mark } : block];
}

/** Marks the last tool, so that the tools are found when only the prompt has changed. */
export function markTools(tools: readonly Tool[], mark: CacheControlEphemeral | undefined): Tool[] {
  const last = tools.at(-1);
  return mark && last ? [...tools.slice(0, -1), { ...last, cache_control: mark }] : [...tools];
}
