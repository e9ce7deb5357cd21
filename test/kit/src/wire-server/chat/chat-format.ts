import type { JsonObject } from "@pi-agent/kernel";
import type { Format, WireRequest } from "../format.ts";
import { asText, countParts, joinTexts } from "../json-values.ts";
import type { NeutralMessage, NeutralRequest } from "../neutral-request.ts";
import { writeOpenaiError, writeOpenaiHeaders } from "../openai-rules.ts";
import type { ChatBody, ChatMessage } from "./body.ts";
import { encodeError, encodeTurn } from "./encode.ts";
import { HISTORY_RULES } from "./history-rules.ts";
import { REQUEST_RULES } from "./request-rules.ts";

/** OpenAI Chat Completions, `POST /v1/chat/completions`. */
export const chatFormat: Format<ChatBody> = {
  name: "chat",
  match: (path) => (path === "/v1/chat/completions" ? "" : undefined),
  readKey: (headers) => headers.authorization?.replace(/^Bearer /, ""),
  rules: [...REQUEST_RULES, ...HISTORY_RULES],
  read: readRequest,
  encode: encodeTurn,
  errorEvents: encodeError,
  streamHeaders: writeOpenaiHeaders,
  errorBody: writeOpenaiError,
};

function readRequest({ body, model }: WireRequest<ChatBody>): NeutralRequest {
  const isInstruction = ({ role }: ChatMessage) => role === "system" || role === "developer";
  return {
    format: "chat",
    model,
    system: body.messages
      .filter(isInstruction)
      .map(({ content }) => joinTexts(content))
      .join("\n"),
    messages: body.messages.filter((message) => !isInstruction(message)).map(readMessage),
    tools: (body.tools ?? []).map(({ function: it }) => ({
      name: asText(it?.name),
      description: typeof it?.description === "string" ? it.description : "",
      schema: (it?.parameters ?? {}) as JsonObject,
    })),
  };
}

function readMessage(message: ChatMessage): NeutralMessage {
  const text = joinTexts(message.content);
  const images = countParts(message.content, ["image_url"]);
  if (message.role === "user") return { role: "user", text, images };
  if (message.role === "tool") return { role: "tool", callId: asText(message.tool_call_id), text, images };
  const thinking = "reasoning_content" in message ? asText(message.reasoning_content) : "";
  const calls = (message.tool_calls ?? []).map(({ id, function: it }) => ({
    id: asText(id),
    name: asText(it?.name),
    arguments: readArguments(asText(it?.arguments)),
  }));
  return { role: "assistant", text, thinking, calls };
}

/** Parses arguments; a text that is no JSON stays a text. */
export function readArguments(text: string): JsonObject | string {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
