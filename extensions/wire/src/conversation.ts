/** What every converter from the conversation to a wire format needs. */
import type { AssistantMessage, Image, Json, Model, Text, Thinking, ToolCall, UserContent } from "@pi-agent/kernel";

type OwnBlock = Text | Thinking | ToolCall;

const IMAGE_OMITTED = "(An image was left out: this model reads text only.)";

/** Lists the parts of a content: well-formed, without empty texts, images told in words to a model that sees none. */
export function toParts(content: UserContent, model: Model): (Text | Image)[] {
  const parts: (Text | Image)[] = [];
  for (const part of typeof content === "string" ? [{ type: "text", text: content } as const] : content) {
    if (part.type === "image" && model.input.includes("image")) parts.push(part);
    else if (part.type === "text") {
      if (part.text.trim() !== "") parts.push({ type: "text", text: part.text.toWellFormed() });
    } else if (parts.at(-1) !== OMITTED) parts.push(OMITTED);
  }
  return parts;
}
const OMITTED: Text = Object.freeze({ type: "text", text: IMAGE_OMITTED });

/** Joins the texts of a content by line breaks. */
export function joinText(parts: readonly (Text | Image)[]): string {
  return parts
    .map((part) => (part.type === "text" ? part.text : ""))
    .filter(Boolean)
    .join("\n");
}

/** Tells whether `model` itself gave the answer, so that its signatures may go back. */
export function isOwnAnswer(message: AssistantMessage, model: Model): boolean {
  return message.api === model.api && message.provider === model.provider && message.model === model.id;
}

/**
 * Lists what of an answer may go to `model`: well-formed, without empty texts, and for another model than the one
 * that gave it without thinking and signatures.
 */
export function answerBlocks(message: AssistantMessage, model: Model): OwnBlock[] {
  const own = isOwnAnswer(message, model);
  const blocks: OwnBlock[] = [];
  for (const block of message.content) {
    if (block.type === "text") {
      if (block.text.trim() === "" && !(own && block.textSignature)) continue;
      const text = block.text.toWellFormed();
      blocks.push(own ? { ...block, text } : { type: "text", text });
    } else if (block.type === "thinking") {
      const isEmpty = block.thinking.trim() === "" && !block.thinkingSignature;
      if (own && !isEmpty) blocks.push({ ...block, thinking: block.thinking.toWellFormed() });
    } else blocks.push(own ? block : withoutSignature(block));
  }
  return blocks;
}

/**
 * Lists the same blocks with those that are the service's own at their places: these only for the api that gave them.
 * They may hold signatures, which are for the model that gave the answer only.
 */
export function placedBlocks(message: AssistantMessage, model: Model): ({ own: OwnBlock } | { foreign: Json })[] {
  const foreign = message.api === model.api ? (message.providerBlocks ?? []) : [];
  const placed: ({ own: OwnBlock } | { foreign: Json })[] = [];
  for (let at = 0; at <= message.content.length; at++) {
    for (const { index, block } of foreign) if (index === at) placed.push({ foreign: block });
    const content = message.content.slice(at, at + 1);
    for (const own of answerBlocks({ ...message, content }, model)) placed.push({ own });
  }
  return placed;
}

function withoutSignature(call: ToolCall): ToolCall {
  if (call.thoughtSignature === undefined) return call;
  const copy = { ...call };
  delete copy.thoughtSignature;
  return copy;
}
