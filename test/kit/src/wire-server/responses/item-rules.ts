import type { Refusal, Rule } from "../format.ts";
import { first } from "../format.ts";
import { asText, findUnknownKey, isObjectArray } from "../json-values.ts";
import { refuseLength, refuseName } from "../openai-rules.ts";
import type { ResponsesBody, ResponsesItem } from "./body.ts";
import { typeOf } from "./body.ts";

const ITEM_KEYS: Record<string, string[]> = {
  message: ["type", "role", "content", "id", "status", "phase"],
  function_call: ["type", "call_id", "name", "arguments", "id", "status", "namespace"],
  function_call_output: ["type", "call_id", "output", "id", "status"],
  reasoning: ["type", "id", "summary", "content", "encrypted_content", "status"],
};
const ID_PREFIXES: Record<string, string> = {
  message: "msg",
  function_call: "fc",
  function_call_output: "fc",
  reasoning: "rs",
};
const MAX_ID_LENGTH = 64;

/** The items one by one. */
export const ITEM_RULES: readonly Rule<ResponsesBody>[] = [
  {
    name: "item-type",
    refuse: ({ body }) =>
      first(body.input, (item, index) =>
        typeOf(item) in ITEM_KEYS ? undefined : refuseValue(`input[${index}]`, typeOf(item), Object.keys(ITEM_KEYS)),
      ),
  },
  {
    name: "item-unknown-key",
    refuse: ({ body }) =>
      first(body.input, (item, index) => {
        const key = findUnknownKey(item, ITEM_KEYS[typeOf(item)] ?? []);
        if (key === undefined) return undefined;
        const param = `input[${index}].${key}`;
        return { param, code: "unknown_parameter", message: `Unknown parameter: '${param}'.` };
      }),
  },
  {
    name: "item-id",
    refuse: ({ body }) =>
      first(body.input, (item, index) => {
        const param = `input[${index}].id`;
        const prefix = ID_PREFIXES[typeOf(item)] ?? "";
        if (item.id === undefined || item.id === null) {
          return typeOf(item) === "reasoning" ? refuseMissing(param) : undefined;
        }
        const id = asText(item.id);
        if (id.startsWith(prefix)) return refuseLength(id, param, MAX_ID_LENGTH);
        const message = `Invalid '${param}': '${id}'. Expected an ID that begins with '${prefix}'.`;
        return { param, code: "invalid_value", message };
      }),
  },
  {
    name: "item-id-repeated",
    refuse({ body }) {
      const seen = new Set<unknown>();
      return first(body.input, ({ id }) => {
        if (id === undefined || id === null) return undefined;
        if (seen.has(id)) return refuseDuplicate("id", id);
        seen.add(id);
        return undefined;
      });
    },
  },
  {
    name: "call-id",
    refuse: ({ body }) =>
      first(body.input, (item, index) => {
        if (!typeOf(item).startsWith("function_call")) return undefined;
        const param = `input[${index}].call_id`;
        if (typeof item.call_id !== "string") return refuseMissing(param);
        if (item.call_id !== "") return refuseLength(item.call_id, param, MAX_ID_LENGTH);
        const message = `Invalid '${param}': empty string. Expected a string with minimum length 1, but got an empty string instead.`;
        return { param, code: "empty_string", message };
      }),
  },
  {
    name: "call-name",
    refuse: ({ body }) =>
      first(body.input, (item, index) =>
        typeOf(item) === "function_call" ? refuseName(item.name, `input[${index}].name`) : undefined,
      ),
  },
  {
    name: "call-arguments",
    refuse: ({ body }) =>
      first(body.input, (item, index) => {
        if (typeOf(item) !== "function_call" || typeof item.arguments === "string") return undefined;
        const param = `input[${index}].arguments`;
        return {
          param,
          code: "invalid_type",
          message: `Invalid type for '${param}': expected a string, but got an object instead.`,
        };
      }),
  },
  {
    name: "output-shape",
    refuse: ({ body }) =>
      first(body.input, (item, index) => {
        if (typeOf(item) !== "function_call_output" || typeof item.output === "string") return undefined;
        return refuseParts(item.output, ["input_text", "input_image", "input_file"], `input[${index}].output`);
      }),
  },
  {
    name: "message-role",
    refuse: ({ body }) =>
      first(body.input, (item, index) =>
        typeOf(item) !== "message" || ["user", "assistant", "system", "developer"].includes(asText(item.role))
          ? undefined
          : refuseValue(`input[${index}].role`, asText(item.role), ["assistant", "system", "developer", "user"]),
      ),
  },
  {
    name: "message-content",
    refuse: ({ body }) =>
      first(body.input, (item, index) => {
        if (typeOf(item) !== "message" || typeof item.content === "string") return undefined;
        const types =
          item.role === "assistant" ? ["output_text", "refusal"] : ["input_text", "input_image", "input_file"];
        return refuseParts(item.content, types, `input[${index}].content`);
      }),
  },
];

/** Refuses an item whose key of that kind came before. */
export function refuseDuplicate(key: "id" | "call_id", value: unknown): Refusal {
  return {
    param: "input",
    message: `Duplicate item found with ${key} ${asText(value)}. Remove duplicate items from your input and try again.`,
  };
}

function refuseParts(parts: unknown, types: string[], param: string): Refusal | undefined {
  if (!isObjectArray(parts)) {
    return {
      param,
      code: "invalid_type",
      message: `Invalid type for '${param}': expected one of a string or array of objects.`,
    };
  }
  return first(parts, (part, place) => {
    const at = `${param}[${place}]`;
    if (!types.includes(asText(part.type))) return refuseValue(at, asText(part.type), types);
    if (part.type !== "input_image") return typeof part.text === "string" ? undefined : refuseMissing(`${at}.text`);
    if (/^(https?:\/\/|data:image\/(jpeg|png|gif|webp);base64,[A-Za-z0-9+/]+=*$)/.test(asText(part.image_url)))
      return undefined;
    return {
      param: `${at}.image_url`,
      code: "invalid_value",
      message: `Invalid '${at}.image_url'. Expected a valid URL.`,
    };
  });
}

function refuseValue(param: string, value: string, supported: string[]): Refusal {
  const list = supported.map((each) => `'${each}'`).join(", ");
  return { param, code: "invalid_value", message: `Invalid value: '${value}'. Supported values are: ${list}.` };
}

function refuseMissing(param: string): Refusal {
  return { param, code: "missing_required_parameter", message: `Missing required parameter: '${param}'.` };
}

export function isCall(item: ResponsesItem): boolean {
  return typeOf(item) === "function_call";
}
