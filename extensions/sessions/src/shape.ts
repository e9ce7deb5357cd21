/**
 * Entries of the right type and a wrong shape, as other programs and hands have left them.
 *
 *   what has a sound default gets it · a block that is none is left out · an entry without what it is for is set aside
 */
import type { RawRecord } from "./record.ts";

/** `mended`: something of a wrong shape was replaced or left out. `unusable`: the entry is to be set aside. */
export type Shape = "sound" | "mended" | "unusable";

type Fields = Record<string, unknown>;

/** The texts without which an entry says nothing. */
const NEEDED: Record<string, readonly string[]> = {
  model_change: ["provider", "modelId"],
  thinking_level_change: ["thinkingLevel"],
  compaction: ["summary"],
  branch_summary: ["summary"],
  context_edit: ["targetId"],
  custom_message: ["customType"],
  label: ["targetId"],
  usage: ["provider", "model"],
};
const NEEDED_BY_ROLE: Record<string, readonly string[]> = {
  toolResult: ["toolCallId", "toolName"],
  bashExecution: ["command"],
};
const NEEDED_BY_BLOCK: Record<string, readonly string[]> = {
  text: ["text"],
  thinking: ["thinking"],
  image: ["data", "mimeType"],
  toolCall: ["id", "name"],
};
const COUNTS = ["input", "output", "cacheRead", "cacheWrite", "totalTokens"];
const COSTS = ["input", "output", "cacheRead", "cacheWrite", "total"];
const SIGNATURES = ["textSignature", "thinkingSignature", "thoughtSignature"];

/** Mends an entry in place, whatever its fields hold. What is only missing and has a default is sound. */
export function mendShape(entry: RawRecord): Shape {
  if (entry.type === "message") return mendMessage(entry);
  if (!hasTexts(entry, NEEDED[entry.type])) return "unusable";
  let isSound = true;
  if (entry.type === "custom_message") isSound = mendContent(entry, true);
  if (entry.type === "context_edit" && isObject(entry.replacement)) isSound = mendContent(entry.replacement, true);
  if (entry.type === "context_edit" && !isObject(entry.replacement) && entry.replacement !== null) return "unusable";
  if (entry.type === "session_info") isSound = mendField(entry, "name", { isText: true });
  if (entry.type === "label" && entry.label !== undefined) isSound = dropUnlessText(entry, "label");
  if (entry.type === "compaction") isSound = mendCompaction(entry);
  if (entry.type === "usage" || entry.usage !== undefined) isSound = mendUsage(entry) && isSound;
  return isSound ? "sound" : "mended";
}

function mendMessage(entry: RawRecord): Shape {
  const { message } = entry;
  if (!isObject(message) || typeof message.role !== "string") return "unusable";
  const { role } = message;
  if (!hasTexts(message, NEEDED_BY_ROLE[role])) return "unusable";
  let isSound = true;
  if (role === "bashExecution") isSound = mendField(message, "output", { isText: true });
  else if (role === "system") isSound = mendSystem(message);
  else isSound = mendContent(message, role !== "assistant" && role !== "toolResult");
  if (role === "assistant") isSound = mendAnswer(message) && isSound;
  else if (message.usage !== undefined) isSound = mendUsage(message) && isSound;
  return isSound ? "sound" : "mended";
}

function mendAnswer(message: Fields): boolean {
  let isSound = mendUsage(message);
  for (const name of ["api", "provider", "model"]) isSound = mendField(message, name, { isText: true }) && isSound;
  if (typeof message.stopReason !== "string") message.stopReason = "stop";
  const { providerBlocks } = message;
  if (providerBlocks === undefined || (Array.isArray(providerBlocks) && providerBlocks.every(isObject))) return isSound;
  delete message.providerBlocks;
  return false;
}

function mendSystem(message: Fields): boolean {
  let isSound = mendField(message, "content", { isText: true });
  for (const name of ["toolsAdded", "toolsRemoved"]) {
    const tools = message[name];
    const isList = Array.isArray(tools) && tools.every((tool) => isObject(tool) && typeof tool.name === "string");
    if (tools === undefined || isList) continue;
    delete message[name];
    isSound = false;
  }
  if (message.sections === undefined || isObject(message.sections)) return isSound;
  delete message.sections;
  return false;
}

function mendCompaction(entry: Fields): boolean {
  const isSound = mendField(entry, "tokensBefore", { isText: false });
  if (typeof entry.firstKeptEntryId !== "string") entry.firstKeptEntryId = null;
  if (entry.systemMessage === undefined) return isSound;
  if (isObject(entry.systemMessage)) return mendSystem(entry.systemMessage) && isSound;
  delete entry.systemMessage;
  return false;
}

function mendContent(holder: Fields, mayBeText: boolean): boolean {
  const { content } = holder;
  if (typeof content === "string") {
    if (!mayBeText) holder.content = [{ type: "text", text: content }];
    return mayBeText;
  }
  if (!Array.isArray(content)) {
    holder.content = [];
    return content === undefined || content === null;
  }
  const kept = content.filter(isBlock);
  if (kept.length < content.length) holder.content = kept;
  // Not `every`: all of them are to be mended.
  return kept.filter((block) => !mendBlock(block)).length === 0 && kept.length === content.length;
}

/** Blocks of unknown types stay. */
function isBlock(block: unknown): block is Fields {
  return isObject(block) && typeof block.type === "string" && hasTexts(block, NEEDED_BY_BLOCK[block.type]);
}

function mendBlock(block: Fields): boolean {
  let isSound = true;
  for (const name of SIGNATURES) if (name in block) isSound = dropUnlessText(block, name) && isSound;
  if (block.type !== "toolCall" || isObject(block.arguments)) return isSound;
  block.arguments = {};
  return false;
}

function mendUsage(holder: Fields): boolean {
  const isMissing = holder.usage === undefined;
  const isSound = isMissing || isObject(holder.usage);
  const usage: Fields = isObject(holder.usage) ? holder.usage : {};
  holder.usage = usage;
  const isCounted = mendNumbers(usage, COUNTS);
  if (!isObject(usage.cost)) usage.cost = {};
  return mendNumbers(usage.cost as Fields, COSTS) && isCounted && isSound;
}

function mendNumbers(holder: Fields, names: readonly string[]): boolean {
  return names.filter((name) => !mendField(holder, name, { isText: false })).length === 0;
}

/** Sets a field of another type to its default; answers whether it was sound, as a missing one is. */
function mendField(holder: Fields, name: string, { isText }: { isText: boolean }): boolean {
  const value = holder[name];
  if (typeof value === (isText ? "string" : "number")) return true;
  holder[name] = isText ? "" : 0;
  return value === undefined;
}

function dropUnlessText(holder: Fields, name: string): boolean {
  if (typeof holder[name] === "string") return true;
  delete holder[name];
  return false;
}

function hasTexts(holder: Fields, names: readonly string[] = []): boolean {
  return names.every((name) => typeof holder[name] === "string");
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
