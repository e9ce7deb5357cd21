/**
 * Wire chunks ──► the answer. Each chunk is a whole response with the parts that are new; texts of a kind that follow
 * each other are one block.
 *
 *   { candidates: [{ content: { parts }, finishReason? }], usageMetadata } …
 */
import type { Candidate, FunctionCall, GenerateContentResponse, Part } from "@google/genai";
import type { Json, JsonObject, ToolSchema } from "@pi-agent/kernel";
import { type Answer, createToolNames, type ServerSentEvent } from "@pi-agent/wire";
import { blockAnswer, finishAnswer } from "./finish.ts";
import { setPiece } from "./partial-arguments.ts";
import { TOOL_NAME } from "./tools.ts";
import { toCounts } from "./usage.ts";

type Chunk = GenerateContentResponse & { error?: unknown };

/** There is one text and one call at a time. */
const TEXT = "text";
const CALL = "call";

/** Reads one answer. */
export class AnswerReader {
  readonly #names: ReturnType<typeof createToolNames>;
  /** Arguments that come in pieces, of the call that is open. */
  #pieces: JsonObject | undefined;
  #end: Candidate | undefined;
  #feedback: GenerateContentResponse["promptFeedback"];

  constructor(tools: readonly ToolSchema[]) {
    this.#names = createToolNames(tools, TOOL_NAME);
  }

  /** Takes one event. */
  read({ data }: ServerSentEvent, answer: Answer): void {
    if (data === "" || data === "[DONE]") return;
    const chunk = JSON.parse(data) as Chunk;
    if (chunk.error) throw Object.assign(new Error("the stream ended with an error"), { body: chunk });
    if (chunk.responseId) answer.message.responseId = chunk.responseId;
    if (chunk.modelVersion && chunk.modelVersion !== answer.message.model)
      answer.message.responseModel = chunk.modelVersion;
    if (chunk.usageMetadata) answer.usage(toCounts(chunk.usageMetadata));
    if (chunk.promptFeedback?.blockReason) this.#feedback = chunk.promptFeedback;
    const candidate = chunk.candidates?.[0];
    for (const part of candidate?.content?.parts ?? []) this.#takePart(part, answer);
    if (candidate?.finishReason) this.#end = candidate;
  }

  /** Takes the end of the stream. Without a reason to finish before it the answer was cut, and stays open. */
  end(answer: Answer): void {
    // After any other reason arguments that are still coming were cut.
    if (String(this.#end?.finishReason) === "STOP") this.#endPieces(answer);
    if (this.#end) finishAnswer(answer, this.#end);
    else if (this.#feedback) blockAnswer(answer, this.#feedback);
  }

  #takePart(part: Part, answer: Answer): void {
    if (part.functionCall) this.#takeCall(part.functionCall, part.thoughtSignature, answer);
    else if (typeof part.text === "string") takeText(part, part.text, answer);
    else if (Object.keys(part).length > 0) {
      endText(answer);
      answer.providerBlock(part as unknown as Json);
    }
  }

  /** Arguments come whole, or, where `willContinue` says so, in pieces that end with an empty call. */
  #takeCall(call: FunctionCall, signature: string | undefined, answer: Answer): void {
    if (call.name) {
      this.#endPieces(answer);
      endText(answer);
      answer.toolCall(CALL, { id: call.id, name: this.#names.fromWire(call.name) });
      if (signature) answer.sign(CALL, signature);
      this.#pieces = { ...(call.args as JsonObject | undefined) };
    }
    if (this.#pieces === undefined) return;
    for (const piece of call.partialArgs ?? []) setPiece(this.#pieces, piece);
    if (!call.willContinue) this.#endPieces(answer);
  }

  #endPieces(answer: Answer): void {
    if (this.#pieces === undefined) return;
    answer.toolArguments(CALL, JSON.stringify(this.#pieces));
    answer.end(CALL);
    this.#pieces = undefined;
  }
}

/** A text that carries a signature of its own is not mixed with one that has another. */
function takeText({ thought, thoughtSignature }: Part, text: string, answer: Answer): void {
  const kind = thought ? "thinking" : "text";
  const open = answer.opened(TEXT);
  const known = open?.type === "text" ? open.textSignature : open?.type === "thinking" ? open.thinkingSignature : "";
  if (open && (open.type !== kind || (known && thoughtSignature))) answer.end(TEXT);
  if (thoughtSignature === undefined && text === "") return;
  answer[kind](TEXT, text);
  if (thoughtSignature) answer.sign(TEXT, thoughtSignature);
}

function endText(answer: Answer): void {
  if (answer.opened(TEXT)) answer.end(TEXT);
}
