import type { JsonObject } from "@pi-agent/kernel";
import type { Format, WireRequest } from "../format.ts";
import { asText, countParts, isObject, joinTexts } from "../json-values.ts";
import type { NeutralMessage, NeutralRequest } from "../neutral-request.ts";
import { createId } from "../new-id.ts";
import { BLOCK_RULES } from "./block-rules.ts";
import type { AnthropicBlock, AnthropicBody, AnthropicMessage } from "./body.ts";
import { toBlocks } from "./body.ts";
import { encodeError, encodeTurn } from "./encode.ts";
import { HISTORY_RULES } from "./history-rules.ts";
import { REQUEST_RULES, TOOL_RULES } from "./request-rules.ts";

/** Anthropic Messages, `POST /v1/messages`. */
export const anthropicFormat: Format<AnthropicBody> = {
  name: "anthropic",
  match: (path) => (path === "/v1/messages" ? "" : undefined),
  readKey: (headers) => headers["x-api-key"]?.toString() ?? headers.authorization?.replace(/^Bearer /, ""),
  rules: [...REQUEST_RULES, ...TOOL_RULES, ...BLOCK_RULES, ...HISTORY_RULES],
  read: readRequest,
  encode: encodeTurn,
  errorEvents: encodeError,
  streamHeaders: () => ({
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
    "request-id": createId("req_011C", 20),
  }),
  errorBody: ({ message, type = "invalid_request_error" }) => ({
    type: "error",
    error: { type, message },
    request_id: createId("req_011C", 20),
  }),
};

function readRequest({ body, model }: WireRequest<AnthropicBody>): NeutralRequest {
  return {
    format: "anthropic",
    model,
    system: joinTexts(body.system),
    messages: body.messages.flatMap(readMessage),
    tools: (body.tools ?? []).map((tool) => ({
      name: asText(tool.name),
      description: typeof tool.description === "string" ? tool.description : "",
      schema: tool.input_schema as JsonObject,
    })),
  };
}

function readMessage({ role, content }: AnthropicMessage): NeutralMessage[] {
  const blocks = toBlocks(content);
  if (role === "assistant") return [readAnswer(blocks)];
  const results = blocks.filter((block) => block.type === "tool_result").map(readResult);
  const said = blocks.filter((block) => block.type !== "tool_result");
  if (said.length === 0) return results;
  return [...results, { role: "user", text: joinTexts(said), images: countParts(said, ["image"]) }];
}

function readAnswer(blocks: AnthropicBlock[]): NeutralMessage {
  return {
    role: "assistant",
    text: joinTexts(blocks),
    thinking: blocks.map((block) => (typeof block.thinking === "string" ? block.thinking : "")).join(""),
    calls: blocks
      .filter((block) => block.type === "tool_use")
      .map((block) => ({
        id: asText(block.id),
        name: asText(block.name),
        arguments: isObject(block.input) ? (block.input as JsonObject) : {},
      })),
  };
}

function readResult(block: AnthropicBlock): NeutralMessage {
  return {
    role: "tool",
    callId: asText(block.tool_use_id),
    text: joinTexts(block.content),
    images: countParts(block.content, ["image"]),
    ...(typeof block.is_error === "boolean" && { isError: block.is_error }),
  };
}
