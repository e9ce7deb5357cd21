import type { JsonObject } from "@pi-agent/kernel";

export type FormatName = "anthropic" | "chat" | "responses" | "gemini" | "kernel";

export interface NeutralCall {
  /** Absent where the format sends none. */
  id?: string;
  name: string;
  arguments: JsonObject | string;
}

/** A message of any format. What one user message carries besides text and images comes as messages of its own. */
export type NeutralMessage =
  | { role: "user"; text: string; images: number }
  | { role: "assistant"; text: string; thinking: string; calls: NeutralCall[] }
  | { role: "tool"; callId?: string; name?: string; text: string; images: number; isError?: boolean };

export interface NeutralTool {
  name: string;
  description: string;
  schema: JsonObject;
}

/** A request as a person would tell it, whatever its format. */
export interface NeutralRequest {
  format: FormatName;
  model: string;
  system: string;
  messages: NeutralMessage[];
  tools: NeutralTool[];
}

/** Answers the tool results at the end of a request, in their order. */
export function lastResults(request: NeutralRequest): Extract<NeutralMessage, { role: "tool" }>[] {
  const lastAnswer = request.messages.findLastIndex((message) => message.role === "assistant");
  return request.messages.slice(lastAnswer + 1).filter((message) => message.role === "tool");
}

/** Answers the text of the newest user message, or the empty text. */
export function lastUserText(request: NeutralRequest): string {
  return request.messages.findLast((message) => message.role === "user")?.text ?? "";
}
