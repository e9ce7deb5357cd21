import type { AssistantMessage } from "@pi-agent/kernel";
import { assistantMessage, TEST_IMAGE, TEST_MODEL, toolCall } from "@pi-agent/testing/provider";
import { expect, test } from "vitest";
import { answerBlocks, joinText, toParts } from "../src/index.ts";

const BLIND = { ...TEST_MODEL, input: ["text" as const] };
const answer = (content: AssistantMessage["content"], changes: Partial<AssistantMessage> = {}) =>
  assistantMessage(TEST_MODEL, content, changes);

test("parts are well-formed and never empty", () => {
  expect(toParts("a\ud800", TEST_MODEL)).toEqual([{ type: "text", text: "a\ufffd" }]);
  expect(toParts(" \n", TEST_MODEL)).toEqual([]);
  expect(toParts([{ type: "text", text: "" }, TEST_IMAGE], TEST_MODEL)).toEqual([TEST_IMAGE]);
});

test("a run of images is one sentence to a model that sees none", () => {
  const parts = toParts([TEST_IMAGE, TEST_IMAGE, { type: "text", text: "a" }, TEST_IMAGE], BLIND);
  expect(parts.map((part) => part.type)).toEqual(["text", "text", "text"]);
  expect(joinText(parts)).toMatch(/^\(An image .*\)\na\n\(An image .*\)$/);
});

test("thinking and signatures go back to the model that made them, and to no other", () => {
  const message = answer([
    { type: "thinking", thinking: "hm", thinkingSignature: "s1" },
    { type: "text", text: "a\udfff", textSignature: "s2" },
    { type: "text", text: " " },
    toolCall("c", { thoughtSignature: "s3" }),
  ]);
  expect(answerBlocks(message, TEST_MODEL)).toEqual([
    { type: "thinking", thinking: "hm", thinkingSignature: "s1" },
    { type: "text", text: "a\ufffd", textSignature: "s2" },
    toolCall("c", { thoughtSignature: "s3" }),
  ]);
  expect(answerBlocks(message, { ...TEST_MODEL, id: "m2" })).toEqual([
    { type: "text", text: "a\ufffd" },
    toolCall("c"),
  ]);
});
