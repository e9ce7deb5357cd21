import type { JsonObject } from "@pi-agent/kernel";
import type { Format, Refusal, WireRequest } from "../format.ts";
import { asText, isObject, writeCanonical } from "../json-values.ts";
import type { NeutralMessage, NeutralRequest } from "../neutral-request.ts";
import type { GeminiBody, GeminiContent, GeminiPart } from "./body.ts";
import { listFunctions, resultsOf } from "./body.ts";
import { encodeError, encodeTurn } from "./encode.ts";
import { HISTORY_RULES, PART_RULES } from "./history-rules.ts";
import { REQUEST_RULES, TOOL_RULES } from "./request-rules.ts";

/** Gemini, `POST /v1beta/models/<model>:streamGenerateContent?alt=sse`. */
export const geminiFormat: Format<GeminiBody> = {
  name: "gemini",
  match(path) {
    const model = /^\/v1beta\/models\/([^/]+):streamGenerateContent$/.exec(path)?.[1];
    return model === undefined ? undefined : decodeURIComponent(model);
  },
  readKey: (headers, query) => headers["x-goog-api-key"]?.toString() ?? query.get("key") ?? undefined,
  rules: [...REQUEST_RULES, ...TOOL_RULES, ...PART_RULES, ...HISTORY_RULES],
  read: readRequest,
  encode: encodeTurn,
  errorEvents: encodeError,
  streamHeaders: () => ({ "content-type": "text/event-stream", "content-disposition": "attachment" }),
  errorBody: writeError,
};

const STATUS_NAMES: Record<number, string> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  503: "UNAVAILABLE",
};

function writeError({ message, status, type, code }: Refusal & { status: number }): object {
  const details = {
    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
    reason: code,
    domain: "googleapis.com",
    metadata: { service: "generativelanguage.googleapis.com" },
  };
  const name = type ?? STATUS_NAMES[status] ?? "UNKNOWN";
  return { error: { code: status, message, status: name, ...(code !== undefined && { details: [details] }) } };
}

function readRequest({ body, model }: WireRequest<GeminiBody>): NeutralRequest {
  return {
    format: "gemini",
    model,
    system: joinParts(body.systemInstruction?.parts ?? [], false),
    messages: body.contents.flatMap(readContent),
    tools: listFunctions(body).map((it) => ({
      name: asText(it.name),
      description: typeof it.description === "string" ? it.description : "",
      schema: (it.parameters ?? it.parametersJsonSchema ?? {}) as JsonObject,
    })),
  };
}

function readContent(content: GeminiContent): NeutralMessage[] {
  if (content.role === "model") return [readAnswer(content.parts)];
  const results = resultsOf(content).map(readResult);
  const said = content.parts.filter((part) => !part.functionResponse);
  if (said.length === 0) return results;
  const images = said.filter((part) => part.inlineData).length;
  return [...results, { role: "user", text: joinParts(said, false), images }];
}

function readAnswer(parts: readonly GeminiPart[]): NeutralMessage {
  return {
    role: "assistant",
    text: joinParts(parts, false),
    thinking: joinParts(parts, true),
    calls: parts.flatMap(({ functionCall: call }) =>
      call
        ? [
            {
              ...(typeof call.id === "string" && { id: call.id }),
              name: asText(call.name),
              arguments: (call.args ?? {}) as JsonObject,
            },
          ]
        : [],
    ),
  };
}

/** A result is an object here: its text is that of its only member, else all of it as JSON. */
function readResult(result: NonNullable<GeminiPart["functionResponse"]>): NeutralMessage {
  const response = isObject(result.response) ? result.response : {};
  const [member, ...rest] = Object.values(response);
  const text = typeof member === "string" && rest.length === 0 ? member : writeCanonical(response);
  return {
    role: "tool",
    ...(typeof result.id === "string" && { callId: result.id }),
    name: asText(result.name),
    text,
    images: Array.isArray(result.parts) ? result.parts.length : 0,
    ...("error" in response && { isError: true }),
  };
}

function joinParts(parts: readonly GeminiPart[], isThought: boolean): string {
  return parts
    .filter((part) => (part.thought === true) === isThought && typeof part.text === "string")
    .map((part) => part.text)
    .join("");
}
