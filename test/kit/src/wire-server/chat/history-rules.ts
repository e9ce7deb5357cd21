import type { Refusal, Rule } from "../format.ts";
import { first } from "../format.ts";
import { asText, isObject, isObjectArray } from "../json-values.ts";
import { refuseEmptyArray, refuseLength, refuseName } from "../openai-rules.ts";
import type { ChatBody, ChatMessage } from "./body.ts";

const ROLES = ["system", "developer", "user", "assistant", "tool"];
const MAX_ID_LENGTH = 40;

/** The messages, their calls and results. */
export const HISTORY_RULES: readonly Rule<ChatBody>[] = [
  {
    name: "role-unknown",
    refuse: ({ body }) =>
      first(body.messages, ({ role }, index) =>
        ROLES.includes(asText(role))
          ? undefined
          : {
              param: `messages[${index}].role`,
              code: "invalid_value",
              message: `Invalid value: '${asText(role)}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.`,
            },
      ),
  },
  {
    name: "content-null",
    refuse: ({ body }) =>
      first(body.messages, (message, index) => {
        const mayBeAbsent = message.role === "assistant" && message.tool_calls !== undefined;
        const isAbsent = message.content === undefined || message.content === null;
        if (!isAbsent || mayBeAbsent) return undefined;
        return {
          param: `messages.[${index}].content`,
          message: "Invalid value for 'content': expected a string, got null.",
        };
      }),
  },
  {
    name: "content-shape",
    refuse: ({ body }) =>
      first(body.messages, (message, index) => refuseContent(message, `messages[${index}].content`)),
  },
  {
    name: "image-place",
    refuse: ({ body }) =>
      first(body.messages, ({ role, content }, index) => {
        const hasImage = isObjectArray(content) && content.some((part) => part.type === "image_url");
        if (!hasImage || role === "user") return undefined;
        return {
          param: `messages[${index}]`,
          code: "invalid_value",
          message: `Invalid 'messages[${index}]'. Image URLs are only allowed for messages with role 'user', but this message with role '${asText(role)}' contains an image URL.`,
        };
      }),
  },
  {
    name: "tool-calls-empty",
    refuse: ({ body }) =>
      first(body.messages, ({ tool_calls: calls }, index) => refuseEmptyArray(calls, `messages[${index}].tool_calls`)),
  },
  {
    name: "tool-call-shape",
    refuse: ({ body }) => firstCall(body, (call, at) => refuseCallShape(call, at)),
  },
  {
    name: "tool-call-id",
    refuse: ({ body }) =>
      firstCall(body, ({ id }, at) =>
        typeof id === "string" && id !== ""
          ? refuseLength(id, `${at}.id`, MAX_ID_LENGTH)
          : {
              param: `${at}.id`,
              code: "missing_required_parameter",
              message: `Missing required parameter: '${at}.id'.`,
            },
      ),
  },
  {
    name: "tool-call-name",
    refuse: ({ body }) => firstCall(body, (call, at) => refuseName(call.function?.name, `${at}.function.name`)),
  },
  {
    name: "tool-result-without-call",
    refuse: ({ body }) =>
      first(body.messages, ({ role, tool_call_id: id }, index) => {
        if (role !== "tool" || callsBefore(body.messages, index).includes(id)) return undefined;
        return {
          param: `messages.[${index}].role`,
          message:
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        };
      }),
  },
  {
    name: "tool-result-repeated",
    refuse: ({ body }) =>
      first(body.messages, ({ role }, index) => {
        if (role !== "assistant") return undefined;
        const ids = resultsAfter(body.messages, index);
        const place = ids.findIndex((id, at) => ids.indexOf(id) !== at);
        if (place < 0) return undefined;
        const message = `Duplicate value for 'tool_call_id' of '${asText(ids[place])}' in message[${index + 1 + place}].`;
        return { param: `messages.[${index + 1 + place}].tool_call_id`, message };
      }),
  },
  {
    name: "tool-call-without-result",
    refuse: ({ body }) =>
      first(body.messages, ({ tool_calls: calls }, index) => {
        const answered = resultsAfter(body.messages, index);
        const open = (calls ?? []).map((call) => call.id).filter((id) => !answered.includes(id));
        if (open.length === 0) return undefined;
        return {
          param: `messages.[${index + 1 + answered.length}].role`,
          message: `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${open.join(", ")}`,
        };
      }),
  },
];

function refuseContent({ role, content }: ChatMessage, param: string): Refusal | undefined {
  if (content === undefined || content === null || typeof content === "string") return undefined;
  if (!isObjectArray(content)) {
    return {
      param,
      code: "invalid_type",
      message: `Invalid type for '${param}': expected one of a string or array of objects.`,
    };
  }
  const types = role === "assistant" ? ["text", "refusal"] : ["text", "image_url", "input_audio", "file"];
  const foreign = content.findIndex((part) => !types.includes(asText(part.type)) || hasBadValue(part));
  if (foreign < 0) return refuseEmptyArray(content, param);
  return {
    param: `${param}[${foreign}]`,
    code: "invalid_value",
    message: `Invalid value: '${asText(content[foreign]?.type)}'. Supported values are: ${types.map((type) => `'${type}'`).join(", ")}.`,
  };
}

function hasBadValue(part: Record<string, unknown>): boolean {
  if (part.type === "text") return typeof part.text !== "string";
  if (part.type !== "image_url") return false;
  const url = isObject(part.image_url) ? part.image_url.url : undefined;
  return !/^(https?:\/\/|data:image\/(jpeg|png|gif|webp);base64,[A-Za-z0-9+/]+=*$)/.test(asText(url));
}

type Call = NonNullable<ChatMessage["tool_calls"]>[number];

function firstCall(body: ChatBody, look: (call: Call, at: string) => Refusal | undefined): Refusal | undefined {
  return first(body.messages, ({ tool_calls: calls }, index) =>
    first(calls ?? [], (call, place) => look(call, `messages[${index}].tool_calls[${place}]`)),
  );
}

function refuseCallShape(call: Call, at: string): Refusal | undefined {
  if (!isObject(call) || call.type !== "function" || !isObject(call.function)) {
    return { param: at, code: "invalid_type", message: `Invalid type for '${at}': expected a function call.` };
  }
  if (typeof call.function.arguments === "string") return undefined;
  const param = `${at}.function.arguments`;
  const got = call.function.arguments === undefined ? "undefined" : "an object";
  return {
    param,
    code: "invalid_type",
    message: `Invalid type for '${param}': expected a string, but got ${got} instead.`,
  };
}

/** The ids that a result at `index` may answer: those of the calls right before its row of results. */
function callsBefore(messages: readonly ChatMessage[], index: number): unknown[] {
  const asking = messages.slice(0, index).findLast((message) => message.role !== "tool");
  return (asking?.tool_calls ?? []).map((call) => call.id);
}

function resultsAfter(messages: readonly ChatMessage[], index: number): unknown[] {
  const after = messages.slice(index + 1);
  const end = after.findIndex((message) => message.role !== "tool");
  return (end < 0 ? after : after.slice(0, end)).map((message) => message.tool_call_id);
}
