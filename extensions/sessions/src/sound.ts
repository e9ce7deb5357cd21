/**
 * A quick look at entries as programs write them: nearly all are sound, and only the others are worth mending.
 * Fields are named one by one: asking for them by a list of names takes three times as long.
 */
import type { RawRecord } from "./record.ts";

type Fields = Record<string, unknown>;

/** Tells whether `mendShape` would leave a record as it is. `false` says nothing. */
export function isSound(record: RawRecord): boolean {
  if (record.type !== "message" || record.usage !== undefined) return false;
  const message = record.message as Fields | null | undefined;
  if (typeof message !== "object" || message === null) return false;
  switch (message.role) {
    case "user":
      return message.usage === undefined && (isText(message.content) || hasSoundBlocks(message.content));
    case "assistant":
      return isSoundAnswer(message);
    case "toolResult":
      return isText(message.toolCallId) && isText(message.toolName) && isSoundResult(message);
    default:
      return false;
  }
}

function isSoundAnswer(message: Fields): boolean {
  const { api, provider, model, stopReason } = message;
  const isNamed = isText(api) && isText(provider) && isText(model) && isText(stopReason);
  return (
    isNamed && message.providerBlocks === undefined && isSoundUsage(message.usage) && hasSoundBlocks(message.content)
  );
}

function isSoundResult({ usage, content }: Fields): boolean {
  return usage === undefined && hasSoundBlocks(content);
}

function isSoundUsage(usage: unknown): boolean {
  if (typeof usage !== "object" || usage === null) return false;
  const { input, output, cacheRead, cacheWrite, totalTokens, cost } = usage as Fields;
  if (typeof cost !== "object" || cost === null) return false;
  const isCounted = isNumber(input) && isNumber(output) && isNumber(cacheRead) && isNumber(cacheWrite);
  return isCounted && isNumber(totalTokens) && isSoundCost(cost as Fields);
}

function isSoundCost({ input, output, cacheRead, cacheWrite, total }: Fields): boolean {
  return isNumber(input) && isNumber(output) && isNumber(cacheRead) && isNumber(cacheWrite) && isNumber(total);
}

function hasSoundBlocks(content: unknown): boolean {
  if (!Array.isArray(content)) return false;
  for (let i = 0; i < content.length; i++) if (!isSoundBlock(content[i])) return false;
  return true;
}

function isSoundBlock(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const block = value as Fields;
  if (!hasSoundSignatures(block)) return false;
  switch (block.type) {
    case "text":
      return isText(block.text);
    case "thinking":
      return isText(block.thinking);
    case "image":
      return isText(block.data) && isText(block.mimeType);
    case "toolCall":
      return isSoundCall(block);
    default:
      return false;
  }
}

function isSoundCall({ id, name, arguments: args }: Fields): boolean {
  return isText(id) && isText(name) && typeof args === "object" && args !== null && !Array.isArray(args);
}

function hasSoundSignatures({ textSignature, thinkingSignature, thoughtSignature }: Fields): boolean {
  return isTextOrNone(textSignature) && isTextOrNone(thinkingSignature) && isTextOrNone(thoughtSignature);
}

function isTextOrNone(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function isNumber(value: unknown): boolean {
  return typeof value === "number";
}
