import type { WireRequest } from "../format.ts";
import { createId, createSignature } from "../new-id.ts";
import type { PreparedCall, PreparedTurn } from "../turn.ts";
import type { ResponsesBody } from "./body.ts";

/** An event of the stream: its type and the rest. */
interface WireEvent {
  type: string;
  [key: string]: unknown;
}

/** An item of the output with the events between its beginning and its end. */
interface OutputItem {
  begun: object;
  events: WireEvent[];
  ended: { id: string; [key: string]: unknown };
}

/** Writes a turn as the events of a Responses stream. */
export function encodeTurn(turn: PreparedTurn, request: WireRequest<ResponsesBody>): string[] {
  const response = { ...describeResponse(request), model: request.model };
  const items = listItems(turn, request);
  const status = turn.stop === "length" ? "incomplete" : "completed";
  const events: WireEvent[] = [
    { type: "response.created", response: { ...response, status: "in_progress", output: [], usage: null } },
    { type: "response.in_progress", response: { ...response, status: "in_progress", output: [], usage: null } },
    ...items.flatMap(({ begun, events: inner, ended }, index) => [
      { type: "response.output_item.added", output_index: index, item: begun },
      ...inner.map((event) => ({ ...event, item_id: ended.id, output_index: index })),
      { type: "response.output_item.done", output_index: index, item: ended },
    ]),
    {
      type: `response.${status}`,
      response: {
        ...response,
        status,
        incomplete_details: status === "incomplete" ? { reason: "max_output_tokens" } : null,
        output: items.map((item) => item.ended),
        usage: writeUsage(turn),
      },
    },
  ];
  return events.map(frame);
}

/** The failure that this API sends inside a stream. */
export function encodeError(): string[] {
  const message = "The server had an error while processing your request. Sorry about that!";
  const response = { id: createId("resp_", 48), object: "response", status: "failed", output: [], usage: null };
  return [
    frame({ type: "error", error: { type: "server_error", code: "server_error", message, param: null } }, 900),
    frame({ type: "response.failed", response: { ...response, error: { code: "server_error", message } } }, 901),
  ];
}

function listItems(turn: PreparedTurn, { body, server }: WireRequest<ResponsesBody>): OutputItem[] {
  const rest = [...(turn.text === "" ? [] : [messageItem(turn)]), ...turn.calls.map((call) => callItem(turn, call))];
  if (turn.thinking === "") return rest;
  const wantsEncrypted = Array.isArray(body.include) && body.include.includes("reasoning.encrypted_content");
  const encrypted = wantsEncrypted ? createSignature("gAAAAAB") : undefined;
  const reasoning = reasoningItem(turn, encrypted);
  if (encrypted !== undefined) server.memory.signatures.set(encrypted, reasoning.ended.id);
  const next = rest[0]?.ended.id;
  if (next !== undefined) server.memory.companions.set(next, reasoning.ended.id);
  return [reasoning, ...rest];
}

function reasoningItem(turn: PreparedTurn, encrypted: string | undefined): OutputItem {
  const id = createId("rs_", 48);
  const base = { id, type: "reasoning", ...(encrypted !== undefined && { encrypted_content: encrypted }) };
  const part = { type: "summary_text", text: turn.thinking };
  return {
    begun: { ...base, summary: [] },
    events: [
      { type: "response.reasoning_summary_part.added", summary_index: 0, part: { ...part, text: "" } },
      ...turn.pieces(turn.thinking).map((delta) => ({
        type: "response.reasoning_summary_text.delta",
        summary_index: 0,
        delta,
        obfuscation: createId("", 9),
      })),
      { type: "response.reasoning_summary_text.done", summary_index: 0, text: turn.thinking },
      { type: "response.reasoning_summary_part.done", summary_index: 0, part },
    ],
    ended: { ...base, summary: [part] },
  };
}

function messageItem(turn: PreparedTurn): OutputItem {
  const base = { id: createId("msg_", 48), type: "message", role: "assistant" };
  const part =
    turn.stop === "refusal"
      ? { type: "refusal", refusal: turn.text }
      : { type: "output_text", annotations: [], logprobs: [], text: turn.text };
  const kind = turn.stop === "refusal" ? "refusal" : "output_text";
  const empty = turn.stop === "refusal" ? { ...part, refusal: "" } : { ...part, text: "" };
  return {
    begun: { ...base, status: "in_progress", content: [] },
    events: [
      { type: "response.content_part.added", content_index: 0, part: empty },
      ...turn.pieces(turn.text).map((delta) => ({
        type: `response.${kind}.delta`,
        content_index: 0,
        delta,
        ...(kind === "output_text" && { logprobs: [] }),
        obfuscation: createId("", 9),
      })),
      { type: `response.${kind}.done`, content_index: 0, [kind === "refusal" ? "refusal" : "text"]: turn.text },
      { type: "response.content_part.done", content_index: 0, part },
    ],
    ended: { ...base, status: "completed", content: [part] },
  };
}

function callItem(turn: PreparedTurn, { id, name, argumentsText, isCut }: PreparedCall): OutputItem {
  const base = { id: createId("fc_", 48), type: "function_call", call_id: id ?? createId("call_", 24), name };
  return {
    begun: { ...base, status: "in_progress", arguments: "" },
    events: [
      ...turn.pieces(argumentsText).map((delta) => ({
        type: "response.function_call_arguments.delta",
        delta,
        obfuscation: createId("", 9),
      })),
      { type: "response.function_call_arguments.done", arguments: argumentsText },
    ],
    ended: { ...base, status: isCut ? "incomplete" : "completed", arguments: argumentsText },
  };
}

function describeResponse({ body }: WireRequest<ResponsesBody>): object {
  return {
    id: createId("resp_", 48),
    object: "response",
    created_at: Math.floor(Date.now() / 1000),
    background: false,
    error: null,
    incomplete_details: null,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: body.reasoning ?? { effort: null, summary: null },
    service_tier: "default",
    store: body.store ?? true,
    tool_choice: "auto",
    tools: body.tools ?? [],
    truncation: "disabled",
    metadata: {},
  };
}

function writeUsage({ usage }: PreparedTurn): object {
  const input = usage.input + usage.cacheRead + usage.cacheWrite;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.cacheRead },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: input + usage.output,
  };
}

function frame(event: WireEvent, sequence: number): string {
  return `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: sequence })}\n\n`;
}
