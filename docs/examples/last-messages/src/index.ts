import type { ExtensionAPI, Message } from "@pi-agent/kernel";
import { Type } from "typebox";

interface Options {
  messages?: number;
}

/**
 * Sends the model the task and the last messages only. The transcript keeps everything: a `context` handler changes
 * what one call is sent, and nothing else.
 */
function lastMessages(pi: ExtensionAPI, { messages: most = 40 }: Options = {}): void {
  pi.on("context", ({ messages }) => {
    if (messages.length > most) return { messages: cut(messages, most) };
  });
}

/** Keeps the first prompt and at least the last `most` messages. */
function cut(messages: readonly Message[], most: number): Message[] {
  let from = messages.length - most;
  // Results belong to the answer that called for them: a window that would begin with one begins at that answer.
  while (messages[from]?.role === "toolResult") from--;
  const task = messages.findIndex(({ role }) => role !== "assistant" && role !== "toolResult");
  return task < 0 || task >= from ? messages.slice(from) : [messages[task]!, ...messages.slice(from)];
}

export default Object.assign(lastMessages, {
  options: Type.Object({
    messages: Type.Optional(Type.Integer({ minimum: 2, description: "How many messages to keep; 40 if left out" })),
  }),
});
