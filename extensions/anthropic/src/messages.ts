/** Kernel messages ──► the `messages` of a request. Each frozen message is converted once per model. */
import type {
  ContentBlockParam,
  ImageBlockParam,
  MessageParam,
  TextBlockParam,
  ThinkingBlockParam,
  ToolResultBlockParam,
} from "@anthropic-ai/sdk/resources/messages";
import type {
  AssistantMessage,
  Image,
  Message,
  Model,
  Text,
  Thinking,
  ToolCall,
  ToolResultMessage,
} from "@pi-agent/kernel";
import { answerBlocks, createMessageCache, PLAIN_64, pairCalls, toAlphabet, toParts } from "@pi-agent/wire";
import { TOOL_NAME } from "./tools.ts";

/** Stands before an answer whose beginning was cut off: the API starts with the user. */
const BEGINNING: MessageParam = Object.freeze({
  role: "user",
  content: [{ type: "text" as const, text: "(The conversation before this point was left out.)" }],
});

type Blocks = readonly ContentBlockParam[];

const toBlocks = createMessageCache<Blocks>((message, model) => {
  if (message.role === "assistant") return [...answerToBlocks(message, model)];
  if (message.role === "toolResult") return [resultToBlock(message, model)];
  return toParts(message.content, model).map(partToBlock);
});

/** Converts a conversation. What it returns is partly remembered and frozen: copy what you change. */
export function toMessages(messages: readonly Message[], model: Model): MessageParam[] {
  const converted: MessageParam[] = [];
  const uniqueIds = createIdRegister();
  let results: ContentBlockParam[] | undefined;
  for (const message of pairCalls(messages)) {
    const blocks = uniqueIds(toBlocks(message, model));
    if (blocks.length === 0) continue;
    if (message.role === "toolResult") {
      // All results of one answer belong into the one message after it.
      if (results) results.push(...blocks);
      else converted.push({ role: "user", content: (results = [...blocks]) });
      continue;
    }
    results = undefined;
    converted.push({
      role: message.role === "assistant" ? "assistant" : "user",
      content: blocks as ContentBlockParam[],
    });
  }
  if (converted[0]?.role === "assistant") converted.unshift(BEGINNING);
  return converted;
}

/** Leaves the thinking of earlier answers out. */
export function withoutThinking(messages: readonly MessageParam[]): MessageParam[] {
  const left: MessageParam[] = [];
  for (const message of messages) {
    const { role, content } = message;
    if (role !== "assistant" || typeof content === "string") left.push(message);
    else {
      const kept = content.filter(({ type }) => type !== "thinking" && type !== "redacted_thinking");
      if (kept.length > 0) left.push({ role, content: kept });
    }
  }
  return left;
}

/** The blocks of an answer in their order, with those of the service itself at their places. */
function* answerToBlocks(message: AssistantMessage, model: Model): Generator<ContentBlockParam> {
  const { content } = message;
  const foreign = message.api === model.api ? (message.providerBlocks ?? []) : [];
  for (let at = 0; at <= content.length; at++) {
    for (const { index, block } of foreign) if (index === at) yield block as unknown as ContentBlockParam;
    for (const own of answerBlocks({ ...message, content: content.slice(at, at + 1) }, model)) {
      const block = ownToBlock(own, model);
      if (block) yield block;
    }
  }
}

function ownToBlock(block: Text | Thinking | ToolCall, model: Model): ContentBlockParam | undefined {
  if (block.type === "thinking") return thinkingToBlock(block, model);
  if (block.type === "text") return block.text.trim() === "" ? undefined : { type: "text", text: block.text };
  const { id, name, arguments: input } = block;
  return { type: "tool_use", id: toAlphabet(id, PLAIN_64), name: toAlphabet(name, TOOL_NAME), input };
}

/** The API refuses thinking without a signature; some compatible servers give none and take none. */
function thinkingToBlock({ thinking, thinkingSignature, redacted }: Thinking, { compat }: Model) {
  if (redacted) return { type: "redacted_thinking" as const, data: thinkingSignature ?? "" };
  if (!thinkingSignature && compat?.allowEmptySignature !== true) return undefined;
  return { type: "thinking", thinking, signature: thinkingSignature ?? "" } satisfies ThinkingBlockParam;
}

/** An error result may hold texts only, and must not be empty. */
function resultToBlock({ toolCallId, content, isError }: ToolResultMessage, model: Model): ToolResultBlockParam {
  const parts = toParts(content, model).map(partToBlock);
  const result: ToolResultBlockParam = { type: "tool_result", tool_use_id: toAlphabet(toolCallId, PLAIN_64) };
  if (isError && parts.some(({ type }) => type === "image"))
    return { ...result, content: [{ type: "text", text: "The tool failed:" }, ...parts] };
  if (isError) result.is_error = true;
  if (parts.length > 0) result.content = parts;
  else if (isError) result.content = "The tool failed without a message.";
  return result;
}

function partToBlock(part: Text | Image): TextBlockParam | ImageBlockParam {
  if (part.type === "text") return { type: "text", text: part.text };
  const media_type = part.mimeType as "image/png";
  return { type: "image", source: { type: "base64", media_type, data: part.data } };
}

/** Makes call ids unique in a conversation, as the API wants them, with the results following their calls. */
function createIdRegister() {
  const counts = new Map<string, number>();
  const rename = (id: string) => {
    const count = counts.get(id) ?? 1;
    return count === 1 ? id : toAlphabet(`${id}#${count}`, PLAIN_64);
  };
  return (blocks: Blocks): Blocks => {
    let isClean = true;
    for (const block of blocks) {
      if (block.type === "tool_use") counts.set(block.id, (counts.get(block.id) ?? 0) + 1);
      const id = block.type === "tool_use" ? block.id : block.type === "tool_result" ? block.tool_use_id : undefined;
      if (id !== undefined && counts.get(id) !== 1) isClean = false;
    }
    if (isClean) return blocks;
    return blocks.map((block) => {
      if (block.type === "tool_use") return { ...block, id: rename(block.id) };
      return block.type === "tool_result" ? { ...block, tool_use_id: rename(block.tool_use_id) } : block;
    });
  };
}
