/** Holds what comes from tools, hooks and hosts to its shape, so that one bad value cannot poison a session (K7). */
import { AgentError } from "./errors.ts";
import type { Draft, EntryType, Message, Model, ThinkingLevel } from "./messages.ts";
import { isPromise, isRecord, seal } from "./values.ts";

const isText = (value: unknown) => typeof value === "string";
const isName = (value: unknown) => isText(value) && value !== "";

function isBlock(block: Record<string, unknown>): boolean {
  switch (block.type) {
    case "text":
      return isText(block.text);
    case "image":
      return isText(block.data) && isText(block.mimeType);
    case "thinking":
      return isText(block.thinking);
    default:
      return isText(block.id) && isName(block.name) && isRecord(block.arguments);
  }
}

const USER_BLOCKS = ["text", "image"];
export const ANSWER_BLOCKS = ["text", "thinking", "toolCall"];

/** Tells what is wrong with a message of one of the kernel's own roles; others are their packages' to check. */
export function shapeProblem(message: Message): string | undefined {
  if (!isRecord(message)) return "a message is no object";
  if (!isText((message as { role: unknown }).role)) return "it has no role";
  switch (message.role) {
    case "custom":
      if (!isText(message.customType)) return "it has no customType";
      if (typeof message.display !== "boolean") return "it does not say whether it is for display";
      return contentProblem(message.content);
    case "user":
      return contentProblem(message.content);
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
  if (!isName(draft.type)) return "an entry has no type";
  if (draft.type === "message") return shapeProblem(draft.message as Message);
  const isWhole = Object.hasOwn(DRAFTS, draft.type) ? DRAFTS[draft.type as keyof typeof DRAFTS] : undefined;
  return !isWhole || isWhole(draft as never) ? undefined : `the ${draft.type} entry lacks what such an entry has`;
}

const contentProblem = (content: unknown) => (isText(content) ? undefined : blocksProblem(content));
const isContent = (content: unknown) => contentProblem(content) === undefined;

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

const LEVELS: readonly ThinkingLevel[] = ["off", "minimal", "low", "medium", "high", "xhigh", "max"];

export function isThinkingLevel(value: unknown): value is ThinkingLevel {
  return LEVELS.includes(value as ThinkingLevel);
}

export function isModel(value: unknown): value is Model {
  return isRecord(value) && isName(value.id) && isName(value.provider) && isName(value.api);
}

/** Tells what is wrong with a list of blocks of these types. */
export function blocksProblem(blocks: unknown, types: readonly string[] = USER_BLOCKS): string | undefined {
  if (!Array.isArray(blocks)) return "its content is no list of blocks";
  for (const block of blocks as readonly unknown[]) {
    if (isRecord(block) && types.includes(block.type as string) && isBlock(block)) continue;
    return `its content holds something else than ${types.join(", ")} blocks`;
  }
  return undefined;
}

/** Holds a projector's answer to what can be sent, and freezes it; nothing stands for no messages. Fails with `invalid_projection`. */
export function assertProjection(type: string, answer: unknown): asserts answer is Message[] | undefined {
  if (answer === undefined) return;
  // Nobody waits for it: that it fails as well would be told as another fault.
  if (isPromise(answer)) answer.then(undefined, () => {});
  const problem = Array.isArray(answer) ? messagesProblem(answer as Message[]) : "it is no list of messages";
  if (problem === undefined) return;
  throw new AgentError("invalid_projection", `What the projector of ${type} answered cannot be sent: ${problem}.`, {
    hint: "Answer at once, with a list of whole messages: [{ role, content, timestamp }].",
  });
}

function messagesProblem(messages: readonly Message[]): string | undefined {
  for (const message of messages) {
    const problem = seal(message) ?? shapeProblem(message);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Fails with `invalid_choice`. */
export function assertModel(value: unknown): asserts value is Model {
  if (!isModel(value)) throw invalidChoice("model", value, "Give the model itself, such as ctx.model, not its name.");
}

/** Fails with `invalid_choice`. */
export function assertThinkingLevel(value: unknown): asserts value is ThinkingLevel {
  if (!isThinkingLevel(value)) throw invalidChoice("thinking level", value, `Give one of ${LEVELS.join(", ")}.`);
}

function invalidChoice(what: string, given: unknown, hint: string): AgentError {
  const shown = typeof given === "string" ? JSON.stringify(given) : given === null ? "null" : typeof given;
  return new AgentError("invalid_choice", `The ${what} cannot be set: ${shown} is none.`, { hint });
}
