/** The conversation in the chat format. */
import type {
  AssistantMessage,
  Image,
  Json,
  JsonObject,
  Message,
  Model,
  ProviderRequest,
  Text,
  ToolResultMessage,
  UserContent,
} from "@pi-agent/kernel";
import {
  answerBlocks,
  createMessageCache,
  isOwnAnswer,
  joinText,
  PLAIN_64,
  pairCalls,
  toAlphabet,
  toParts,
} from "@pi-agent/wire";
import { type ChatCompat, type Target, targetOf } from "./compat.ts";
import { imageUrl } from "./http.ts";

/** The longest id of a call that OpenAI takes. */
const ID_ALPHABET = { ...PLAIN_64, maxLength: 40 };
const MISTRAL_ID = /^[A-Za-z0-9]{9}$/;

/** Fields of an answer that thinking may come and go back in. The signature of a thinking block names its field. */
export const REASONING_FIELDS = ["reasoning_content", "reasoning", "reasoning_text"] as const;

interface Piece {
  wire?: JsonObject;
  /** Images of a tool result: the format has no place for them there. */
  images?: Json[];
  /** Ids of an answer's calls that had to change, old to new. */
  renamed?: [string, string][];
}

/** Makes the `messages` of a request. What a message becomes is remembered from turn to turn. */
export function toChatMessages(request: ProviderRequest): JsonObject[] {
  const { systemPrompt } = request;
  const target = targetOf(request);
  const { model, compat } = target;
  const wire: JsonObject[] = [];
  if (systemPrompt !== "") wire.push({ role: systemRole(model, compat), content: systemPrompt.toWellFormed() });
  let renamed: Map<string, string> | undefined;
  let images: Json[] = [];
  let isAfterResult = false;
  for (const message of pairCalls(request.messages)) {
    const piece = convert(message, target);
    if (piece.wire === undefined) continue;
    if (message.role === "toolResult") {
      const id = renamed?.get(message.toolCallId);
      wire.push(id === undefined ? piece.wire : { ...piece.wire, tool_call_id: id });
      if (piece.images) images.push(...piece.images);
      isAfterResult = true;
      continue;
    }
    if (isAfterResult) closeResults(message.role !== "assistant");
    wire.push(piece.wire);
    if (message.role === "assistant") renamed = piece.renamed && new Map(piece.renamed);
  }
  if (isAfterResult) closeResults(false);
  return wire;

  /** After the results of a turn come their images, as the user's; some servers want an answer in between. */
  function closeResults(isUserNext: boolean) {
    if (compat.requiresAssistantAfterToolResult && (isUserNext || images.length > 0))
      wire.push({ role: "assistant", content: "I have the results of the tools." });
    if (images.length > 0) {
      const text = { type: "text", text: "Images from the tool results above:" };
      wire.push({ role: "user", content: [text, ...images] });
    }
    images = [];
    isAfterResult = false;
  }
}

function systemRole(model: Model, compat: ChatCompat): string {
  return model.reasoning && compat.supportsDeveloperRole ? "developer" : "system";
}

const convert = createMessageCache((message: Message, target: Target): Piece => {
  switch (message.role) {
    case "user":
    case "custom":
      return userPiece(message.content, target.model);
    case "assistant":
      return answerPiece(message, target);
    case "toolResult":
      return resultPiece(message, target);
    default:
      return {};
  }
});

function userPiece(content: UserContent, model: Model): Piece {
  const parts = toParts(content, model);
  if (parts.length === 0) return {};
  const isText = parts.every((part) => part.type === "text");
  return { wire: { role: "user", content: isText ? joinText(parts) : parts.map(toWirePart) } };
}

function toWirePart(part: Text | Image): Json {
  return part.type === "text"
    ? { type: "text", text: part.text }
    : { type: "image_url", image_url: { url: imageUrl(part) } };
}

function resultPiece(message: ToolResultMessage, { model, compat }: Target): Piece {
  const parts = toParts(message.content, model);
  const images = parts.filter((part) => part.type === "image").map(toWirePart);
  const text = joinText(parts) || (images.length > 0 ? "(The result is an image; it follows.)" : "(no output)");
  const wire: JsonObject = { role: "tool", tool_call_id: message.toolCallId, content: text };
  if (compat.requiresToolResultName) wire.name = toAlphabet(message.toolName, PLAIN_64);
  return images.length > 0 ? { wire, images } : { wire };
}

function answerPiece(message: AssistantMessage, { model, compat }: Target): Piece {
  const own = isOwnAnswer(message, model);
  const reasoning: Record<string, string> = {};
  const calls: Json[] = [];
  const renamed: [string, string][] = [];
  let text = "";
  for (const block of answerBlocks(message, model)) {
    if (block.type === "text") text += block.text;
    else if (block.type === "thinking") {
      const field = REASONING_FIELDS.find((name) => name === block.thinkingSignature);
      if (compat.requiresThinkingAsText) text += `<thinking>\n${block.thinking}\n</thinking>\n`;
      else if (field) reasoning[field] = (reasoning[field] ?? "") + block.thinking;
    } else {
      const id = own ? block.id : wireId(block.id, compat);
      if (id !== block.id) renamed.push([block.id, id]);
      const name = toAlphabet(block.name, PLAIN_64);
      calls.push({ id, type: "function", function: { name, arguments: JSON.stringify(block.arguments) } });
    }
  }
  if (text === "" && calls.length === 0) return {};
  const wire: JsonObject = { role: "assistant", content: text === "" ? null : text };
  if (calls.length > 0) wire.tool_calls = calls;
  addReasoning(wire, { message, model, compat, own, reasoning });
  return renamed.length > 0 ? { wire, renamed } : { wire };
}

interface Reasoned {
  message: AssistantMessage;
  model: Model;
  compat: ChatCompat;
  own: boolean;
  reasoning: Record<string, string>;
}

function addReasoning(wire: JsonObject, { message, model, compat, own, reasoning }: Reasoned): void {
  const details = own ? message.providerBlocks?.map(({ block }) => reasoningDetails(block)).find(Boolean) : undefined;
  if (details) wire.reasoning_details = details;
  else Object.assign(wire, reasoning);
  if (compat.requiresReasoningContentOnAssistantMessages && model.reasoning) wire.reasoning_content ??= "";
}

function reasoningDetails(block: Json): Json[] | undefined {
  if (typeof block !== "object" || block === null || Array.isArray(block)) return undefined;
  return Array.isArray(block.reasoning_details) ? block.reasoning_details : undefined;
}

/** An id in an answer of another model. Before a bar stands the id that the Responses api knows the call by. */
function wireId(id: string, { requiresMistralToolIds }: ChatCompat): string {
  const call = id.split("|", 1)[0] ?? "";
  if (!requiresMistralToolIds) return toAlphabet(call, ID_ALPHABET);
  return MISTRAL_ID.test(call) ? call : toAlphabet(`${call}|`, { ...PLAIN_64, maxLength: 9 });
}
