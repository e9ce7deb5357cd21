import type { AssistantMessage, StreamEvent } from "@pi-agent/kernel";

interface Update {
  event: StreamEvent;
  /** When, as a share of the time that the answer took: more than 0, at most 1. */
  share: number;
}

type Block = AssistantMessage["content"][number];
interface BlockKind {
  name: "text" | "thinking" | "toolcall";
  text: string;
}

// Pieces as providers send them, but not so many that a long answer is a flood.
const PIECE_CHARS = 24;
const MOST_PIECES = 400;

/**
 * Makes the stream of a finished answer: the message so far, which is filled while `updates` are read, and the events
 * between its start and its end.
 */
export function streamEvents(
  message: AssistantMessage,
  { isStreamed }: { isStreamed: boolean },
): { partial: AssistantMessage; updates: Iterable<Update> } {
  const partial: AssistantMessage = { ...message, content: [], stopReason: "pending" };
  delete partial.errorMessage;
  const kinds = message.content.map(kindOf);
  const total = kinds.reduce((sum, kind) => sum + (kind?.text.length ?? 0), 0);
  function* updates(): Generator<Update> {
    let sent = 0;
    const at = (event: StreamEvent): Update => ({ event, share: total === 0 ? 1 : sent / total });
    for (const [contentIndex, block] of message.content.entries()) {
      const kind = kinds[contentIndex];
      partial.content.push(emptied(block));
      if (!kind) continue;
      yield at(startOf(block, contentIndex));
      for (const delta of cutInPieces(kind.text, isStreamed)) {
        grow(partial.content[contentIndex], delta);
        sent += delta.length;
        yield at({ type: `${kind.name}_delta`, contentIndex, delta });
      }
      partial.content[contentIndex] = block;
      yield at(endOf(block, contentIndex));
    }
  }
  return { partial, updates: updates() };
}

/** Blocks of other kinds come without a stream. */
function kindOf(block: Block): BlockKind | undefined {
  if (block.type === "text") return { name: "text", text: block.text };
  if (block.type === "thinking") return { name: "thinking", text: block.thinking };
  return block.type === "toolCall" ? { name: "toolcall", text: JSON.stringify(block.arguments) } : undefined;
}

function emptied(block: Block): Block {
  if (block.type === "text") return { ...block, text: "" };
  if (block.type === "thinking") return { ...block, thinking: "" };
  return block.type === "toolCall" ? { ...block, arguments: {} } : block;
}

function grow(block: Block | undefined, delta: string): void {
  if (block?.type === "text") block.text += delta;
  else if (block?.type === "thinking") block.thinking += delta;
}

function startOf(block: Block, contentIndex: number): StreamEvent {
  if (block.type === "toolCall") return { type: "toolcall_start", contentIndex, id: block.id, toolName: block.name };
  return { type: block.type === "text" ? "text_start" : "thinking_start", contentIndex };
}

function endOf(block: Block, contentIndex: number): StreamEvent {
  if (block.type === "toolCall") return { type: "toolcall_end", contentIndex, toolCall: block };
  if (block.type === "text") return { type: "text_end", contentIndex, content: block.text };
  return { type: "thinking_end", contentIndex, content: block.thinking };
}

/** Never cuts a character in two. */
function cutInPieces(text: string, isStreamed: boolean): string[] {
  if (text === "") return [];
  if (!isStreamed) return [text];
  const size = Math.max(PIECE_CHARS, Math.ceil(text.length / MOST_PIECES));
  const pieces: string[] = [];
  for (let from = 0; from < text.length; ) {
    const isHalf = /[\ud800-\udbff]/.test(text.charAt(from + size - 1));
    const to = Math.min(text.length, from + size + (isHalf ? 1 : 0));
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
}
