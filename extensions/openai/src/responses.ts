import type { Api, JsonObject, ProviderRequest } from "@pi-agent/kernel";
import { createToolNames, PLAIN_64, streamAnswer } from "@pi-agent/wire";
import { cacheFields } from "./cache.ts";
import { targetOf } from "./compat.ts";
import { dropUndefined, effortOf, temperatureOf } from "./effort.ts";
import { envOf, postJson } from "./http.ts";
import { toInput } from "./responses-input.ts";
import { createResponsesReader } from "./responses-stream.ts";
import { toFunction } from "./tools.ts";

/** The fewest output tokens that the api takes. */
const MIN_OUTPUT_TOKENS = 16;

/** The api `openai-responses`. Nothing is stored at the service: reasoning travels in the conversation, encrypted. */
export const responsesApi: Api = {
  stream(request) {
    const names = createToolNames(request.tools, PLAIN_64);
    return streamAnswer(request, {
      api: "openai-responses",
      env: envOf(request),
      open: (signal) => postJson(request, signal, { endpoint: "/responses", body: toResponsesBody(request) }),
      ...createResponsesReader(names.fromWire),
    });
  },
};

/** Makes the body of a request. */
export function toResponsesBody(request: ProviderRequest): JsonObject {
  const { model, systemPrompt, tools, maxTokens } = request;
  const { isOriginal } = targetOf(request);
  return {
    ...model.samplingParams,
    ...dropUndefined({
      model: model.id,
      instructions: systemPrompt === "" ? undefined : systemPrompt.toWellFormed(),
      input: toInput(request),
      stream: true,
      store: false,
      max_output_tokens: maxTokens === undefined ? undefined : Math.max(maxTokens, MIN_OUTPUT_TOKENS),
      temperature: isOriginal ? temperatureOf(request) : request.temperature,
      tools:
        tools.length > 0 ? tools.map((tool) => ({ type: "function", ...toFunction(tool), strict: false })) : undefined,
    }),
    ...reasoningFields(request),
    ...(isOriginal ? cacheFields(request) : {}),
  };
}

function reasoningFields({ model, thinkingLevel }: ProviderRequest): JsonObject {
  if (!model.reasoning) return {};
  const effort = effortOf(model, thinkingLevel);
  const include = ["reasoning.encrypted_content"];
  if (effort === undefined) return { include };
  return { reasoning: thinkingLevel === "off" ? { effort } : { effort, summary: "auto" }, include };
}
