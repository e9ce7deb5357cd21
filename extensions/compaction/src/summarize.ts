/**
 * A text of any length in one summary: as much as a request takes at a time, each next part added to what was written.
 *
 *   part 1 ──► summary ──┐
 *   part 2 ──────────────┴──► summary, brought up to date ──┐
 *   part 3 ─────────────────────────────────────────────────┴──► …
 */
import type { AssistantMessage, FailureKind } from "@pi-agent/kernel";
import { type SummaryKind, SYSTEM_PROMPT, summaryPrompt } from "./prompts.ts";
import { cutMiddle } from "./shorten.ts";

/** Makes one request: its system prompt, its one message. */
export type Ask = (request: { systemPrompt: string; text: string }) => Promise<AssistantMessage>;

export interface Telling {
  kind: SummaryKind;
  /** What was said, message by message. */
  parts: readonly string[];
  previous?: string;
  focus?: string;
  /** How long a request may be. */
  maxChars: number;
}

/** However small a window is said to be, a request has room for so much of the conversation. */
const LEAST_CHARS = 1_000;
/** A request that is found too long all the same is made again with half of it, so many times. */
const MAX_HALVINGS = 4;
/** So much of a request an earlier summary may take. */
const PREVIOUS_SHARE = 0.4;

/** Writes a summary. Fails where an answer cannot be used. */
export async function summarise(ask: Ask, telling: Telling): Promise<string> {
  const { kind, focus } = telling;
  let { maxChars, previous } = telling;
  let halvings = 0;
  let rest = telling.parts;
  for (;;) {
    if (previous !== undefined) previous = cutMiddle(previous, maxChars * PREVIOUS_SHARE);
    const frame = SYSTEM_PROMPT.length + summaryPrompt({ kind, conversation: "", previous, focus }).length;
    const taken = take(rest, Math.max(LEAST_CHARS, maxChars - frame));
    const text = summaryPrompt({ kind, conversation: taken.text, previous, focus });
    const answer = await ask({ systemPrompt: SYSTEM_PROMPT, text });
    if (answer.failure?.kind === "context_overflow" && halvings < MAX_HALVINGS) {
      halvings++;
      maxChars /= 2;
      continue;
    }
    previous = summaryIn(answer);
    rest = taken.rest;
    if (rest.length === 0) return previous;
  }
}

/** As many parts as there is room for, and at least one; one that is too long by itself loses its middle. */
function take(parts: readonly string[], maxChars: number): { text: string; rest: readonly string[] } {
  let chars = 0;
  let count = 0;
  for (const part of parts) {
    chars += part.length + 2;
    if (chars > maxChars && count > 0) break;
    count++;
  }
  const texts = parts.slice(0, count).map((part) => cutMiddle(part, maxChars));
  return { text: texts.join("\n\n") || "(nothing that can be told in words)", rest: parts.slice(count) };
}

/** Why an answer is no summary. */
class SummaryFault extends Error {
  override readonly name = "SummaryFault";
  readonly kind: FailureKind | undefined;

  constructor(message: string, kind?: FailureKind) {
    super(message);
    this.kind = kind;
  }
}

/** The text of an answer that is whole and says something. */
function summaryIn({ content, stopReason, errorMessage, failure }: AssistantMessage): string {
  if (stopReason === "aborted") throw new SummaryFault("it was aborted");
  if (stopReason === "error") {
    throw new SummaryFault(errorMessage ?? failure?.kind ?? "the call failed", failure?.kind);
  }
  if (stopReason === "length") throw new SummaryFault("the summary became too long and was cut off");
  if (content.some((block) => block.type === "toolCall")) {
    throw new SummaryFault("the model called a tool instead of writing a summary");
  }
  const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  if (text.trim() === "") throw new SummaryFault("the model wrote nothing");
  return text.trim();
}
