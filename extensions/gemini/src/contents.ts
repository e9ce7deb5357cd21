/** Kernel messages ──► the `contents` of a request. What was converted for the turn before is not converted again. */
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
import { createConverter, isOwnAnswer, joinText, PLAIN_64, placedBlocks, toAlphabet, toParts } from "@pi-agent/wire";
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

/** Stands between an answer and one with calls: the service takes calls after the user only. */
const BETWEEN: Content = Object.freeze({ role: "user", parts: [{ text: "(What was said here was left out.)" }] });

interface Converted {
  parts: readonly Part[];
  /** Images of a result, for models that take none inside it. */
  images?: readonly Part[];
}

function convert(message: Message, model: Model): Converted {
  if (message.role === "assistant") return { parts: signCalls(answerToParts(message, model), model) };
  if (message.role === "toolResult") return resultToParts(message, model);
  return { parts: toParts(message.content, model).map(toPart) };
}

interface State {
  contents: Content[];
  /** What the last content holds, as long as it may get more results, and the images that come after it. */
  results: { parts: Part[]; images: Part[] } | undefined;
}

/** Converts a conversation. The list that it returns is fresh; what is in it is remembered. */
export const toContents = createConverter<State, Content[]>({
  start: () => ({ contents: [], results: undefined }),
  add(state, message, model) {
    const { parts, images = [] } = convert(message, model);
    if (message.role !== "toolResult") {
      endResults(state);
      if (parts.length === 0) return;
      const role = message.role === "assistant" ? "model" : "user";
      const isAfterModel = state.contents.at(-1)?.role === "model";
      if (isAfterModel && parts.some(({ functionCall }) => functionCall)) state.contents.push(BETWEEN);
      state.contents.push(Object.freeze({ role, parts: parts as Part[] }));
      return;
    }
    if (state.results === undefined) {
      state.results = { parts: [], images: [] };
      // The answers to the calls of one content belong into one content.
      state.contents.push(Object.freeze({ role: "user", parts: state.results.parts }));
    }
    state.results.parts.push(...parts);
    state.results.images.push(...images);
  },
  fork({ contents, results }) {
    const copy: State = { contents: [...contents], results: undefined };
    if (results) {
      copy.results = { parts: [...results.parts], images: [...results.images] };
      copy.contents[contents.length - 1] = { role: "user", parts: copy.results.parts };
    }
    return copy;
  },
  finish(copy) {
    endResults(copy);
    return copy.contents[0]?.role === "model" ? [BEGINNING, ...copy.contents] : copy.contents;
  },
});

function endResults(state: State): void {
  const { results, contents } = state;
  if (results === undefined) return;
  Object.freeze(results.parts);
  Object.freeze(results.images);
  if (results.images.length > 0) contents.push(Object.freeze({ role: "user", parts: results.images }));
  state.results = undefined;
}

function answerToParts(message: AssistantMessage, model: Model): Part[] {
  const isOwn = isOwnAnswer(message, model);
  return placedBlocks(message, model).map((placed) =>
    "foreign" in placed ? withoutForeignSignature(placed.foreign as Part, isOwn) : blockToPart(placed.own),
  );
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
