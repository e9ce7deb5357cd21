import type { AssistantMessage, Message, ToolResultMessage } from "@pi-agent/kernel";

/** A conversation in letters: `u` a message of the user, `c` one of an extension, `s` a summary, `a` an answer, a digit so many calls with results. */
export function conversation(letters: string): Message[] {
  let at = 0;
  return letters.split("").flatMap((letter): Message[] => {
    const timestamp = ++at;
    if (letter === "u") return [{ role: "user", content: `user ${at}`, timestamp }];
    if (letter === "c") return [custom("note", timestamp)];
    if (letter === "s") return [custom("compactionSummary", timestamp)];
    if (letter === "a") return [answer([{ type: "text", text: `answer ${at}` }], timestamp)];
    const ids = Array.from({ length: Number(letter) }, (_, n) => `call_${at}_${n}`);
    const calls = ids.map((id) => ({ type: "toolCall" as const, id, name: "look", arguments: {} }));
    return [answer(calls, timestamp), ...ids.map((id) => result(id, timestamp))];
  });
}

export function result(toolCallId: string, timestamp = 0): ToolResultMessage {
  const content = [{ type: "text" as const, text: `seen by ${toolCallId}` }];
  return { role: "toolResult", toolCallId, toolName: "look", content, isError: false, timestamp };
}

function custom(customType: string, timestamp: number): Message {
  return { role: "custom", customType, content: customType, display: true, timestamp };
}

function answer(content: AssistantMessage["content"], timestamp: number): AssistantMessage {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  return {
    role: "assistant",
    content,
    api: "scripted",
    provider: "scripted",
    model: "scripted",
    usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost },
    stopReason: content.some(({ type }) => type === "toolCall") ? "toolUse" : "stop",
    timestamp,
  };
}
