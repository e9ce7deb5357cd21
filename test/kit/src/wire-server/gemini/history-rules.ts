import type { Rule } from "../format.ts";
import { first } from "../format.ts";
import { asText, findUnknownKey, isObject, writeCanonical } from "../json-values.ts";
import type { GeminiBody, GeminiContent, GeminiPart } from "./body.ts";
import { callsOf, resultsOf } from "./body.ts";
import { isFunctionName, refuseUnknownName } from "./request-rules.ts";

const DATA_KEYS = ["text", "functionCall", "functionResponse", "inlineData", "fileData"];
const PART_KEYS = [...DATA_KEYS, "thought", "thoughtSignature", "videoMetadata", "mediaResolution"];
// What Google documents for calls that another model made.
const SKIP_MARKERS = ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"];

/** The parts one by one. */
export const PART_RULES: readonly Rule<GeminiBody>[] = [
  {
    name: "part-unknown-key",
    refuse: ({ body }) =>
      firstPart(body, (part, at) => {
        const key = findUnknownKey(part, PART_KEYS);
        return key === undefined ? undefined : refuseUnknownName(key, at);
      }),
  },
  {
    name: "part-without-data",
    refuse: ({ body }) =>
      firstPart(body, (part, at) =>
        DATA_KEYS.filter((key) => key in part).length === 1
          ? undefined
          : {
              message: `* GenerateContentRequest.${at}.data: required oneof field 'data' must have one initialized field\n`,
            },
      ),
  },
  {
    name: "call-shape",
    refuse: ({ body }) =>
      firstPart(body, ({ functionCall: call }, at) => {
        if (call === undefined) return undefined;
        if (!isFunctionName(call.name))
          return { message: `* GenerateContentRequest.${at}.function_call.name: Name cannot be empty.\n` };
        if (call.args === undefined || isObject(call.args)) return undefined;
        return { message: `Invalid value at '${at}.function_call.args' (type.googleapis.com/google.protobuf.Struct)` };
      }),
  },
  {
    name: "response-shape",
    refuse: ({ body }) =>
      firstPart(body, ({ functionResponse: result }, at) => {
        if (result === undefined) return undefined;
        if (!isFunctionName(result.name))
          return { message: `* GenerateContentRequest.${at}.function_response.name: Name cannot be empty.\n` };
        if (isObject(result.response)) return undefined;
        return {
          message: `Invalid value at '${at}.function_response.response' (type.googleapis.com/google.protobuf.Struct)`,
        };
      }),
  },
];

/** The order of contents, calls and responses, and the signatures of thoughts. */
export const HISTORY_RULES: readonly Rule<GeminiBody>[] = [
  {
    name: "role-unknown",
    refuse: ({ body }) =>
      first(body.contents, ({ role }) =>
        role === "user" || role === "model" ? undefined : { message: "Please use a valid role: user, model." },
      ),
  },
  {
    name: "last-not-user",
    refuse: ({ body }) =>
      body.contents.at(-1)?.role === "user"
        ? undefined
        : {
            message: "Please ensure that multiturn requests ends with a user role or a function response.",
          },
  },
  {
    name: "call-turn-place",
    refuse: ({ body }) =>
      first(body.contents, (content, index) =>
        callsOf(content).length === 0 || (content.role === "model" && body.contents[index - 1]?.role === "user")
          ? undefined
          : {
              message:
                "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
            },
      ),
  },
  {
    name: "response-count",
    refuse: ({ body }) =>
      first(body.contents, (content, index) =>
        callsOf(content).length === 0 || callsOf(content).length === resultsOf(body.contents[index + 1]).length
          ? undefined
          : {
              message:
                "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
            },
      ),
  },
  {
    name: "response-turn-place",
    refuse: ({ body }) =>
      first(body.contents, (content, index) =>
        resultsOf(content).length === 0 || callsOf(body.contents[index - 1]).length > 0
          ? undefined
          : { message: "Please ensure that function response turn comes immediately after a function call turn." },
      ),
  },
  {
    name: "response-order",
    refuse: ({ body }) =>
      first(body.contents, (content, index) => {
        const calls = callsOf(body.contents[index - 1]);
        const strange = resultsOf(content).find((result, place) => {
          const call = calls[place];
          return result.name !== call?.name || (call?.id !== undefined && result.id !== call.id);
        });
        if (strange === undefined) return undefined;
        return {
          message: `Please ensure that function response parts come in the order of their function calls: ${asText(strange.name)} answers another call.`,
        };
      }),
  },
  {
    name: "signature-missing",
    refuse: ({ body }) =>
      first(listCurrentTurn(body), (content) => {
        const place = content.parts.findIndex((part) => part.functionCall);
        const part = content.parts[place];
        if (!part || part.thoughtSignature !== undefined) return undefined;
        return refuseMissing(part, place);
      }),
  },
  {
    name: "signature-changed",
    refuse: ({ body, model, server }) =>
      firstPart(body, (part) => {
        const { thoughtSignature: signature } = part;
        if (signature === undefined || SKIP_MARKERS.includes(asText(signature))) return undefined;
        if (server.memory.signatures.get(asText(signature)) === describeSigned(part, model)) return undefined;
        return { message: "Thought signature is not valid." };
      }),
  },
  {
    name: "signature-dropped",
    refuse: ({ body, model, server }) =>
      first(body.contents, ({ parts }) => {
        const calls = parts.filter((part) => part.functionCall);
        const head = calls[0];
        if (!head || head.thoughtSignature !== undefined) return undefined;
        if (!server.memory.companions.has(describeCalls(calls, model))) return undefined;
        return refuseMissing(head, parts.indexOf(head));
      }),
  },
];

/** What a signature is bound to: its part and the model. Text comes in pieces, so it is bound to none of it. */
export function describeSigned({ functionCall: call }: GeminiPart, model: string): string {
  if (!call) return `${model} text`;
  return `${model} ${asText(call.name)} ${writeCanonical(call.args ?? {})}`;
}

/** Names the calls of one answer, by what they ask for. */
export function describeCalls(parts: readonly GeminiPart[], model: string): string {
  return parts.map((part) => describeSigned(part, model)).join("\n");
}

function refuseMissing({ functionCall: call }: GeminiPart, place: number) {
  return {
    message: `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${asText(call?.name)}\` , position ${place + 1}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`,
  };
}

/** The contents after the last thing that the person said: only there must calls be signed. */
function listCurrentTurn({ contents }: GeminiBody): GeminiContent[] {
  const said = contents.findLastIndex((content) => content.role === "user" && resultsOf(content).length === 0);
  return contents.slice(said + 1);
}

function firstPart<R>(body: GeminiBody, look: (part: GeminiPart, at: string) => R | undefined): R | undefined {
  return first(body.contents, ({ parts }, index) =>
    first(parts, (part, place) => look(part, `contents[${index}].parts[${place}]`)),
  );
}
