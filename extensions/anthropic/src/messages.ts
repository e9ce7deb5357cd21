/** Kernel messages ──► the `messages` of a request. What was converted for the turn before is not converted again. */
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
import { type ConverterSteps, createConverter, PLAIN_64, placedBlocks, toAlphabet, toParts } from "@pi-agent/wire";
import { TOOL_NAME } from "./tools.ts";

/** Stands before an answer whose beginning was cut off: the API starts with the user. */
const BEGINNING: MessageParam = Object.freeze({
  role: "user",
  content: [{ type: "text" as const, text: "(The conversation before this point was left out.)" }],
});

type Blocks = readonly ContentBlockParam[];

function toBlocks(message: Message, model: Model): Blocks {
  if (message.role === "assistant") return answerToBlocks(message, model);
  if (message.role === "toolResult") return [resultToBlock(message, model)];
  return toParts(message.content, model).map(partToBlock);
}

interface State {
  messages: MessageParam[];
  /** The content of the last message, as long as it may get more results. */
  results: ContentBlockParam[] | undefined;
  ids: IdCounts;
}

/** Converts a conversation. The list that it returns is fresh; the messages in it are remembered. */
export const toMessages = createConverter(stepsWith(toBlocks));

/** As `toMessages`, with the thinking of earlier answers left out. */
export const toMessagesWithoutThinking = createConverter(
  stepsWith((message, model) => toBlocks(message, model).filter(isNoThinking)),
);

function stepsWith(convert: (message: Message, model: Model) => Blocks): ConverterSteps<State, MessageParam[]> {
  return {
    start: () => ({ messages: [], results: undefined, ids: countIds() }),
    add(state, message, model) {
      const blocks = withUniqueIds(convert(message, model), state.ids);
      if (blocks.length === 0) return;
      if (message.role !== "toolResult") {
        Object.freeze(state.results);
        state.results = undefined;
        const role = message.role === "assistant" ? "assistant" : "user";
        state.messages.push(Object.freeze({ role, content: blocks as ContentBlockParam[] }));
      } else if (state.results) state.results.push(...blocks);
      // All results of one answer belong into the one message after it.
      else state.messages.push(Object.freeze({ role: "user", content: (state.results = [...blocks]) }));
    },
    fork({ messages, results, ids }) {
      const copy = { messages: [...messages], results: results && [...results], ids: countIds(ids) };
      if (copy.results) copy.messages[messages.length - 1] = { role: "user", content: copy.results };
      return copy;
    },
    finish: ({ messages }) => (messages[0]?.role === "assistant" ? [BEGINNING, ...messages] : messages),
  };
}

function isNoThinking({ type }: ContentBlockParam): boolean {
  return type !== "thinking" && type !== "redacted_thinking";
}

function answerToBlocks(message: AssistantMessage, model: Model): ContentBlockParam[] {
  return placedBlocks(message, model).flatMap((placed) => {
    if ("foreign" in placed) return placed.foreign as unknown as ContentBlockParam;
    return ownToBlock(placed.own, model) ?? [];
  });
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

/** How often each id of a call has come. */
interface IdCounts {
  of(id: string): number;
  add(id: string): void;
}

/** Counts on from `base`, which does not notice. */
function countIds(base?: IdCounts): IdCounts {
  const counts = new Map<string, number>();
  const of = (id: string) => counts.get(id) ?? base?.of(id) ?? 0;
  return { of, add: (id) => void counts.set(id, of(id) + 1) };
}

/** Makes call ids unique in a conversation, as the API wants them, with the results following their calls. */
function withUniqueIds(blocks: Blocks, ids: IdCounts): Blocks {
  let isClean = true;
  for (const block of blocks) {
    if (block.type === "tool_use") ids.add(block.id);
    const id = block.type === "tool_use" ? block.id : block.type === "tool_result" ? block.tool_use_id : undefined;
    if (id !== undefined && ids.of(id) > 1) isClean = false;
  }
  if (isClean) return blocks;
  const rename = (id: string) => (ids.of(id) > 1 ? toAlphabet(`${id}#${ids.of(id)}`, PLAIN_64) : id);
  return blocks.map((block) => {
    if (block.type === "tool_use") return Object.freeze({ ...block, id: rename(block.id) });
    return block.type === "tool_result" ? Object.freeze({ ...block, tool_use_id: rename(block.tool_use_id) }) : block;
  });
}
