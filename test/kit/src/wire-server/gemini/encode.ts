import type { WireRequest } from "../format.ts";
import { asText } from "../json-values.ts";
import { createId, createSignature } from "../new-id.ts";
import type { PreparedTurn, ScriptedStop } from "../turn.ts";
import type { GeminiBody, GeminiPart } from "./body.ts";
import { describeCalls, describeSigned } from "./history-rules.ts";

const FINISH_REASONS: Record<ScriptedStop, string> = {
  stop: "STOP",
  length: "MAX_TOKENS",
  refusal: "SAFETY",
  toolUse: "STOP",
};

/**
 * Writes a turn as the chunks of a generateContent stream. The first call carries a signature; an answer that thought
 * and does not call carries it on an empty last text. All calls come in one chunk, as the API sends them.
 */
export function encodeTurn(turn: PreparedTurn, request: WireRequest<GeminiBody>): string[] {
  const responseId = createId("", 22);
  const chunk = (parts: GeminiPart[], isLast: boolean, more: object = {}) =>
    frame({
      candidates: [{ content: { parts, role: "model" }, ...more, index: 0 }],
      usageMetadata: writeUsage(turn, isLast),
      modelVersion: request.model,
      responseId,
    });
  const malformed = turn.calls.find((call) => call.arguments === undefined);
  const calls = malformed ? [] : signCalls(turn, request);
  const said = [
    ...turn.pieces(turn.thinking).map((text) => ({ text, thought: true })),
    ...turn.pieces(turn.text).map((text) => ({ text })),
  ];
  return [
    ...said.map((part) => chunk([part], false)),
    ...(calls.length > 0 ? [chunk(calls, false)] : []),
    malformed
      ? chunk([], true, {
          finishReason: "MALFORMED_FUNCTION_CALL",
          finishMessage: `Malformed function call: ${malformed.name}(${malformed.argumentsText})`,
        })
      : chunk([lastPart(turn, request)], true, { finishReason: FINISH_REASONS[turn.stop] }),
  ];
}

/** The failure that this API sends inside a stream. */
export function encodeError(): string[] {
  return [
    frame({ error: { code: 503, message: "The model is overloaded. Please try again later.", status: "UNAVAILABLE" } }),
  ];
}

function signCalls(turn: PreparedTurn, { model, server }: WireRequest<GeminiBody>): GeminiPart[] {
  const parts: GeminiPart[] = turn.calls.map(({ id, name, arguments: args }) => ({
    functionCall: { ...(id !== undefined && { id }), name, args },
  }));
  const head = parts[0];
  if (!head) return parts;
  head.thoughtSignature = createSignature("");
  server.memory.signatures.set(asText(head.thoughtSignature), describeSigned(head, model));
  server.memory.companions.set(describeCalls(parts, model), asText(head.thoughtSignature));
  return parts;
}

function lastPart(turn: PreparedTurn, { model, server }: WireRequest<GeminiBody>): GeminiPart {
  if (turn.thinking === "" || turn.calls.length > 0) return { text: "" };
  const signature = createSignature("");
  server.memory.signatures.set(signature, describeSigned({ text: "" }, model));
  return { text: "", thoughtSignature: signature };
}

/** Before the last chunk only the prompt is counted. Cached tokens are part of the prompt's, thoughts are not of the answer's. */
function writeUsage({ usage }: PreparedTurn, isLast: boolean): object {
  const prompt = usage.input + usage.cacheRead;
  const said = Math.max(0, usage.output - usage.reasoning);
  return {
    promptTokenCount: prompt,
    ...(isLast && { candidatesTokenCount: said }),
    totalTokenCount: prompt + (isLast ? usage.output : 0),
    ...(usage.cacheRead > 0 && { cachedContentTokenCount: usage.cacheRead }),
    promptTokensDetails: [{ modality: "TEXT", tokenCount: prompt }],
    ...(isLast && usage.reasoning > 0 && { thoughtsTokenCount: usage.reasoning }),
    serviceTier: "standard",
  };
}

function frame(data: object): string {
  return `data: ${JSON.stringify(data)}\r\n\r\n`;
}
