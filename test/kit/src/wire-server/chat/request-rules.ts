import type { Rule } from "../format.ts";
import { isObject, isObjectArray } from "../json-values.ts";
import { createFunctionRules, createRequestRules, refuseEmptyArray } from "../openai-rules.ts";
import type { ChatBody } from "./body.ts";

const KNOWN_KEYS = (
  "model messages stream stream_options tools tool_choice parallel_tool_calls max_tokens max_completion_tokens " +
  "temperature top_p frequency_penalty presence_penalty stop seed n logprobs top_logprobs logit_bias response_format " +
  "reasoning_effort verbosity service_tier store metadata user prompt_cache_key prompt_cache_retention " +
  "prompt_cache_options safety_identifier prediction modalities audio web_search_options functions function_call"
).split(" ");

/** Who asks, the request as a whole, and its tools. */
export const REQUEST_RULES: readonly Rule<ChatBody>[] = [
  ...createRequestRules<ChatBody>(KNOWN_KEYS),
  {
    name: "model-unknown",
    refuse: ({ model, server }) =>
      server.models.includes(model)
        ? undefined
        : {
            status: 404,
            code: "model_not_found",
            message: `The model \`${model}\` does not exist or you do not have access to it.`,
          },
  },
  {
    name: "messages-missing",
    refuse({ body: { messages } }) {
      if (isObjectArray(messages)) return refuseEmptyArray(messages, "messages");
      return {
        param: "messages",
        code: "missing_required_parameter",
        message: "Missing required parameter: 'messages'.",
      };
    },
  },
  {
    name: "two-token-limits",
    refuse: ({ body }) =>
      body.max_tokens === undefined || body.max_completion_tokens === undefined
        ? undefined
        : {
            message: "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
          },
  },
  {
    name: "tools-shape",
    refuse({ body: { tools } }) {
      if (tools === undefined) return undefined;
      const isShaped = isObjectArray(tools) && tools.every((tool) => isObject(tool.function));
      return isShaped
        ? refuseEmptyArray(tools, "tools")
        : {
            param: "tools",
            code: "invalid_type",
            message: "Invalid type for 'tools': expected an array of functions.",
          };
    },
  },
  {
    name: "tool-choice-without-tools",
    refuse({ body }) {
      const param = (["tool_choice", "parallel_tool_calls"] as const).find((key) => body[key] !== undefined);
      if (param === undefined || body.tools !== undefined) return undefined;
      return { param, message: `Invalid value for '${param}': '${param}' is only allowed when 'tools' are specified.` };
    },
  },
  ...createFunctionRules<ChatBody>(({ tools = [] }) =>
    tools.map(({ function: it }, index) => ({
      at: `tools[${index}].function`,
      name: it?.name,
      parameters: it?.parameters,
      strict: it?.strict,
    })),
  ),
];
