import { setTimeout as wait } from "node:timers/promises";
import type { ProviderRequest, StreamEvent, Text, Thinking, ToolCall } from "@pi-agent/kernel";
import { type Answer, classifyFailure, createAnswer } from "@pi-agent/wire";
import type { Deck } from "./deck.ts";
import { type Batch, type Take, textOf } from "./take.ts";

/** Plays the next take as the answer to a request, piece by piece. Every failure is the last event, and nothing is thrown. */
export async function* playNext(
  request: ProviderRequest,
  deck: Pick<Deck, "next" | "speed">,
): AsyncGenerator<readonly StreamEvent[]> {
  const answer = createAnswer(request, request.model.api);
  try {
    const speed = deck.speed();
    const take = await deck.next(request);
    const position = new Map<number, number>();
    for (const batch of take.batches) {
      if (speed > 0) await wait((countChars(batch) / speed) * 1_000, undefined, { signal: request.signal });
      request.signal.throwIfAborted();
      answer.start();
      for (const mark of batch) playMark(answer, take, { mark, position });
      yield answer.takeBatch();
    }
    finish(answer, take);
  } catch (cause) {
    if (request.signal.aborted) answer.abort();
    else {
      const { failure, message } = classifyFailure({ provider: request.model.provider, cause });
      answer.fail(failure, message);
    }
  }
  yield answer.takeBatch();
}

function playMark(
  answer: Answer,
  take: Take,
  { mark: [index, characters], position }: { mark: Batch[number]; position: Map<number, number> },
): void {
  const block = take.content[index];
  if (!block) throw new Error(`the recorded answer has no block ${index}`);
  const text = textOf(block);
  const from = position.get(index) ?? 0;
  if (!position.has(index)) open(answer, index, block);
  const to = characters === undefined ? text.length : wholeCharacter(text, from + characters);
  append(answer, index, text.slice(from, to), block);
  position.set(index, to);
  if (characters === undefined) answer.end(index);
}

/** Moves a border that would cut a character of two code units in half behind it. */
function wholeCharacter(text: string, border: number): number {
  const isCut = /[\uD800-\uDBFF]/.test(text.charAt(border - 1));
  return isCut ? border + 1 : border;
}

function open(answer: Answer, index: number, block: Text | Thinking | ToolCall): void {
  if (block.type === "toolCall") answer.toolCall(index, block);
  else if (block.type === "thinking" && block.redacted) answer.redactedThinking(index, "");
  else if (block.type === "thinking") answer.thinking(index, "");
  else answer.text(index, "");
}

function append(answer: Answer, index: number, text: string, { type }: Text | Thinking | ToolCall): void {
  if (type === "toolCall") answer.toolArguments(index, text);
  else if (type === "thinking") answer.thinking(index, text);
  else answer.text(index, text);
}

function finish(answer: Answer, take: Take): void {
  if (take.model !== undefined) answer.message.responseModel = take.model;
  if (take.usage) answer.usage(take.usage);
  if (take.stopReason === "error") {
    answer.fail(take.failure ?? { kind: "unknown" }, take.errorMessage ?? "The recorded call failed.");
  } else answer.done(take.stopReason, take.rawStopReason);
}

function countChars(batch: Batch): number {
  return batch.reduce((sum, [, characters = 0]) => sum + characters, 0);
}
