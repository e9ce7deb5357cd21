import type { WireRequest } from "../format.ts";
import { createId } from "../new-id.ts";
import type { PreparedTurn, ScriptedStop } from "../turn.ts";
import type { ChatBody } from "./body.ts";

const FINISH_REASONS: Record<ScriptedStop, string> = {
  stop: "stop",
  length: "length",
  refusal: "content_filter",
  toolUse: "tool_calls",
};

/** Writes a turn as the chunks of a Chat Completions stream; the usage comes alone, after the end. */
export function encodeTurn(turn: PreparedTurn, { model, body }: WireRequest<ChatBody>): string[] {
  const base = {
    id: createId("chatcmpl-", 29),
    object: "chat.completion.chunk",
    created: Math.floor(Date.now() / 1000),
    model,
    service_tier: "default",
    system_fingerprint: "fp_ff25b2783a",
  };
  const wantsUsage = body.stream_options?.include_usage === true;
  const chunk = (choices: object[], usage: object | null) =>
    frame({ ...base, choices, ...(wantsUsage && { usage }), obfuscation: createId("", 7) });
  const choice = (delta: object, finish: string | null = null) =>
    chunk([{ index: 0, delta, logprobs: null, finish_reason: finish }], null);

  const deltas = [
    { role: "assistant", content: turn.calls.length > 0 ? null : "", refusal: null },
    ...listDeltas(turn),
  ];
  return [
    ...deltas.map((delta) => choice(delta)),
    choice({}, FINISH_REASONS[turn.stop]),
    ...(wantsUsage ? [chunk([], writeUsage(turn))] : []),
    "data: [DONE]\n\n",
  ];
}

/** The failure that this API sends inside a stream. */
export function encodeError(): string[] {
  const message = "The server had an error processing your request. Sorry about that!";
  return [frame({ error: { message, type: "server_error", param: null, code: null } })];
}

/** Thinking comes in `reasoning_content`, as compatible servers send it; OpenAI itself sends none. */
function listDeltas(turn: PreparedTurn): object[] {
  return [
    ...turn.pieces(turn.thinking).map((piece) => ({ reasoning_content: piece })),
    ...turn.pieces(turn.text).map((content) => ({ content })),
    ...turn.calls.flatMap(({ id = createId("call_", 24), name, argumentsText }, index) => [
      { tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] },
      ...turn.pieces(argumentsText).map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]),
  ];
}

function writeUsage({ usage }: PreparedTurn): object {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite;
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.output,
    total_tokens: prompt + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

function frame(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
