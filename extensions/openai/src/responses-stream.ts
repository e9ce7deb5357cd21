/** A streamed answer in the Responses format. Items are told by their place in the output. */
import type { JsonObject, Usage } from "@pi-agent/kernel";
import { type Answer, failureError, type ServerSentEvent } from "@pi-agent/wire";

interface Item extends JsonObject {
  type: string;
}

interface WireUsage {
  input_tokens?: number;
  output_tokens?: number;
  input_tokens_details?: { cached_tokens?: number; cache_write_tokens?: number } | null;
  output_tokens_details?: { reasoning_tokens?: number } | null;
}

interface WireResponse {
  id?: string;
  model?: string;
  usage?: WireUsage | null;
  error?: { code?: string; message?: string } | null;
  incomplete_details?: { reason?: string } | null;
}

interface WireEvent {
  type: string;
  output_index?: number;
  item_id?: string;
  delta?: string;
  summary_index?: number;
  arguments?: string;
  item?: Item;
  response?: WireResponse;
}

/** Makes the step that reads one answer. `toolName` maps a name on the wire back to the tool's. */
export function createResponsesReader(toolName: (name: string) => string) {
  let hasRefused = false;

  const readers = new Map<string, (event: WireEvent, answer: Answer) => void>([
    ["response.created", ({ response }, answer) => readHead(response, answer)],
    ["response.output_text.delta", (event, answer) => answer.text(keyOf(event), event.delta ?? "")],
    ["response.refusal.delta", readRefusal],
    ["response.reasoning_text.delta", (event, answer) => answer.thinking(keyOf(event), event.delta ?? "")],
    ["response.reasoning_summary_text.delta", (event, answer) => answer.thinking(keyOf(event), event.delta ?? "")],
    ["response.reasoning_summary_part.added", beginSummary],
    [
      "response.function_call_arguments.delta",
      (event, answer) => answer.toolArguments(keyOf(event), event.delta ?? ""),
    ],
    ["response.output_item.added", beginItem],
    ["response.output_item.done", endItem],
    ["response.completed", complete],
    ["response.incomplete", cutOff],
    ["response.failed", failResponse],
    ["error", failStream],
  ]);

  function readRefusal(event: WireEvent, answer: Answer) {
    hasRefused = true;
    answer.text(keyOf(event), event.delta ?? "");
  }

  /** Each summary but the first is a new paragraph. */
  function beginSummary(event: WireEvent, answer: Answer) {
    if (event.summary_index) answer.thinking(keyOf(event), "\n\n");
  }

  function complete({ response }: WireEvent, answer: Answer) {
    readHead(response, answer);
    answer.done("stop", hasRefused ? "refusal" : "completed");
  }

  function beginItem(event: WireEvent, answer: Answer) {
    const { item } = event;
    if (item?.type === "message") answer.text(keyOf(event), "");
    else if (item?.type === "reasoning") answer.thinking(keyOf(event), "");
    else if (item?.type === "function_call") {
      answer.toolCall(keyOf(event), { id: textOf(item.call_id), name: toolName(textOf(item.name)) });
      answer.toolArguments(keyOf(event), textOf(item.arguments));
    }
  }

  /** The item as a whole: it tells once more what the deltas told, and what they did not. */
  function endItem(event: WireEvent, answer: Answer) {
    const { item } = event;
    const key = keyOf(event);
    if (item === undefined) return;
    const isOurs = item.type === "message" || item.type === "reasoning" || item.type === "function_call";
    if (!isOurs) return answer.providerBlock(item);
    if (answer.opened(key) === undefined) beginItem(event, answer);
    if (item.type === "message") endMessage(key, item, answer);
    else if (item.type === "reasoning") endReasoning(key, item, answer);
    else if (typeof item.arguments === "string") answer.setArguments(key, item.arguments);
    // What the output limit has cut stays open until the end says so.
    if (item.status !== "incomplete") answer.end(key);
  }

  return {
    read({ data }: ServerSentEvent, answer: Answer) {
      if (data === "" || data === "[DONE]") return;
      const event: WireEvent | null = JSON.parse(data);
      if (event) readers.get(event.type)?.(event, answer);
    },
  };
}

function keyOf(event: WireEvent): string | number {
  return event.output_index ?? event.item_id ?? textOf(event.item?.id);
}

function endMessage(key: string | number, item: Item, answer: Answer) {
  const block = answer.opened(key);
  if (block?.type === "text") answer.text(key, restOf(joinParts(item.content), block.text));
  if (typeof item.phase === "string") answer.sign(key, JSON.stringify({ v: 1, id: item.id, phase: item.phase }));
}

function endReasoning(key: string | number, item: Item, answer: Answer) {
  const block = answer.opened(key);
  const whole = joinParts(item.summary, "\n\n") || joinParts(item.content);
  if (block?.type === "thinking") answer.thinking(key, restOf(whole, block.thinking));
  answer.sign(key, JSON.stringify(item));
}

/** What the deltas have left out at the end. */
function restOf(whole: string, told: string): string {
  return whole.length > told.length && whole.startsWith(told) ? whole.slice(told.length) : "";
}

function joinParts(parts: unknown, separator = ""): string {
  if (!Array.isArray(parts)) return "";
  return parts.map((part: JsonObject) => textOf(part.text ?? part.refusal)).join(separator);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function cutOff({ response }: WireEvent, answer: Answer) {
  readHead(response, answer);
  const reason = response?.incomplete_details?.reason ?? "incomplete";
  if (reason === "content_filter")
    throw failureError({ kind: "content_filter" }, "the answer was stopped by the content filter");
  answer.done("length", reason);
}

function failResponse({ response }: WireEvent, answer: Answer) {
  readHead(response, answer);
  throw withBody({ error: response?.error ?? "the answer failed" });
}

function failStream(event: WireEvent) {
  throw withBody(event);
}

function withBody(body: unknown): Error {
  return Object.assign(new Error("the answer broke off with an error"), { body });
}

function readHead(response: WireResponse | undefined, answer: Answer) {
  const { message } = answer;
  if (response?.id) message.responseId = response.id;
  if (response?.model && response.model !== message.model) message.responseModel = response.model;
  if (response?.usage) answer.usage(readUsage(response.usage));
}

/** `input_tokens` counts what was read from the cache too. */
function readUsage(wire: WireUsage): Partial<Omit<Usage, "totalTokens">> {
  const cacheRead = wire.input_tokens_details?.cached_tokens ?? 0;
  const cacheWrite = wire.input_tokens_details?.cache_write_tokens ?? 0;
  const reasoning = wire.output_tokens_details?.reasoning_tokens ?? 0;
  return {
    input: Math.max(0, (wire.input_tokens ?? 0) - cacheRead - cacheWrite),
    output: wire.output_tokens ?? 0,
    cacheRead,
    cacheWrite,
    ...(reasoning > 0 ? { reasoning } : {}),
  };
}
