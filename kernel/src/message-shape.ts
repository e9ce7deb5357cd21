/** Holds messages from tools, hooks and hosts to their shape, so that one bad one cannot poison a session (K7). */
import type { Message } from "./messages.ts";
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
const ANSWER_BLOCKS = ["text", "thinking", "toolCall"];

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

/** Tells what is wrong with a list of blocks of these types. */
export function blocksProblem(blocks: unknown, types: readonly string[] = USER_BLOCKS): string | undefined {
  if (!Array.isArray(blocks)) return "its content is no list of blocks";
  const isWhole = (block: unknown) =>
    isRecord(block) && types.includes(String(block.type)) && BLOCKS[String(block.type)]!(block);
  return blocks.every(isWhole) ? undefined : `its content holds something else than ${types.join(", ")} blocks`;
}
