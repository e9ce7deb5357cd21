/** A streamed answer in the chat format, of OpenAI and of the many servers that speak something like it. */
import type { FailureKind, Json, JsonObject, Usage } from "@pi-agent/kernel";
import { type Answer, failureError, type ServerSentEvent } from "@pi-agent/wire";
import { createCallReader, type WireCall } from "./chat-calls.ts";
import { REASONING_FIELDS } from "./chat-messages.ts";

interface Part {
  type?: string;
  text?: string;
  thinking?: string | Part[];
}

interface Delta {
  content?: string | Part[] | null;
  refusal?: string | null;
  reasoning_content?: string | null;
  reasoning?: string | null;
  reasoning_text?: string | null;
  reasoning_details?: JsonObject[] | null;
  tool_calls?: WireCall[] | null;
  /** The format before there were `tool_calls`. */
  function_call?: WireCall["function"];
}

interface WireUsage {
  prompt_tokens?: number;
  completion_tokens?: number;
  total_tokens?: number;
  cost?: number;
  prompt_cache_hit_tokens?: number;
  prompt_tokens_details?: { cached_tokens?: number; cache_write_tokens?: number } | null;
  completion_tokens_details?: { reasoning_tokens?: number } | null;
}

interface Chunk {
  object?: string;
  id?: string;
  model?: string;
  choices?: ({ index?: number; delta?: Delta | null; finish_reason?: string | null; usage?: WireUsage } | null)[];
  usage?: WireUsage | null;
  error?: Json;
}

/** Everything else is `stop`; whether it was for calls, the calls tell. */
const LENGTH_REASONS = new Set(["length", "max_tokens", "model_length", "model_context_window_exceeded"]);
const FAILED_REASONS = new Map<string, FailureKind>([
  ["content_filter", "content_filter"],
  ["sensitive", "content_filter"],
  ["error", "server"],
  ["network_error", "server"],
  ["insufficient_system_resource", "overloaded"],
]);

/** Makes the two steps that read one answer. `toolName` maps a name on the wire back to the tool's. */
export function createChatReader(toolName: (name: string) => string) {
  const calls = createCallReader(toolName);
  const details: JsonObject[] = [];
  let finishReason: string | undefined;
  let hasRefused = false;
  /** The text or thinking block that is open. */
  let current: "text" | "thinking" | undefined;

  function turnTo(next: typeof current, answer: Answer) {
    if (current !== undefined && current !== next) answer.end(current);
    current = next;
  }
  function addText(delta: string, answer: Answer) {
    if (current !== "text") turnTo("text", answer);
    answer.text("text", delta);
  }
  function addThinking(delta: string, field: string, answer: Answer) {
    const isNew = current !== "thinking";
    if (isNew) turnTo("thinking", answer);
    answer.thinking("thinking", delta);
    if (isNew) answer.sign("thinking", field);
  }

  function readDelta(delta: Delta, answer: Answer) {
    readReasoning(delta, answer);
    const { content } = delta;
    if (typeof content === "string") {
      if (content !== "") addText(content, answer);
    } else if (Array.isArray(content)) for (const part of content) readPart(part, answer);
    if (delta.refusal) {
      hasRefused = true;
      addText(delta.refusal, answer);
    }
    if (delta.tool_calls?.length || delta.function_call) {
      turnTo(undefined, answer);
      for (const call of delta.tool_calls ?? [{ index: 0, function: delta.function_call }]) calls.read(call, answer);
    }
  }

  function readReasoning(delta: Delta, answer: Answer) {
    let text: string | null | undefined;
    for (const field of REASONING_FIELDS) {
      text = delta[field];
      if (typeof text !== "string" || text === "") continue;
      addThinking(text, field, answer);
      break;
    }
    if (!delta.reasoning_details) return;
    for (const detail of delta.reasoning_details) {
      mergeDetail(details, detail);
      const words = detail.text ?? detail.summary;
      if (!text && typeof words === "string" && words !== "") addThinking(words, "reasoning", answer);
    }
  }

  function readPart(part: Part, answer: Answer) {
    if (typeof part.thinking === "string") addThinking(part.thinking, "reasoning_content", answer);
    else if (part.thinking)
      for (const { text } of part.thinking) if (text) addThinking(text, "reasoning_content", answer);
    if (part.text) addText(part.text, answer);
  }

  function finish(answer: Answer) {
    calls.finish(answer);
    if (details.length > 0) answer.providerBlock({ type: "reasoning_details", reasoning_details: details });
    const failed = finishReason === undefined ? undefined : FAILED_REASONS.get(finishReason);
    if (failed) throw failureError({ kind: failed }, `the answer was stopped with the reason "${finishReason}"`);
    if (finishReason === undefined && answer.message.content.length === 0)
      throw failureError({ kind: "malformed_response" }, "the answer is empty");
    answer.done(
      finishReason !== undefined && LENGTH_REASONS.has(finishReason) ? "length" : "stop",
      hasRefused ? "refusal" : finishReason,
    );
  }

  return {
    read({ data }: ServerSentEvent, answer: Answer) {
      const text = data.trimStart();
      // `[DONE]`, or what a cut has left of it.
      if (text.startsWith("[")) return finish(answer);
      if (text === "") return;
      const chunk: Chunk | null = JSON.parse(text);
      if (typeof chunk !== "object" || chunk === null) return;
      const { message } = answer;
      if (chunk.id && message.responseId === undefined) message.responseId = chunk.id;
      if (chunk.model && chunk.model !== message.model) message.responseModel = chunk.model;
      const choice = chunk.choices?.[0];
      const usage = chunk.usage ?? choice?.usage;
      if (usage) answer.usage(readUsage(usage));
      if (chunk.error || chunk.object === "error") throw chunkError(chunk.error ?? null, data);
      // A second choice is an answer that nobody asked for.
      if (!choice || choice.index) return;
      if (choice.delta) readDelta(choice.delta, answer);
      if (choice.finish_reason) finishReason = choice.finish_reason;
    },
    /** Some servers never send `[DONE]`. */
    end(answer: Answer) {
      if (finishReason !== undefined) finish(answer);
    },
  };
}

