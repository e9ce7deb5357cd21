/**
 * A conversation ──► a wire format, at the cost of what is new in it.
 *
 *   messages ── fold ──► paired ──► state ── fork ──► what is sent
 *
 * 1. Failed and aborted answers are left out; each call has exactly one result, right after it, and each result its call.
 * 2. What was converted for an earlier request is not looked at again, however long the conversation.
 */
import type { Message, Model, ToolCall, ToolResultMessage } from "@pi-agent/kernel";
import { createFold } from "./fold.ts";

export interface ConverterSteps<S, T, C = Model> {
  start(target: C): S;
  /** Takes the next message into the state. */
  add(state: S, message: Message, target: C): void;
  /** Copies a state, so that the copy can go on alone. */
  fork(state: S): S;
  /** Makes what is sent of a copy. */
  finish(copy: S, target: C): T;
}

/** Makes a converter that goes on from where the same conversation was the last time. */
export function createConverter<S, T, C = Model>(
  steps: ConverterSteps<S, T, C>,
): (messages: readonly Message[], target: C) => T {
  const pairing = pairCalls(steps);
  const fold = createFold(pairing);
  return (messages, target) => {
    const { state, rest } = fold(messages, target);
    const copy = { wire: steps.fork(state.wire), open: new Map(state.open) };
    for (const message of rest) pairing.add(copy, message, target);
    pairing.answerOpen(copy, target);
    return steps.finish(copy.wire, target);
  };
}

interface Paired<S> {
  wire: S;
  /** Calls of the last answer that have no result yet. */
  open: Map<string, ToolCall>;
}

/** Hands on messages as every service accepts them: see 1. */
function pairCalls<S, T, C>(steps: ConverterSteps<S, T, C>) {
  function answerOpen({ wire, open }: Paired<S>, target: C): void {
    for (const call of open.values()) steps.add(wire, missingResult(call), target);
    open.clear();
  }
  return {
    start: (target: C): Paired<S> => ({ wire: steps.start(target), open: new Map() }),
    add(paired: Paired<S>, message: Message, target: C): void {
      const { wire, open } = paired;
      if (message.role === "toolResult") {
        if (open.delete(message.toolCallId)) steps.add(wire, message, target);
        return;
      }
      answerOpen(paired, target);
      if (message.role === "assistant") {
        if (message.stopReason === "error" || message.stopReason === "aborted") return;
        for (const block of message.content) if (block.type === "toolCall") open.set(block.id, block);
      }
      steps.add(wire, message, target);
    },
    answerOpen,
  };
}

function missingResult({ id, name }: ToolCall): ToolResultMessage {
  // Frozen as a stored one is, so that what it becomes is remembered.
  return Object.freeze({
    role: "toolResult" as const,
    toolCallId: id,
    toolName: name,
    content: [{ type: "text" as const, text: "No result provided." }],
    isError: true,
    timestamp: 0,
  });
}
