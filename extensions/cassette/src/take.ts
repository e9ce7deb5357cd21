import type { AssistantMessage, Failure, JsonObject, Text, Thinking, ToolCall, Usage } from "@pi-agent/kernel";

/** What a person writes for one answer: thinking first, then text, then calls. */
export interface Turn {
  thinking?: string;
  text?: string;
  calls?: { name: string; arguments?: JsonObject; id?: string }[];
  /** What the call is for; left out: a turn of the loop. */
  purpose?: string;
  /** How many answers the conversation must hold by then; left out: any number. */
  turns?: number;
}

/**
 * What arrived together, each `[block, characters]`: the block's next so many characters, its first mention starting
 * it; `[block]` ends it. The texts themselves stand once, in `content`.
 */
export type Batch = [block: number, characters?: number][];

/** One answer as it is played: its blocks, and the pieces in which they arrive. */
export interface Take {
  /** `provider/id` of the model that was recorded. */
  model?: string;
  purpose: string;
  /** How many answers the conversation held when it was recorded. */
  turns?: number;
  content: AssistantMessage["content"];
  stopReason: "stop" | "length" | "toolUse" | "error";
  rawStopReason?: string;
  failure?: Failure;
  errorMessage?: string;
  usage?: Omit<Usage, "cost" | "totalTokens">;
  batches: Batch[];
}

// About a word or two: what models send at a time.
const PIECE_CHARS = 12;

/** Makes a take of a scripted turn; its text arrives in small pieces, one at a time. */
export function toTake({ thinking, text, calls = [], purpose = "turn", turns }: Turn): Take {
  const content: Take["content"] = [];
  if (thinking) content.push({ type: "thinking", thinking });
  if (text) content.push({ type: "text", text });
  for (const { name, arguments: args = {}, id = "" } of calls) {
    content.push({ type: "toolCall", id, name, arguments: args });
  }
  const stopReason = calls.length > 0 ? "toolUse" : "stop";
  return { purpose, turns, content, stopReason, batches: content.flatMap(cutInPieces) };
}

/** The text of a block as it streams: a call's is its arguments. */
export function textOf(block: Text | Thinking | ToolCall): string {
  if (block.type === "text") return block.text;
  if (block.type === "thinking") return block.thinking;
  // What could not be parsed then cannot be parsed now.
  return block.argumentsError ?? JSON.stringify(block.arguments);
}

function cutInPieces(block: Take["content"][number], index: number): Batch[] {
  const { length } = textOf(block);
  const pieces = Array.from({ length: Math.ceil(length / PIECE_CHARS) }, (_, piece): Batch => {
    return [[index, Math.min(PIECE_CHARS, length - piece * PIECE_CHARS)]];
  });
  return [...(pieces.length > 0 ? pieces : [[[index, 0]] satisfies Batch]), [[index]]];
}
