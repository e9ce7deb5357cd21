import type { Message, ProviderRequest } from "@pi-agent/kernel";
import { assistantMessage, TEST_MODEL, userMessage } from "@pi-agent/testing/provider";
import { expect, test } from "vitest";
import { answerRoom } from "../src/answer-room.ts";

const model = { ...TEST_MODEL, contextWindow: 200_000 };
const counted = (totalTokens: number, timestamp: number): Message => {
  const message = assistantMessage(model, [{ type: "text", text: "a" }]);
  return { ...message, timestamp, usage: { ...message.usage, totalTokens } };
};
const roomFor = (messages: Message[]) =>
  answerRoom({ model, messages, systemPrompt: "", tools: [] } as never as ProviderRequest);

test("the last answer's count leaves so much less room", () => {
  expect(roomFor([userMessage("a"), counted(150_000, 5)])).toBeLessThan(50_000);
});

test("F097: what was counted before a compaction says nothing about what is sent now", () => {
  const summary: Message = {
    role: "custom",
    customType: "compactionSummary",
    content: "s",
    display: true,
    timestamp: 9,
  };
  const kept = [summary, userMessage("a"), counted(190_000, 5), userMessage("b")];
  expect(roomFor(kept)).toBeGreaterThan(150_000);
  expect(roomFor([...kept, counted(150_000, 10)])).toBeLessThan(50_000);
});
