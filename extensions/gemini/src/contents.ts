/** Kernel messages ──► the `contents` of a request. Each frozen message is converted once per model. */
import type { Content, FunctionResponsePart, Part } from "@google/genai";
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
import { isGemini3, mayWantSignatures } from "./model-version.ts";
import { TOOL_NAME } from "./tools.ts";

/** What the service takes in place of a signature that it has not given, as its documentation has it. */
const NO_SIGNATURE = "skip_thought_signature_validator";
/** How an id looks that was made because the service gave none. */
const MADE_ID = /^call_[0-9a-f]{32}$/;

/** Stands before an answer whose beginning was cut off: the service starts with the user. */
const BEGINNING: Content = Object.freeze({
  role: "user",
  parts: [{ text: "(The conversation before this point was left out.)" }],
});

interface Converted {
  parts: readonly Part[];
  /** Images of a result, for models that take none inside it. */
  images?: readonly Part[];
}

const convert = createMessageCache<Converted>((message, model) => {
  if (message.role === "assistant") return { parts: signCalls([...answerToParts(message, model)], model) };
  if (message.role === "toolResult") return resultToParts(message, model);
  return { parts: toParts(message.content, model).map(toPart) };
});

/** Converts a conversation. What it returns is partly remembered and frozen: copy what you change. */
export function toContents(messages: readonly Message[], model: Model): Content[] {
  const contents: Content[] = [];
  let results: { parts: Part[]; images: Part[] } | undefined;
  const endResults = () => {
    if (results?.images.length) contents.push({ role: "user", parts: results.images });
    results = undefined;
  };
  for (const message of pairCalls(messages)) {
    const { parts, images = [] } = convert(message, model);
    if (message.role !== "toolResult") {
      endResults();
      if (parts.length > 0)
        contents.push({ role: message.role === "assistant" ? "model" : "user", parts: parts as Part[] });
      continue;
    }
    if (results === undefined) {
      results = { parts: [], images: [] };
      // The answers to the calls of one content belong into one content.
      contents.push({ role: "user", parts: results.parts });
    }
    results.parts.push(...parts);
    results.images.push(...images);
  }
  endResults();
  if (contents[0]?.role === "model") contents.unshift(BEGINNING);
  return contents;
}

/** The parts of an answer in their order, with those that are none of ours at their places. */
function* answerToParts(message: AssistantMessage, model: Model): Generator<Part> {
  const { content } = message;
  const foreign = message.api === model.api ? (message.providerBlocks ?? []) : [];
  const own = isOwnAnswer(message, model);
  for (let at = 0; at <= content.length; at++) {
    for (const { index, block } of foreign) if (index === at) yield withoutForeignSignature(block as Part, own);
    for (const block of answerBlocks({ ...message, content: content.slice(at, at + 1) }, model))
      yield blockToPart(block);
  }
}

/** A signature goes back on the very part that it came with. */
function blockToPart(block: Text | Thinking | ToolCall): Part {
  if (block.type === "text") return signed({ text: block.text }, block.textSignature);
  if (block.type === "thinking") return signed({ text: block.thinking, thought: true }, block.thinkingSignature);
  const { id, name, arguments: args, thoughtSignature } = block;
  return signed({ functionCall: { ...wireId(id), name: toAlphabet(name, TOOL_NAME), args } }, thoughtSignature);
}

function signed(part: Part, thoughtSignature: string | undefined): Part {
  return thoughtSignature ? { ...part, thoughtSignature } : part;
}

function withoutForeignSignature(part: Part, isOwn: boolean): Part {
  if (isOwn || part.thoughtSignature === undefined) return part;
  const { thoughtSignature: _, ...rest } = part;
  return rest;
}

/** Of several calls only the first is signed. One that comes from elsewhere has no signature to give. */
function signCalls(parts: Part[], model: Model): Part[] {
  const at = parts.findIndex(({ functionCall }) => functionCall !== undefined);
  const call = parts[at];
  if (call && call.thoughtSignature === undefined && mayWantSignatures(model))
    parts[at] = { ...call, thoughtSignature: NO_SIGNATURE };
  return parts;
}

function resultToParts({ toolCallId, toolName, content, isError }: ToolResultMessage, model: Model): Converted {
  const given = toParts(content, model);
  const images = given.filter((part) => part.type === "image");
  const text = joinText(given) || (images.length > 0 ? "(The result is an image.)" : "(No output.)");
  const response = isError ? { error: text } : { output: text };
  const answer = { ...wireId(toolCallId), name: toAlphabet(toolName, TOOL_NAME), response };
  if (images.length === 0) return { parts: [{ functionResponse: answer }] };
  const media = images.map(toPart);
  if (isGemini3(model)) return { parts: [{ functionResponse: { ...answer, parts: media as FunctionResponsePart[] } }] };
  return { parts: [{ functionResponse: answer }], images: [{ text: `From the result of ${toolName}:` }, ...media] };
}

function toPart(part: Text | Image): Part {
  return part.type === "text" ? { text: part.text } : { inlineData: { mimeType: part.mimeType, data: part.data } };
}

/** Calls without an id are answered in their order; what the service has not given it does not get. */
function wireId(id: string): { id?: string } {
  return MADE_ID.test(id) ? {} : { id: toAlphabet(id, PLAIN_64) };
}
