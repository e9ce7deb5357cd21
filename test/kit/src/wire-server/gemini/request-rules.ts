import type { Refusal, Rule } from "../format.ts";
import { first } from "../format.ts";
import { asText, findUnknownKey, isObject, isObjectArray } from "../json-values.ts";
import type { GeminiBody } from "./body.ts";
import { listFunctions } from "./body.ts";
import { findSchemaFault } from "./schema.ts";

const KNOWN_KEYS = (
  "contents systemInstruction tools toolConfig generationConfig safetySettings cachedContent labels model store " +
  "serviceTier"
).split(" ");

/** Who asks, and the request as a whole. */
export const REQUEST_RULES: readonly Rule<GeminiBody>[] = [
  {
    name: "key-missing",
    refuse: ({ apiKey }) =>
      apiKey
        ? undefined
        : {
            status: 403,
            type: "PERMISSION_DENIED",
            message:
              "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.",
          },
  },
  {
    name: "key-wrong",
    refuse: ({ apiKey, server }) =>
      apiKey === server.apiKey
        ? undefined
        : { code: "API_KEY_INVALID", message: "API key not valid. Please pass a valid API key." },
  },
  {
    name: "body-not-json",
    refuse: ({ bodyFault, body }) =>
      bodyFault === "not-json" || !isObject(body)
        ? { message: "Invalid JSON payload received. Unexpected token." }
        : undefined,
  },
  {
    name: "lone-surrogate",
    refuse: ({ bodyFault }) =>
      bodyFault === "lone-surrogate"
        ? { message: "Invalid JSON payload received. Invalid unicode escape sequence: lone surrogate." }
        : undefined,
  },
  {
    name: "model-unknown",
    refuse: ({ model, server }) =>
      server.models.includes(model)
        ? undefined
        : {
            status: 404,
            type: "NOT_FOUND",
            message: `models/${model} is not found for API version v1beta, or is not supported for generateContent. Call ModelService.ListModels to see the list of available models and their supported methods.`,
          },
  },
  {
    name: "unknown-parameter",
    refuse({ body }) {
      const key = findUnknownKey(body, KNOWN_KEYS);
      return key === undefined ? undefined : refuseUnknownName(key, "");
    },
  },
  {
    name: "not-streaming",
    refuse: ({ query }) =>
      query.get("alt") === "sse"
        ? undefined
        : { message: "This server only streams server-sent events: ask for alt=sse." },
  },
  {
    name: "contents-missing",
    refuse: ({ body: { contents } }) =>
      isObjectArray(contents) && contents.length > 0
        ? undefined
        : { message: "* GenerateContentRequest.contents: contents is not specified\n" },
  },
  {
    name: "parts-empty",
    refuse: ({ body }) =>
      first(body.contents, ({ parts }, index) =>
        isObjectArray(parts) && parts.length > 0
          ? undefined
          : { message: `* GenerateContentRequest.contents[${index}].parts: contents.parts must not be empty.\n` },
      ),
  },
  {
    name: "system-empty",
    refuse({ body: { systemInstruction: system } }) {
      if (system === undefined) return undefined;
      if (isObject(system) && isObjectArray(system.parts) && system.parts.length > 0) return undefined;
      return { message: "* GenerateContentRequest.system_instruction.parts: must not be empty.\n" };
    },
  },
  {
    name: "thinking-config",
    refuse({ body: { generationConfig: config } }) {
      const thinking = config?.thinkingConfig;
      if (thinking?.thinkingBudget === undefined || thinking.thinkingLevel === undefined) return undefined;
      return { message: "You can only set only one of thinking budget and thinking level." };
    },
  },
];

/** The declarations of functions. */
export const TOOL_RULES: readonly Rule<GeminiBody>[] = [
  {
    name: "tools-shape",
    refuse({ body: { tools } }) {
      if (tools === undefined) return undefined;
      const isShaped = (tool: object) =>
        "functionDeclarations" in tool ? isFilled(tool.functionDeclarations) : Object.keys(tool).length > 0;
      if (isObjectArray(tools) && tools.every(isShaped)) return undefined;
      return {
        message:
          "* GenerateContentRequest.tools[0].tool_type: required one_of 'tool_type' must have one initialized field\n",
      };
    },
  },
  {
    name: "tool-name",
    refuse: ({ body }) =>
      first(listFunctions(body), ({ name }, index) =>
        isFunctionName(name)
          ? undefined
          : {
              message: `* GenerateContentRequest.tools[0].function_declarations[${index}].name: Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.\n`,
            },
      ),
  },
  {
    name: "tool-name-repeated",
    refuse({ body }) {
      const names = listFunctions(body).map((each) => each.name);
      const twice = names.find((name, place) => names.indexOf(name) !== place);
      if (twice === undefined) return undefined;
      return { message: `Duplicate function declaration found: ${asText(twice)}` };
    },
  },
  {
    name: "tool-schema-root",
    refuse: ({ body }) =>
      first(listFunctions(body), ({ name, parameters, parametersJsonSchema: json }) => {
        if (parameters !== undefined && json !== undefined) {
          return { message: "parameters and parameters_json_schema are mutually exclusive." };
        }
        const schema = parameters ?? json;
        if (schema === undefined) return undefined;
        if (isObject(schema) && asText(schema.type).toLowerCase() === "object") return undefined;
        return { message: `Function ${asText(name)}: parameters schema should be of type OBJECT.` };
      }),
  },
  {
    name: "tool-schema-subset",
    refuse: ({ body }) =>
      first(listFunctions(body), ({ parameters }, index) => {
        if (parameters === undefined) return undefined;
        const fault = findSchemaFault(parameters, `tools[0].function_declarations[${index}].parameters`);
        return fault === undefined ? undefined : { message: fault };
      }),
  },
];

/** Whether a text is a name that the API takes for a function. */
export function isFunctionName(name: unknown): boolean {
  return typeof name === "string" && /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/.test(name);
}

/** Refuses a field that the API's message does not have. */
export function refuseUnknownName(key: string, at: string): Refusal {
  const place = at === "" ? "" : ` at '${at}'`;
  return { message: `Invalid JSON payload received. Unknown name "${key}"${place}: Cannot find field.` };
}

function isFilled(value: unknown): boolean {
  return isObjectArray(value) && value.length > 0;
}
