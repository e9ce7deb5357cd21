import { setTimeout as delay } from "node:timers/promises";
import type { AssistantMessage, Failure, FailureKind, ProviderRequest, StreamEvent, ToolCall } from "@pi-agent/kernel";
import { type PreparedCall, type PreparedTurn, prepareTurn, type ScriptedStop, type Turn } from "./wire-server/turn.ts";

/** Streams a turn as kernel events, one array per event, each filling the live message when it is asked for. */
export async function* streamTurn(
  turn: Turn,
  request: ProviderRequest,
  inputCharacters: number,
): AsyncGenerator<readonly StreamEvent[]> {
  const prepared = prepareTurn(turn, inputCharacters);
  const message = createMessage(request, prepared);
  if (turn.delayMs !== undefined) {
    await delay(turn.delayMs, undefined, { signal: request.signal }).catch(() => undefined);
  }
  if (request.signal.aborted) return yield [abort(message)];
  if (typeof turn.fail === "object") return yield [fail(message, turn.fail.status, turn.fail.body)];

  const events = listEvents(prepared, message);
  const end = turn.hangAfter ?? (turn.fail === undefined ? events.length : Math.ceil(events.length / 2));
  for (const event of events.slice(0, end)) {
    if (request.signal.aborted) return yield [abort(message)];
    yield [event()];
  }
  if (turn.hangAfter !== undefined) {
    await untilAborted(request.signal);
    yield [abort(message)];
  } else if (turn.fail !== undefined) {
    yield [fail(message, turn.fail === "error-event" ? 529 : undefined)];
  } else yield [finish(message, prepared.stop)];
}

/** The events of a turn before its last, each of which fills the live message when it is made. */
function listEvents(turn: PreparedTurn, message: AssistantMessage): (() => StreamEvent)[] {
  return [
    () => ({ type: "start", partial: message }),
    ...listThinking(turn, message),
    ...listText(turn, message),
    ...turn.calls.flatMap((call) => listCall(call, turn, message)),
  ];
}

function listThinking({ thinking, pieces }: PreparedTurn, message: AssistantMessage): (() => StreamEvent)[] {
  if (thinking === "") return [];
  const block = { type: "thinking" as const, thinking: "", thinkingSignature: "scripted-signature" };
  return [
    () => ({ type: "thinking_start", contentIndex: message.content.push(block) - 1 }),
    ...pieces(thinking).map((delta) => (): StreamEvent => {
      block.thinking += delta;
      return { type: "thinking_delta", contentIndex: message.content.indexOf(block), delta };
    }),
    () => ({ type: "thinking_end", contentIndex: message.content.indexOf(block), content: thinking }),
  ];
}

function listText({ text, pieces }: PreparedTurn, message: AssistantMessage): (() => StreamEvent)[] {
  if (text === "") return [];
  const block = { type: "text" as const, text: "" };
  return [
    () => ({ type: "text_start", contentIndex: message.content.push(block) - 1 }),
    ...pieces(text).map((delta) => (): StreamEvent => {
      block.text += delta;
      return { type: "text_delta", contentIndex: message.content.indexOf(block), delta };
    }),
    () => ({ type: "text_end", contentIndex: message.content.indexOf(block), content: text }),
  ];
}

let serial = 0;

function listCall(call: PreparedCall, turn: PreparedTurn, message: AssistantMessage): (() => StreamEvent)[] {
  const block: ToolCall = { type: "toolCall", id: call.id ?? `call_${++serial}`, name: call.name, arguments: {} };
  const contentIndex = () => message.content.indexOf(block);
  return [
    () => {
      const at = message.content.push(block) - 1;
      return { type: "toolcall_start", contentIndex: at, id: block.id, toolName: block.name };
    },
    ...turn
      .pieces(call.argumentsText)
      .map((delta) => (): StreamEvent => ({ type: "toolcall_delta", contentIndex: contentIndex(), delta })),
    () => {
      if (call.arguments && !call.isCut) block.arguments = call.arguments;
      else block.argumentsError = `The arguments are not a JSON object: ${call.argumentsText}`;
      return { type: "toolcall_end", contentIndex: contentIndex(), toolCall: block };
    },
  ];
}

function createMessage(request: ProviderRequest, { usage }: PreparedTurn): AssistantMessage {
  const { input, output, cacheRead, cacheWrite, reasoning } = usage;
  return {
    role: "assistant",
    content: [],
    api: "scripted",
    provider: "scripted",
    model: request.model.id,
    usage: {
      input,
      output,
      cacheRead,
      cacheWrite,
      reasoning,
      totalTokens: input + output + cacheRead + cacheWrite,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    },
    stopReason: "pending",
    timestamp: Date.now(),
  };
}

function finish(message: AssistantMessage, stop: ScriptedStop): StreamEvent {
  message.rawStopReason = stop;
  if (stop === "refusal") {
    const error = { failure: { kind: "content_filter" as const }, errorMessage: "The model refused to answer." };
    return {
      type: "error",
      reason: "error",
      error: Object.assign(message, { stopReason: "error" as const, ...error }),
    };
  }
  message.stopReason = stop;
  return { type: "done", reason: stop, message };
}

function abort(message: AssistantMessage): StreamEvent {
  message.stopReason = "aborted";
  message.errorMessage = "The request was aborted.";
  return { type: "error", reason: "aborted", error: message };
}

const KINDS: Record<number, FailureKind> = {
  400: "invalid_request",
  401: "auth",
  403: "auth",
  408: "timeout",
  429: "rate_limit",
  529: "overloaded",
};

/** Without a status the connection broke. */
function fail(message: AssistantMessage, status: number | undefined, body?: unknown): StreamEvent {
  const failure: Failure =
    status === undefined
      ? { kind: "network" }
      : { kind: KINDS[status] ?? (status >= 500 ? "server" : "unknown"), status };
  const said = typeof body === "string" ? body : `Scripted failure: ${failure.kind}.`;
  return {
    type: "error",
    reason: "error",
    error: Object.assign(message, { stopReason: "error" as const, failure, errorMessage: said }),
  };
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
