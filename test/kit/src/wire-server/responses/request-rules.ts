import type { Rule } from "../format.ts";
import { asText, isObjectArray } from "../json-values.ts";
import { createFunctionRules, createRequestRules, refuseEmptyArray } from "../openai-rules.ts";
import type { ResponsesBody } from "./body.ts";

const KNOWN_KEYS = (
  "model input instructions stream stream_options store include reasoning text tools tool_choice parallel_tool_calls " +
  "max_output_tokens max_tool_calls temperature top_p top_logprobs truncation metadata user service_tier background " +
  "previous_response_id conversation prompt prompt_cache_key prompt_cache_retention safety_identifier context_management"
).split(" ");
const MIN_OUTPUT_TOKENS = 16;

/** Who asks, the request as a whole, and its tools. */
export const REQUEST_RULES: readonly Rule<ResponsesBody>[] = [
  ...createRequestRules<ResponsesBody>(KNOWN_KEYS),
  {
    name: "model-unknown",
    refuse: ({ model, server }) =>
      server.models.includes(model)
        ? undefined
        : {
            param: "model",
            code: "model_not_found",
            message: `The requested model '${model}' does not exist.`,
          },
  },
  {
    name: "input-missing",
    refuse({ body: { input } }) {
      if (isObjectArray(input)) return refuseEmptyArray(input, "input");
      return {
        param: "input",
        code: "missing_required_parameter",
        message: "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation' must be provided.",
      };
    },
  },
  {
    name: "max-output-tokens",
    refuse({ body: { max_output_tokens: limit } }) {
      if (limit === undefined || limit === null || Number(limit) >= MIN_OUTPUT_TOKENS) return undefined;
      return {
        param: "max_output_tokens",
        code: "integer_below_min_value",
        message: `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= ${MIN_OUTPUT_TOKENS}, but got ${asText(limit)} instead.`,
      };
    },
  },
  {
    name: "tools-shape",
    refuse: ({ body: { tools } }) =>
      tools === undefined || isObjectArray(tools)
        ? undefined
        : { param: "tools", code: "invalid_type", message: "Invalid type for 'tools': expected an array of objects." },
  },
  ...createFunctionRules<ResponsesBody>(({ tools = [] }) =>
    tools.flatMap((tool, index) =>
      tool.type === "function"
        ? [{ at: `tools[${index}]`, name: tool.name, parameters: tool.parameters, strict: tool.strict }]
        : [],
    ),
  ),
];
