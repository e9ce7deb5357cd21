import type { Candidate, GenerateContentResponse } from "@google/genai";
import type { FailureKind } from "@pi-agent/kernel";
import type { Answer } from "@pi-agent/wire";

/** Reasons for which the service ends an answer that is no good. Any that is not known counts as `unknown`. */
const KINDS: Readonly<Record<string, FailureKind>> = {
  SAFETY: "content_filter",
  RECITATION: "content_filter",
  BLOCKLIST: "content_filter",
  PROHIBITED_CONTENT: "content_filter",
  SPII: "content_filter",
  MODEL_ARMOR: "content_filter",
  ESCALATION: "content_filter",
  IMAGE_SAFETY: "content_filter",
  IMAGE_PROHIBITED_CONTENT: "content_filter",
  IMAGE_RECITATION: "content_filter",
  MALFORMED_FUNCTION_CALL: "malformed_response",
  MALFORMED_RESPONSE: "malformed_response",
  UNEXPECTED_TOOL_CALL: "malformed_response",
  TOO_MANY_TOOL_CALLS: "malformed_response",
  MISSING_THOUGHT_SIGNATURE: "invalid_request",
  LANGUAGE: "invalid_request",
};

/** Ends an answer for the reason that the service gave. What had come before is kept. */
export function finishAnswer(answer: Answer, { finishReason, finishMessage }: Candidate): void {
  const raw = String(finishReason);
  // CONTINUATION is for whoever has asked for it, to go on by a token.
  if (raw === "MAX_TOKENS" || raw === "CONTINUATION") return answer.done("length", raw);
  if (raw === "STOP") {
    if (hasAnswer(answer)) return answer.done("stop", raw);
    return failAnswer(answer, { kind: "malformed_response", raw, why: "the model ended without an answer" });
  }
  failAnswer(answer, { kind: KINDS[raw] ?? "unknown", raw, why: finishMessage ?? "the model stopped" });
}

/** Ends an answer that the service has refused to begin. */
export function blockAnswer(answer: Answer, feedback: GenerateContentResponse["promptFeedback"]): void {
  const why = feedback?.blockReasonMessage ?? "the prompt was blocked";
  failAnswer(answer, { kind: "content_filter", raw: String(feedback?.blockReason), why });
}

function failAnswer(answer: Answer, { kind, raw, why }: { kind: FailureKind; raw: string; why: string }): void {
  answer.message.rawStopReason = raw;
  answer.fail({ kind }, `${answer.message.provider}: ${why.replace(/[.\s]+$/, "")} (${raw}).`);
}

function hasAnswer({ message }: Answer): boolean {
  if (message.providerBlocks?.length) return true;
  return message.content.some((block) =>
    block.type === "text" ? block.text.trim() !== "" : block.type === "toolCall",
  );
}
