import type { Rule } from "../format.ts";
import { first } from "../format.ts";
import { findUnknownKey, isObject, isObjectArray } from "../json-values.ts";
import type { AnthropicBody } from "./body.ts";

const KNOWN_KEYS = (
  "model messages max_tokens system stream tools tool_choice temperature top_p top_k stop_sequences metadata thinking " +
  "service_tier cache_control output_config container mcp_servers context_management inference_geo"
).split(" ");
const KNOWN_TOOL_KEYS = (
  "name description input_schema cache_control type strict eager_input_streaming defer_loading allowed_callers " +
  "input_examples"
).split(" ");
const MIN_THINKING_BUDGET = 1024;

/** Who asks, and the request as a whole. */
export const REQUEST_RULES: readonly Rule<AnthropicBody>[] = [
  {
    name: "key-missing",
    refuse: ({ apiKey }) => (apiKey ? undefined : denyKey("x-api-key header is required")),
  },
  {
    name: "key-wrong",
    refuse: ({ apiKey, server }) => (apiKey === server.apiKey ? undefined : denyKey("invalid x-api-key")),
  },
  {
    name: "version-header",
    refuse: ({ headers }) =>
      headers["anthropic-version"] ? undefined : { message: "anthropic-version: header is required" },
  },
  {
    name: "body-not-json",
    refuse: ({ bodyFault, body }) =>
      bodyFault === "not-json" || !isObject(body)
        ? { message: "The request body is not valid JSON: expected value: line 1 column 1 (char 0)" }
        : undefined,
  },
  {
    name: "lone-surrogate",
    refuse: ({ bodyFault }) =>
      bodyFault === "lone-surrogate"
        ? { message: "The request body is not valid JSON: no low surrogate in string: line 1 column 1 (char 0)" }
        : undefined,
  },
  {
    name: "unknown-parameter",
    refuse({ body }) {
      const key = findUnknownKey(body, KNOWN_KEYS);
      return key === undefined ? undefined : { message: `${key}: Extra inputs are not permitted` };
    },
  },
  {
    name: "model-unknown",
    refuse: ({ model, server }) =>
      server.models.includes(model) ? undefined : { status: 404, type: "not_found_error", message: `model: ${model}` },
  },
  {
    name: "max-tokens-missing",
    refuse({ body: { max_tokens: limit } }) {
      if (limit === undefined) return { message: "max_tokens: Field required" };
      if (Number.isInteger(limit) && Number(limit) >= 1) return undefined;
      return { message: "max_tokens: Input should be greater than or equal to 1" };
    },
  },
  {
    name: "messages-missing",
    refuse({ body: { messages } }) {
      if (!isObjectArray(messages)) return { message: "messages: Field required" };
      return messages.length > 0 ? undefined : { message: "messages: at least one message is required" };
    },
  },
  {
    name: "content-shape",
    refuse: ({ body }) =>
      first(body.messages, ({ content }, index) =>
        typeof content === "string" || hasTypes(content)
          ? undefined
          : { message: `messages.${index}.content: Input should be a valid list` },
      ),
  },
  {
    name: "system-shape",
    refuse: ({ body: { system } }) =>
      system === undefined || typeof system === "string" || hasTypes(system)
        ? undefined
        : { message: "system: Input should be a valid list" },
  },
  {
    name: "not-streaming",
    refuse: ({ body }) =>
      body.stream === true ? undefined : { message: "stream: this server only streams; set it to true" },
  },
  {
    name: "thinking-budget",
    refuse({ body: { thinking, max_tokens: limit } }) {
      if (thinking?.type !== "enabled") return undefined;
      const budget = Number(thinking.budget_tokens);
      if (!(budget >= MIN_THINKING_BUDGET)) {
        return { message: "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024" };
      }
      if (Number(limit) > budget) return undefined;
      return { message: "`max_tokens` must be greater than `thinking.budget_tokens`." };
    },
  },
  {
    name: "thinking-temperature",
    refuse({ body: { thinking, temperature } }) {
      const isThinking = thinking?.type === "enabled" || thinking?.type === "adaptive";
      if (!isThinking || temperature === undefined || temperature === 1) return undefined;
      return { message: "`temperature` may only be set to 1 when thinking is enabled." };
    },
  },
];

function denyKey(message: string) {
  return { status: 401, type: "authentication_error", message };
}

function hasTypes(content: unknown): boolean {
  return isObjectArray(content) && content.every((block) => typeof block.type === "string");
}

/** The declarations of tools. */
export const TOOL_RULES: readonly Rule<AnthropicBody>[] = [
  {
    name: "tools-shape",
    refuse: ({ body: { tools } }) =>
      tools === undefined || isObjectArray(tools) ? undefined : { message: "tools: Input should be a valid list" },
  },
  {
    name: "tool-name",
    refuse: ({ body }) =>
      first(body.tools ?? [], ({ name }, index) =>
        typeof name === "string" && /^[a-zA-Z0-9_-]{1,128}$/.test(name)
          ? undefined
          : {
              message: `tools.${index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`,
            },
      ),
  },
  {
    name: "tool-name-repeated",
    refuse({ body: { tools = [] } }) {
      const names = new Set(tools.map((tool) => tool.name));
      return names.size === tools.length ? undefined : { message: "tools: Tool names must be unique." };
    },
  },
  {
    name: "tool-unknown-key",
    refuse: ({ body }) =>
      first(body.tools ?? [], (tool, index) => {
        const key = findUnknownKey(tool, KNOWN_TOOL_KEYS);
        if (key === undefined) return undefined;
        return { message: `tools.${index}.custom.${key}: Extra inputs are not permitted` };
      }),
  },
  {
    name: "tool-schema-root",
    refuse: ({ body }) =>
      first(body.tools ?? [], ({ input_schema: schema }, index) => {
        const at = `tools.${index}.custom.input_schema`;
        if (!isObject(schema) || schema.type === undefined) return { message: `${at}.type: Field required` };
        if (schema.type !== "object") return { message: `${at}.type: Input should be 'object'` };
        if (!schema.anyOf && !schema.oneOf && !schema.allOf) return undefined;
        return {
          message: `${at}: input_schema does not support oneOf, allOf, or anyOf at the top level`,
        };
      }),
  },
  {
    name: "tool-choice-without-tools",
    refuse: ({ body: { tools, tool_choice: choice } }) =>
      choice === undefined || (tools?.length ?? 0) > 0
        ? undefined
        : { message: "tool_choice may only be specified while providing tools" },
  },
];
