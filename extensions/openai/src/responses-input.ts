/** The conversation in the Responses format. */
import type {
  AssistantMessage,
  Image,
  Json,
  JsonObject,
  Message,
  ProviderRequest,
  Text,
  Thinking,
  ToolCall,
  ToolResultMessage,
  UserContent,
} from "@pi-agent/kernel";
import { createConverter, isOwnAnswer, joinText, PLAIN_64, placedBlocks, toAlphabet, toParts } from "@pi-agent/wire";
import { type Target, targetOf } from "./compat.ts";
import { imageUrl, readObject } from "./http.ts";

/** Makes the `input` of a request: a fresh list of items that are remembered. */
export function toInput(request: ProviderRequest): JsonObject[] {
  return convertAll(request.messages, targetOf(request));
}

function convert(message: Message, target: Target): readonly JsonObject[] {
  switch (message.role) {
    case "user":
    case "custom":
      return userItems(message.content, target);
    case "assistant":
      return answerItems(message, target);
    case "toolResult":
      return [resultItem(message, target)];
    default:
      return [];
  }
}

const convertAll = createConverter<JsonObject[], JsonObject[], Target>({
  start: () => [],
  add: (items, message, target) => void items.push(...convert(message, target)),
  fork: (items) => [...items],
  finish: (items) => items,
});

function userItems(content: UserContent, { model }: Target): JsonObject[] {
  const parts = toParts(content, model);
  return parts.length === 0 ? [] : [{ role: "user", content: parts.map(toWirePart) }];
}

function toWirePart(part: Text | Image): Json {
  return part.type === "text"
    ? { type: "input_text", text: part.text }
    : { type: "input_image", image_url: imageUrl(part), detail: "auto" };
}

function resultItem(message: ToolResultMessage, { model }: Target): JsonObject {
  const parts = toParts(message.content, model);
  const hasImage = parts.some((part) => part.type === "image");
  const output = hasImage ? parts.map(toWirePart) : joinText(parts) || "(no output)";
  return { type: "function_call_output", call_id: wireId(message.toolCallId), output };
}

function answerItems(message: AssistantMessage, target: Target): JsonObject[] {
  const isOwn = isOwnAnswer(message, target.model);
  const items: JsonObject[] = [];
  for (const placed of placedBlocks(message, target.model)) {
    if ("foreign" in placed) {
      if (isOwn && isItem(placed.foreign)) items.push(placed.foreign);
      continue;
    }
    const item = answerItem(placed.own);
    if (item && !isLost(item, target)) items.push(item);
  }
  // Reasoning is refused without the item that it led to.
  while (items.at(-1)?.type === "reasoning") items.pop();
  return items;
}

function answerItem(block: Text | Thinking | ToolCall): JsonObject | undefined {
  if (block.type === "text") return textItem(block);
  if (block.type === "thinking") return readObject(block.thinkingSignature ?? "");
  const { name, arguments: args } = block;
  return {
    type: "function_call",
    call_id: wireId(block.id),
    name: toAlphabet(name, PLAIN_64),
    arguments: JSON.stringify(args),
  };
}

/** `phase` tells a remark on the way from the final answer. */
function textItem({ text, textSignature }: Text): JsonObject | undefined {
  if (text === "") return undefined;
  const phase = readObject(textSignature ?? "")?.phase;
  return typeof phase === "string" ? { role: "assistant", content: text, phase } : { role: "assistant", content: text };
}

/** OpenAI stores nothing for us, and takes back only reasoning that carries itself. */
function isLost(item: JsonObject, { isOriginal }: Target): boolean {
  return isOriginal && item.type === "reasoning" && typeof item.encrypted_content !== "string";
}

function isItem(block: Json): block is JsonObject {
  return typeof block === "object" && block !== null && !Array.isArray(block) && typeof block.type === "string";
}

/** Pi keeps the id of the item behind a bar. */
function wireId(id: string): string {
  return toAlphabet(id.split("|", 1)[0] ?? "", PLAIN_64);
}
