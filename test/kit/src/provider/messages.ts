import type { AssistantMessage, Image, Message, Model, ToolCall, ToolResultMessage, Usage } from "@pi-agent/kernel";

/** A few bytes that pass for a picture. */
export const TEST_IMAGE: Image = { type: "image", data: "AAAA", mimeType: "image/png" };

export function userMessage(content: string): Message {
  return { role: "user", content, timestamp: 0 };
}

/** Makes a whole answer that a model gave; a call in it makes it stop for tools. */
export function assistantMessage(
  { api, provider, id }: Pick<Model, "api" | "provider" | "id">,
  content: AssistantMessage["content"],
  changes: Partial<AssistantMessage> = {},
): AssistantMessage {
  const stopReason = content.some(({ type }) => type === "toolCall") ? "toolUse" : "stop";
  return {
    role: "assistant",
    content,
    api,
    provider,
    model: id,
    usage: usageOf(),
    stopReason,
    timestamp: 0,
    ...changes,
  };
}

/** Makes a call of the tool `read` without arguments, but for the changes. */
export function toolCall(id: string, changes: Partial<ToolCall> = {}): ToolCall {
  return { type: "toolCall", id, name: "read", arguments: {}, ...changes };
}

/** Makes the result of a call of the tool `read`, without content where there is no text. */
export function toolResult(toolCallId: string, text = "", changes: Partial<ToolResultMessage> = {}): ToolResultMessage {
  const content: ToolResultMessage["content"] = text === "" ? [] : [{ type: "text", text }];
  return { role: "toolResult", toolCallId, toolName: "read", content, isError: false, timestamp: 0, ...changes };
}

/** Makes a usage of nothing, but for the counts given. */
export function usageOf(counts: Partial<Usage> = {}): Usage {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  return { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost, ...counts };
}
