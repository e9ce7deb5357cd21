import assert from "node:assert/strict";
import type { AssistantMessage, StreamEvent } from "@pi-agent/kernel";

/**
 * Fails where the events of one answer are not what an api owes, and answers its message.
 *
 *   answer := start block* end | end        blocks may overlap; no batch is empty
 *   block  := *_start *_delta* *_end        the deltas make the content, which the end repeats
 *   end    := done | error                  with the message's own stop reason; an error is typed and told
 */
export function assertStreamOrder(batches: readonly (readonly StreamEvent[])[]): AssistantMessage {
  assert.ok(
    batches.every((batch) => batch.length > 0),
    "A batch is empty.",
  );
  const events = batches.flat();
  const last = events.at(-1);
  if (last?.type !== "done" && last?.type !== "error") {
    throw new Error(`The stream ended with ${last?.type ?? "nothing"}, not with done or error.`);
  }
  const message = last.type === "done" ? last.message : last.error;
  const inside = events.slice(0, -1).map(({ type }) => type);
  assert.ok(!inside.some((type) => type === "done" || type === "error"), "The stream went on after its end.");
  assert.ok(inside.lastIndexOf("start") === (inside.length > 0 ? 0 : -1), "The one start is not the first event.");
  assert.equal(last.reason, message.stopReason, "The end and the message differ in their reason.");
  if (last.reason === "error") {
    assert.ok(message.failure && message.errorMessage, "A failure has no type or no message.");
  }
  assertBlocks(events, message.content);
  return message;
}

function assertBlocks(events: readonly StreamEvent[], content: AssistantMessage["content"]): void {
  const texts = new Map<number, string>();
  const ended = new Set<number>();
  for (const event of events) {
    if (!("contentIndex" in event)) continue;
    const { type, contentIndex: at } = event;
    const [kind, step] = type.split("_");
    assert.equal(kind, content[at]?.type.toLowerCase(), `${type} is for block ${at}.`);
    assert.equal(texts.has(at), step !== "start", `${type} is out of place in block ${at}.`);
    assert.ok(!ended.has(at), `${type} comes after the end of block ${at}.`);
    if (step === "start") texts.set(at, "");
    else if ("delta" in event) texts.set(at, texts.get(at) + event.delta);
    else ended.add(at);
    if ("content" in event) assert.equal(event.content, texts.get(at), `The end of block ${at} tells another text.`);
    if ("toolCall" in event)
      assert.deepEqual(event.toolCall, content[at], `The end of block ${at} tells another call.`);
  }
  assert.equal(ended.size, content.length, "A block has no end.");
  for (const [at, block] of content.entries()) assertDeltas(block, texts.get(at) ?? "");
}

/** A call that came without a text, or whose text cannot be read, has nothing to compare. */
function assertDeltas(block: AssistantMessage["content"][number], text: string): void {
  if (block.type === "text") assert.equal(block.text, text);
  else if (block.type === "thinking") assert.equal(block.thinking, text);
  else if (!block.argumentsError && text.trim() !== "") assert.deepEqual(block.arguments, JSON.parse(text) ?? {});
}
