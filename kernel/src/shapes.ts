/** Holds what comes from tools, hooks and hosts to its shape, so that one bad value cannot poison a session (K7). */
import type { Draft, EntryType, Message, Model, ThinkingLevel } from "./messages.ts";
import { isRecord } from "./values.ts";

type BlockCheck = (block: Record<string, unknown>) => boolean;

const isText = (value: unknown) => typeof value === "string";

const BLOCKS: Record<string, BlockCheck> = {
  text: ({ text }) => isText(text),
  image: ({ data, mimeType }) => isText(data) && isText(mimeType),
  thinking: ({ thinking }) => isText(thinking),
  toolCall: ({ id, name, arguments: args }) => isText(id) && isText(name) && name !== "" && isRecord(args),
};
const USER_BLOCKS = ["text", "image"];
export const ANSWER_BLOCKS = ["text", "thinking", "toolCall"];

/** Tells what is wrong with a message of one of the kernel's own roles; others are their packages' to check. */
export function shapeProblem(message: Message): string | undefined {
  const { role } = message as { role: unknown };
  if (!isText(role)) return "it has no role";
  switch (message.role) {
    case "user":
    case "custom":
      return isText(message.content) ? undefined : blocksProblem(message.content, USER_BLOCKS);
    case "toolResult":
      if (!isText(message.toolCallId) || !isText(message.toolName)) return "it names no call";
      return blocksProblem(message.content, USER_BLOCKS);
    case "assistant":
      if (!isRecord(message.usage)) return "it has no usage";
      return blocksProblem(message.content, ANSWER_BLOCKS);
    default:
      return undefined;
  }
}

/** Tells what is wrong with a draft of one of the kernel's own types; others are their packages' to check. */
export function draftProblem(draft: Draft): string | undefined {
  if (!isRecord(draft)) return "an entry is no object";
  if (draft.type === "message") return shapeProblem(draft.message as Message);
  const isWhole = Object.hasOwn(DRAFTS, draft.type) ? DRAFTS[draft.type as keyof typeof DRAFTS] : undefined;
  return !isWhole || isWhole(draft as never) ? undefined : `the ${draft.type} entry lacks what such an entry has`;
}

const isContent = (content: unknown) => isText(content) || blocksProblem(content) === undefined;

const DRAFTS: { [T in Exclude<EntryType, "message">]: (draft: Partial<Draft<T>>) => boolean } = {
  model_change: ({ provider, modelId }) => isText(provider) && isText(modelId),
  thinking_level_change: ({ thinkingLevel }) => isThinkingLevel(thinkingLevel),
  compaction: ({ summary, firstKeptEntryId, tokensBefore }) =>
    isText(summary) && (firstKeptEntryId === null || isText(firstKeptEntryId)) && Number.isFinite(tokensBefore),
  branch_summary: ({ fromId, summary }) => isText(fromId) && isText(summary),
  context_edit: ({ targetId, replacement }) =>
    isText(targetId) && (replacement === null || (isRecord(replacement) && isContent(replacement.content))),
  custom: ({ customType }) => isText(customType),
  custom_message: ({ customType, content, display }) =>
    isText(customType) && isContent(content) && typeof display === "boolean",
  label: ({ targetId, label }) => isText(targetId) && (label === undefined || isText(label)),
  session_info: ({ name }) => isText(name),
  usage: ({ kind, usage }) => isText(kind) && isRecord(usage),
};

const LEVELS: readonly unknown[] = ["off", "minimal", "low", "medium", "high", "xhigh", "max"];

export function isThinkingLevel(value: unknown): value is ThinkingLevel {
  return LEVELS.includes(value);
}

export function isModel(value: unknown): value is Model {
  return isRecord(value) && isText(value.id) && isText(value.provider) && isText(value.api);
}

/** Tells what is wrong with a list of blocks of these types. */
export function blocksProblem(blocks: unknown, types: readonly string[] = USER_BLOCKS): string | undefined {
  if (!Array.isArray(blocks)) return "its content is no list of blocks";
  const isWhole = (block: unknown) =>
    isRecord(block) && types.includes(String(block.type)) && BLOCKS[String(block.type)]!(block);
  return blocks.every(isWhole) ? undefined : `its content holds something else than ${types.join(", ")} blocks`;
}
