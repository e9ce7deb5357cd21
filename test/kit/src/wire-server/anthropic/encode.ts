import type { WireRequest } from "../format.ts";
import { createId, createSignature } from "../new-id.ts";
import type { PreparedCall, PreparedTurn, ScriptedStop } from "../turn.ts";
import type { AnthropicBody } from "./body.ts";

const STOP_REASONS: Record<ScriptedStop, string> = {
  stop: "end_turn",
  length: "max_tokens",
  refusal: "refusal",
  toolUse: "tool_use",
};

/** Writes a turn as the events of a Messages stream, with a ping after the first block has begun. */
export function encodeTurn(turn: PreparedTurn, { model, server }: WireRequest<AnthropicBody>): string[] {
  const blocks: Block[] = [];
  const signature = createSignature("EqQB");
  if (turn.thinking !== "") {
    server.memory.signatures.set(signature, turn.thinking);
    blocks.push(thinkingBlock(turn, signature));
  }
  if (turn.text !== "") blocks.push(textBlock(turn));
  for (const call of turn.calls) {
    const id = call.id ?? createId("toolu_01", 22);
    if (turn.thinking !== "") server.memory.companions.set(id, signature);
    blocks.push(callBlock(turn, call, id));
  }
  const inside = blocks.flatMap((block, index) => frameBlock(block, index));
  inside.splice(1, 0, 'event: ping\ndata: {"type": "ping"}\n\n');
  return [frame(startEvent(turn, model), 1), ...inside, frame(endEvent(turn), 3), frame({ type: "message_stop" }, 5)];
}

/** The failure that this API sends inside a stream. */
export function encodeError(): string[] {
  const error = { details: null, type: "overloaded_error", message: "Overloaded" };
  return [frame({ type: "error", error, request_id: createId("req_011C", 20) }, 0)];
}

/** An event of the stream: its type and the rest. */
interface WireEvent {
  type: string;
  [key: string]: unknown;
}

interface Block {
  start: object;
  deltas: object[];
}

function thinkingBlock(turn: PreparedTurn, signature: string): Block {
  const deltas = turn.pieces(turn.thinking).map((thinking) => ({ type: "thinking_delta", thinking }));
  return {
    start: { type: "thinking", thinking: "", signature: "" },
    deltas: [...deltas, { type: "signature_delta", signature }],
  };
}

function textBlock(turn: PreparedTurn): Block {
  const deltas = turn.pieces(turn.text).map((text) => ({ type: "text_delta", text }));
  return { start: { type: "text", text: "" }, deltas };
}

/** A call without arguments comes with one empty delta, as the API sends it. */
function callBlock(turn: PreparedTurn, call: PreparedCall, id: string): Block {
  const pieces = call.argumentsText === "{}" ? [""] : ["", ...turn.pieces(call.argumentsText)];
  return {
    start: { type: "tool_use", id, name: call.name, input: {}, caller: { type: "direct" } },
    deltas: pieces.map((json) => ({ type: "input_json_delta", partial_json: json })),
  };
}

function frameBlock({ start, deltas }: Block, index: number): string[] {
  return [
    frame({ type: "content_block_start", index, content_block: start }, index),
    ...deltas.map((delta, place) => frame({ type: "content_block_delta", index, delta }, place)),
    frame({ type: "content_block_stop", index }, index + 1),
  ];
}

function startEvent({ usage }: PreparedTurn, model: string) {
  return {
    type: "message_start",
    message: {
      model,
      id: createId("msg_01", 22),
      type: "message",
      role: "assistant",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      usage: {
        input_tokens: usage.input,
        cache_creation_input_tokens: usage.cacheWrite,
        cache_read_input_tokens: usage.cacheRead,
        cache_creation: { ephemeral_5m_input_tokens: usage.cacheWrite, ephemeral_1h_input_tokens: 0 },
        output_tokens: 1,
        service_tier: "standard",
      },
    },
  };
}

function endEvent({ stop, usage }: PreparedTurn) {
  return {
    type: "message_delta",
    delta: { stop_reason: STOP_REASONS[stop], stop_sequence: null, stop_details: null },
    usage: {
      input_tokens: usage.input,
      cache_creation_input_tokens: usage.cacheWrite,
      cache_read_input_tokens: usage.cacheRead,
      output_tokens: usage.output,
      ...(usage.reasoning > 0 && { output_tokens_details: { thinking_tokens: usage.reasoning } }),
    },
  };
}

/** Blanks before the last brace come in real streams, in changing numbers. */
function frame(event: WireEvent, seed: number): string {
  const json = JSON.stringify(event);
  return `event: ${event.type}\ndata: ${json.slice(0, -1)}${" ".repeat((seed * 5) % 16)}}\n\n`;
}
