import type { Refusal, Rule, WireRequest } from "./format.ts";
import { first } from "./format.ts";
import { asText, findUnknownKey, isObject } from "./json-values.ts";
import { createId } from "./new-id.ts";

/** The body of a refusal of both OpenAI formats. */
export function writeOpenaiError({ message, type = "invalid_request_error", code, param }: Refusal): object {
  return { error: { message, type, param: param ?? null, code: code ?? null } };
}

/** The head of a stream of both OpenAI formats. */
export function writeOpenaiHeaders(): Record<string, string> {
  return {
    "content-type": "text/event-stream; charset=utf-8",
    "openai-processing-ms": "12",
    "openai-version": "2020-10-01",
    "x-request-id": createId("req_", 32),
  };
}

/** What both formats refuse before they look at the conversation; `known` are the keys a body may have. */
export function createRequestRules<B extends { stream?: unknown }>(known: readonly string[]): Rule<B>[] {
  return [
    { name: "key-missing", refuse: ({ apiKey }) => (apiKey ? undefined : KEY_MISSING) },
    {
      name: "key-wrong",
      refuse: ({ apiKey, server }) =>
        apiKey === server.apiKey
          ? undefined
          : {
              status: 401,
              code: "invalid_api_key",
              message: `Incorrect API key provided: ${mask(apiKey ?? "")}. You can find your API key at https://platform.openai.com/account/api-keys.`,
            },
    },
    { name: "body-not-json", refuse: (request) => refuseBody(request, "not-json") },
    { name: "lone-surrogate", refuse: (request) => refuseBody(request, "lone-surrogate") },
    {
      name: "unknown-parameter",
      refuse({ body }) {
        const param = findUnknownKey(body, known);
        if (param === undefined) return undefined;
        return { code: "unknown_parameter", param, message: `Unknown parameter: '${param}'.` };
      },
    },
    {
      name: "not-streaming",
      refuse: ({ body }) =>
        body.stream === true
          ? undefined
          : { param: "stream", message: "This server only streams: set 'stream' to true." },
    },
  ];
}

const KEY_MISSING: Refusal = {
  status: 401,
  message:
    "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
};

function mask(key: string): string {
  return key.length > 12 ? `${key.slice(0, 8)}****${key.slice(-4)}` : key;
}

function refuseBody({ bodyFault, body }: WireRequest, fault: WireRequest["bodyFault"]): Refusal | undefined {
  if (bodyFault !== fault && (fault === "lone-surrogate" || isObject(body))) return undefined;
  return {
    message:
      "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)",
  };
}

/** A function declaration with the place that errors name. */
export interface PlacedFunction {
  at: string;
  name: unknown;
  parameters: unknown;
  strict: unknown;
}

/** What both formats refuse in the declarations of functions. */
export function createFunctionRules<B>(list: (body: B) => PlacedFunction[]): Rule<B>[] {
  return [
    {
      name: "tool-name",
      refuse: ({ body }) => first(list(body), ({ at, name }) => refuseName(name, `${at}.name`)),
    },
    {
      name: "tool-schema-root",
      refuse: ({ body }) =>
        first(list(body), ({ at, name, parameters }) => {
          if (parameters === undefined || parameters === null) return undefined;
          const type = isObject(parameters) ? parameters.type : undefined;
          if (type === "object") return undefined;
          const got = typeof type === "string" ? type : "None";
          return refuseSchema(at, name, `schema must be a JSON Schema of 'type: "object"', got 'type: "${got}"'.`);
        }),
    },
    {
      name: "tool-schema-strict",
      refuse: ({ body }) =>
        first(list(body), ({ at, name, parameters, strict }) => {
          const fault = strict === true ? findStrictFault(parameters, "") : undefined;
          return fault === undefined ? undefined : refuseSchema(at, name, fault);
        }),
    },
  ];
}

/** Refuses a name that is no text of 1 to 64 letters, digits, underscores and dashes. */
export function refuseName(name: unknown, param: string): Refusal | undefined {
  if (typeof name !== "string" || !/^[a-zA-Z0-9_-]+$/.test(name)) {
    return {
      param,
      code: "invalid_value",
      message: `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
    };
  }
  return refuseLength(name, param, 64);
}

/** Refuses a text longer than `max`. */
export function refuseLength(text: string, param: string, max: number): Refusal | undefined {
  if (text.length <= max) return undefined;
  return {
    param,
    code: "string_above_max_length",
    message: `Invalid '${param}': string too long. Expected a string with maximum length ${max}, but got a string with length ${text.length} instead.`,
  };
}

/** Refuses an array without members. */
export function refuseEmptyArray(value: unknown, param: string): Refusal | undefined {
  if (!Array.isArray(value) || value.length > 0) return undefined;
  return {
    param,
    code: "empty_array",
    message: `Invalid '${param}': empty array. Expected an array with minimum length 1, but got an empty array instead.`,
  };
}

function refuseSchema(at: string, name: unknown, fault: string): Refusal {
  return {
    param: `${at}.parameters`,
    code: "invalid_function_parameters",
    message: `Invalid schema for function '${asText(name)}': ${fault}`,
  };
}

/** Strict functions want every object closed and every property required. */
function findStrictFault(schema: unknown, path: string): string | undefined {
  if (!isObject(schema)) return undefined;
  if (isObject(schema.items)) return findStrictFault(schema.items, `${path}'items', `);
  if (schema.type !== "object") return undefined;
  const context = `In context=(${path.replace(/, $/, "")}), `;
  if (schema.additionalProperties !== false) {
    return `${context}'additionalProperties' is required to be supplied and to be false.`;
  }
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  const missing = Object.keys(properties).find((key) => !required.includes(key));
  if (missing !== undefined) {
    return `${context}'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`;
  }
  return first(Object.entries(properties), ([key, inner]) => findStrictFault(inner, `${path}'properties', '${key}', `));
}
