import { createUsage, MODEL, type Step } from "./driver.ts";

interface AnswerMessage {
  role: "assistant";
  content: unknown[];
  api: string;
  provider: string;
  model: string;
  usage: ReturnType<typeof createUsage>;
  stopReason: string;
  timestamp: number;
}

/**
 * Hands `push` the events of one answer in order, and answers the whole message. Each event carries the message as
 * `partial`, as theirs must: so that making an event costs every side the same.
 */
export function playAnswer(step: Step, turn: number, push: (event: object) => void): AnswerMessage {
  const partial: AnswerMessage = {
    role: "assistant",
    content: [],
    api: MODEL.api,
    provider: MODEL.provider,
    model: MODEL.id,
    usage: createUsage(),
    stopReason: "pending",
    timestamp: Date.now(),
  };
  push({ type: "start", partial });
  if ("call" in step) {
    const toolCall = { type: "toolCall", id: `call_${turn}`, name: "noop", arguments: step.call };
    partial.content.push(toolCall);
    push({ type: "toolcall_start", contentIndex: 0, id: toolCall.id, toolName: "noop", partial });
    push({ type: "toolcall_delta", contentIndex: 0, delta: JSON.stringify(step.call), partial });
    push({ type: "toolcall_end", contentIndex: 0, toolCall, partial });
    partial.stopReason = "toolUse";
  } else {
    const block = { type: "text", text: "" };
    partial.content.push(block);
    push({ type: "text_start", contentIndex: 0, partial });
    for (const delta of step.deltas) {
      block.text += delta;
      push({ type: "text_delta", contentIndex: 0, delta, partial });
    }
    push({ type: "text_end", contentIndex: 0, content: block.text, partial });
    partial.stopReason = "stop";
  }
  push({ type: "done", reason: partial.stopReason, message: partial });
  return partial;
}
