import type { Api, JsonObject, ProviderRequest } from "@pi-agent/kernel";
import { createToolNames, PLAIN_64, streamAnswer } from "@pi-agent/wire";
import { cacheFields } from "./cache.ts";
import { toChatMessages } from "./chat-messages.ts";
import { createChatReader } from "./chat-stream.ts";
import { targetOf } from "./compat.ts";
import { dropUndefined, temperatureOf, thinkingFields } from "./effort.ts";
import { envOf, postJson } from "./http.ts";
import { toFunction } from "./tools.ts";

/** The api `openai-completions`: Chat Completions, of OpenAI and of every server that speaks it. */
export const chatApi: Api = {
  stream(request) {
    const names = createToolNames(request.tools, PLAIN_64);
    return streamAnswer(request, {
      api: "openai-completions",
      env: envOf(request),
      open: (signal) => postJson(request, signal, { endpoint: "/chat/completions", body: toChatBody(request) }),
      ...createChatReader(names.fromWire),
    });
  },
};

/** Makes the body of a request. */
export function toChatBody(request: ProviderRequest): JsonObject {
  const { model, tools, maxTokens, thinkingLevel } = request;
  const { compat, isOriginal } = targetOf(request);
  return {
    ...model.samplingParams,
    ...thinkingFields(model, thinkingLevel, compat),
    ...dropUndefined({
      model: model.id,
      messages: toChatMessages(request),
      stream: true,
      stream_options: compat.supportsUsageInStreaming ? { include_usage: true } : undefined,
      store: compat.supportsStore ? false : undefined,
      [compat.maxTokensField]: maxTokens,
      temperature: isOriginal ? temperatureOf(request) : request.temperature,
      tools: tools.length > 0 ? tools.map((tool) => ({ type: "function", function: toFunction(tool) })) : undefined,
      provider: compat.openRouterRouting,
    }),
    ...(compat.supportsPromptCacheKey ? cacheFields(request) : {}),
  };
}