function chunkError(error: Json, body: string): Error {
  const { code, status_code: other }: JsonObject =
    typeof error === "object" && !Array.isArray(error) ? { ...error } : {};
  const status = [code, other].find((one) => typeof one === "number" && one >= 400 && one < 600);
  return Object.assign(new Error("the answer broke off with an error"), { body, status });
}

/** Deltas of one detail are joined; the last signature stands. */
function mergeDetail(details: JsonObject[], detail: JsonObject): void {
  const last = details.at(-1);
  if (!last || last.type !== detail.type || last.index !== detail.index || detail.type === "reasoning.encrypted") {
    details.push({ ...detail });
    return;
  }
  for (const [name, value] of Object.entries(detail)) {
    const old = last[name];
    if ((name === "text" || name === "summary") && typeof old === "string" && typeof value === "string")
      last[name] = old + value;
    else if (value !== null) last[name] = value;
  }
}

/** `prompt_tokens` counts what was read from the cache too. Some servers leave reasoning out of `completion_tokens`. */
function readUsage(wire: WireUsage): Partial<Omit<Usage, "totalTokens">> {
  const prompt = wire.prompt_tokens ?? 0;
  const completion = wire.completion_tokens ?? 0;
  const reasoning = wire.completion_tokens_details?.reasoning_tokens ?? 0;
  const cacheRead = wire.prompt_tokens_details?.cached_tokens ?? wire.prompt_cache_hit_tokens ?? 0;
  const cacheWrite = wire.prompt_tokens_details?.cache_write_tokens ?? 0;
  const isApart = reasoning > 0 && wire.total_tokens === prompt + completion + reasoning;
  const usage: Partial<Omit<Usage, "totalTokens">> = {
    input: Math.max(0, prompt - cacheRead - cacheWrite),
    output: isApart ? completion + reasoning : completion,
    cacheRead,
    cacheWrite,
  };
  if (reasoning > 0) usage.reasoning = reasoning;
  if (typeof wire.cost === "number")
    usage.cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: wire.cost, totalFromProvider: true };
  return usage;
}
