/**
 * Wire events ──► the answer.
 *
 *   message_start (content_block_start content_block_delta* content_block_stop)* message_delta message_stop
 *
 * Blocks may interleave, by index. What is unknown is passed over, but blocks that are none of ours are kept whole.
 */
import type {
  RawContentBlockDeltaEvent,
  RawContentBlockStartEvent,
  RawMessageDeltaEvent,
  RawMessageStartEvent,
  RawMessageStreamEvent,
} from "@anthropic-ai/sdk/resources/messages";
import type { Json, JsonObject, ToolSchema } from "@pi-agent/kernel";
import { type Answer, createToolNames, type ServerSentEvent } from "@pi-agent/wire";
import { endAnswer, type Stop } from "./stop.ts";
import { TOOL_NAME } from "./tools.ts";
import { toCounts } from "./usage.ts";

type WireEvent = RawMessageStreamEvent | { type: "error" } | { type: "ping" };
type WireBlock = RawContentBlockStartEvent["content_block"];
type WireDelta = RawContentBlockDeltaEvent["delta"] | { type: "compaction_delta"; content?: string };

/** A block that is none of ours, as it grows; `input` is the text of its arguments. */
interface Foreign {
  block: JsonObject;
  input: string;
}

/** Reads one answer. */
export class AnswerReader {
  readonly #names: ReturnType<typeof createToolNames>;
  readonly #foreign = new Map<number, Foreign>();
  /** Arguments that came with the start of a call. They hold unless deltas follow. */
  readonly #given = new Map<number, string>();
  #stop: Stop | undefined;

  constructor(tools: readonly ToolSchema[]) {
    this.#names = createToolNames(tools, TOOL_NAME);
  }

  /** Takes one event. */
  read({ data }: ServerSentEvent, answer: Answer): void {
    if (data === "" || data === "[DONE]") return;
    const event = JSON.parse(data) as WireEvent;
    switch (event.type) {
      case "content_block_delta":
        return this.#takeDelta(event.index, event.delta, answer);
      case "content_block_start":
        return this.#startBlock(event.index, event.content_block, answer);
      case "content_block_stop":
        return this.#endBlock(event.index, answer);
      case "message_start":
        return this.#startMessage(event, answer);
      case "message_delta":
        return this.#takeEnd(event, answer);
      case "error":
        throw Object.assign(new Error("the stream ended with an error"), { body: event });
    }
  }

  /** Takes the end of the stream. Without a stop reason before it the answer was cut, and stays open. */
  end(answer: Answer): void {
    if (!this.#stop) return;
    for (const index of this.#given.keys()) this.#endBlock(index, answer);
    endAnswer(answer, this.#stop);
  }

  #startMessage({ message }: RawMessageStartEvent, answer: Answer): void {
    if (!message) return;
    answer.message.responseId = message.id;
    if (message.model && message.model !== answer.message.model) answer.message.responseModel = message.model;
    if (message.usage) answer.usage(toCounts(message.usage));
  }

  #startBlock(index: number, block: WireBlock, answer: Answer): void {
    if (block.type === "text") answer.text(index, block.text ?? "");
    else if (block.type === "thinking") {
      answer.thinking(index, block.thinking ?? "");
      if (block.signature) answer.sign(index, block.signature);
    } else if (block.type === "redacted_thinking") answer.redactedThinking(index, block.data);
    else if (block.type === "tool_use") {
      answer.toolCall(index, { id: block.id, name: this.#names.fromWire(block.name) });
      if (isFilled(block.input)) this.#given.set(index, JSON.stringify(block.input));
    } else {
      const kept = { ...block } as unknown as JsonObject;
      this.#foreign.set(index, { block: kept, input: "" });
      answer.providerBlock(kept);
    }
  }

  #takeDelta(index: number, delta: WireDelta, answer: Answer): void {
    if (delta.type === "text_delta") answer.text(index, delta.text ?? "");
    else if (delta.type === "input_json_delta") this.#takeInput(index, delta.partial_json ?? "", answer);
    else if (delta.type === "thinking_delta") answer.thinking(index, delta.thinking ?? "");
    else if (delta.type === "signature_delta") {
      if (answer.opened(index)) answer.sign(index, delta.signature);
    } else if (delta.type === "compaction_delta") {
      const foreign = this.#foreign.get(index);
      if (foreign) foreign.block.content = delta.content ?? null;
    }
  }

  #takeInput(index: number, text: string, answer: Answer): void {
    const foreign = this.#foreign.get(index);
    if (foreign) foreign.input += text;
    else {
      if (text !== "") this.#given.delete(index);
      answer.toolArguments(index, text);
    }
  }

  #endBlock(index: number, answer: Answer): void {
    const foreign = this.#foreign.get(index);
    if (foreign) {
      this.#foreign.delete(index);
      // What the output limit has cut stays as it began.
      if (foreign.input !== "") foreign.block.input = parseJson(foreign.input) ?? foreign.block.input ?? {};
      return;
    }
    const given = this.#given.get(index);
    if (given !== undefined) answer.toolArguments(index, given);
    this.#given.delete(index);
    if (answer.opened(index)) answer.end(index);
  }

  #takeEnd({ delta, usage }: RawMessageDeltaEvent, answer: Answer): void {
    if (usage) answer.usage(toCounts(usage));
    if (delta?.stop_reason) this.#stop = { reason: delta.stop_reason, details: delta.stop_details };
  }
}

function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function isFilled(input: unknown): boolean {
  return typeof input === "object" && input !== null && Object.keys(input).length > 0;
}
