import type { JsonObject, Model, ProviderRequest } from "@pi-agent/kernel";
import { baseUrlOf, isOriginal } from "./http.ts";

/** What a server of the chat format takes; `model.compat` overrides each field by its name. */
export interface ChatCompat {
  supportsStore: boolean;
  supportsDeveloperRole: boolean;
  supportsReasoningEffort: boolean;
  supportsUsageInStreaming: boolean;
  /** Sends `prompt_cache_key`, and `prompt_cache_retention` where long retention is asked for. */
  supportsPromptCacheKey: boolean;
  maxTokensField: "max_completion_tokens" | "max_tokens";
  /** How thinking is asked for. */
  thinkingFormat: "openai" | "openrouter" | "deepseek" | "zai" | "qwen" | "qwen-chat-template";
  requiresToolResultName: boolean;
  /** A user message may not follow a tool result. */
  requiresAssistantAfterToolResult: boolean;
  /** Thinking goes back as text in tags. */
  requiresThinkingAsText: boolean;
  /** Every answer of a thinking model goes back with `reasoning_content`, if need be empty. */
  requiresReasoningContentOnAssistantMessages: boolean;
  /** Ids of tool calls have exactly nine letters and digits. */
  requiresMistralToolIds: boolean;
  /** OpenRouter's choice among the providers of a model. */
  openRouterRouting?: JsonObject;
}

const ORIGINAL: ChatCompat = {
  supportsStore: true,
  supportsDeveloperRole: true,
  supportsReasoningEffort: true,
  supportsUsageInStreaming: true,
  supportsPromptCacheKey: true,
  maxTokensField: "max_completion_tokens",
  thinkingFormat: "openai",
  requiresToolResultName: false,
  requiresAssistantAfterToolResult: false,
  requiresThinkingAsText: false,
  requiresReasoningContentOnAssistantMessages: false,
  requiresMistralToolIds: false,
};

/** What nearly every other server takes. */
const COMPATIBLE: ChatCompat = {
  ...ORIGINAL,
  supportsStore: false,
  supportsDeveloperRole: false,
  supportsPromptCacheKey: false,
  maxTokensField: "max_tokens",
};

const KNOWN_HOSTS: readonly [RegExp, Partial<ChatCompat>][] = [
  [/(?:^|\.)openrouter\.ai$/, { thinkingFormat: "openrouter" }],
  [/(?:^|\.)deepseek\.com$/, { thinkingFormat: "deepseek", requiresReasoningContentOnAssistantMessages: true }],
  [/(?:^|\.)(?:z\.ai|bigmodel\.cn)$/, { thinkingFormat: "zai", supportsReasoningEffort: false }],
  [/(?:^|\.)mistral\.ai$/, { requiresMistralToolIds: true, supportsReasoningEffort: false }],
];

/** What a conversation is converted for. One object for as long as model and server stay the same. */
export interface Target {
  model: Model;
  baseUrl: string;
  isOriginal: boolean;
  compat: ChatCompat;
}

const targets = new WeakMap<Model, Target>();

export function targetOf(request: Pick<ProviderRequest, "model" | "auth">): Target {
  const { model } = request;
  const baseUrl = baseUrlOf(request);
  const known = targets.get(model);
  if (known?.baseUrl === baseUrl) return known;
  const target = { model, baseUrl, isOriginal: isOriginal(baseUrl), compat: chatCompat(model, baseUrl) };
  targets.set(model, target);
  return target;
}

/** The server's defaults, and over them the model's own. */
function chatCompat(model: Model, baseUrl: string): ChatCompat {
  const own: JsonObject = model.compat ?? {};
  if (isOriginal(baseUrl)) return { ...ORIGINAL, ...own };
  const { hostname } = new URL(baseUrl);
  const known = KNOWN_HOSTS.find(([host]) => host.test(hostname))?.[1];
  return { ...COMPATIBLE, ...known, ...own };
}
