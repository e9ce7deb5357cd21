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
import { answerBlocks, createConverter, isOwnAnswer, joinText, PLAIN_64, toAlphabet, toParts } from "@pi-agent/wire";
import { type ChatCompat, type Target, targetOf } from "./compat.ts";
import { imageUrl } from "./http.ts";

/** The longest id of a call that OpenAI takes. */
const ID_ALPHABET = { ...PLAIN_64, maxLength: 40 };
const MISTRAL_ID = /^[A-Za-z0-9]{9}$/;

/** Fields of an answer that thinking may come and go back in. The signature of a thinking block names its field. */
export const REASONING_FIELDS = ["reasoning_content", "reasoning", "reasoning_text"] as const;

/** Stands between results and the user's message, where a server wants an answer there. */
const RESULTS_READ: JsonObject = Object.freeze({ role: "assistant", content: "I have the results of the tools." });
const IMAGES_FOLLOW: JsonObject = Object.freeze({ type: "text", text: "Images from the tool results above:" });

interface Piece {
  wire?: JsonObject;
  /** Images of a tool result: the format has no place for them there. */
  images?: Json[];
  /** Ids of an answer's calls that had to change, old to new. */
  renamed?: [string, string][];
}

interface State {
  wire: JsonObject[];
  /** Ids that had to change in the last answer. */
  renamed: ReadonlyMap<string, string> | undefined;
  /** Of the results since then. */
  images: readonly Json[];
  isAfterResult: boolean;
}

/** Makes the `messages` of a request: a fresh list of messages that are remembered. */
export function toChatMessages(request: ProviderRequest): JsonObject[] {
  const { messages, systemPrompt } = request;
  const target = targetOf(request);
  const wire = convertAll(messages, target);
  if (systemPrompt === "") return wire;
  return [{ role: systemRole(target), content: systemPrompt.toWellFormed() }, ...wire];
}

function systemRole({ model, compat }: Target): string {
  return model.reasoning && compat.supportsDeveloperRole ? "developer" : "system";
}

function convert(message: Message, target: Target): Piece {
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
}

const convertAll = createConverter<State, JsonObject[], Target>({
  start: () => ({ wire: [], renamed: undefined, images: [], isAfterResult: false }),
  add(state, message, target) {
    const { wire, images, renamed } = convert(message, target);
    if (wire === undefined) return;
    if (message.role === "toolResult") {
      const id = state.renamed?.get(message.toolCallId);
      state.wire.push(id === undefined ? wire : Object.freeze({ ...wire, tool_call_id: id }));
      if (images) state.images = [...state.images, ...images];
      state.isAfterResult = true;
      return;
    }
    closeResults(state, target, message.role !== "assistant");
    state.wire.push(wire);
    if (message.role === "assistant") state.renamed = renamed && new Map(renamed);
  },
  fork: (state) => ({ ...state, wire: [...state.wire] }),
  finish(copy, target) {
    closeResults(copy, target, false);
    return copy.wire;
  },
});

/** After the results of a turn come their images, as the user's; some servers want an answer in between. */
function closeResults(state: State, { compat }: Target, isUserNext: boolean): void {
  if (!state.isAfterResult) return;
  const hasImages = state.images.length > 0;
  if (compat.requiresAssistantAfterToolResult && (isUserNext || hasImages)) state.wire.push(RESULTS_READ);
  if (hasImages) {
    const content: Json[] = [IMAGES_FOLLOW, ...state.images];
    state.wire.push(Object.freeze({ role: "user", content: Object.freeze(content) as Json[] }));
  }
  state.images = [];
  state.isAfterResult = false;
}

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
