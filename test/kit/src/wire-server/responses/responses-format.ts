import type { JsonObject } from "@pi-agent/kernel";
import { readArguments } from "../chat/chat-format.ts";
import type { Format, WireRequest } from "../format.ts";
import { asText, countParts, joinTexts } from "../json-values.ts";
import type { NeutralMessage, NeutralRequest } from "../neutral-request.ts";
import { writeOpenaiError, writeOpenaiHeaders } from "../openai-rules.ts";
import type { ResponsesBody, ResponsesItem } from "./body.ts";
import { typeOf } from "./body.ts";
import { encodeError, encodeTurn } from "./encode.ts";
import { HISTORY_RULES } from "./history-rules.ts";
import { ITEM_RULES } from "./item-rules.ts";
import { REQUEST_RULES } from "./request-rules.ts";

/** OpenAI Responses, `POST /v1/responses`. */
export const responsesFormat: Format<ResponsesBody> = {
  name: "responses",
  match: (path) => (path === "/v1/responses" ? "" : undefined),
  readKey: (headers) => headers.authorization?.replace(/^Bearer /, ""),
  rules: [...REQUEST_RULES, ...ITEM_RULES, ...HISTORY_RULES],
  read: readRequest,
  encode: encodeTurn,
  errorEvents: encodeError,
  streamHeaders: writeOpenaiHeaders,
  errorBody: writeOpenaiError,
};

function readRequest({ body, model }: WireRequest<ResponsesBody>): NeutralRequest {
  const instructions = body.input.filter((item) => item.role === "system" || item.role === "developer");
  return {
    format: "responses",
    model,
    system: [joinTexts(body.instructions), ...instructions.map(({ content }) => joinTexts(content))].join(""),
    messages: readItems(body.input.filter((item) => !instructions.includes(item))),
    tools: (body.tools ?? []).map((tool) => ({
      name: asText(tool.name),
      description: typeof tool.description === "string" ? tool.description : "",
      schema: (tool.parameters ?? {}) as JsonObject,
    })),
  };
}

/** Neighbouring items of the model are one answer. */
function readItems(items: readonly ResponsesItem[]): NeutralMessage[] {
  const messages: NeutralMessage[] = [];
  for (const item of items) {
    if (item.role === "user") {
      const images = countParts(item.content, ["input_image"]);
      messages.push({ role: "user", text: joinTexts(item.content), images });
    } else if (typeOf(item) === "function_call_output") {
      const images = countParts(item.output, ["input_image"]);
      messages.push({ role: "tool", callId: asText(item.call_id), text: joinTexts(item.output), images });
    } else {
      addToAnswer(messages, item);
    }
  }
  return messages;
}

function addToAnswer(messages: NeutralMessage[], item: ResponsesItem): void {
  let answer = messages.at(-1);
  if (answer?.role !== "assistant") {
    answer = { role: "assistant", text: "", thinking: "", calls: [] };
    messages.push(answer);
  }
  if (typeOf(item) === "reasoning") answer.thinking += joinTexts(item.summary);
  else if (typeOf(item) === "message") answer.text += joinTexts(item.content);
  else {
    const args = readArguments(asText(item.arguments));
    answer.calls.push({ id: asText(item.call_id), name: asText(item.name), arguments: args });
  }
}
