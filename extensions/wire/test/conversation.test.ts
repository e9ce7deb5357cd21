import type { AssistantMessage, Message, ToolResultMessage } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { answerBlocks, createAnswer, createMessageCache, joinText, pairCalls, toParts } from "../src/index.ts";
import { createRequest, MODEL } from "./request.ts";

const BLIND = { ...MODEL, input: ["text" as const] };
const image = { type: "image", data: "AA==", mimeType: "image/png" } as const;

function answer(content: AssistantMessage["content"], changes: Partial<AssistantMessage> = {}): AssistantMessage {
  return { ...createAnswer(createRequest(), "acme-api").message, content, stopReason: "stop", ...changes };
}
const call = (id: string) => ({ type: "toolCall", id, name: "read", arguments: {} }) as const;
const result = (toolCallId: string): ToolResultMessage => ({
  role: "toolResult",
  toolCallId,
  toolName: "read",
  content: [],
  isError: false,
  timestamp: 0,
});
const user: Message = { role: "user", content: "hi", timestamp: 0 };

test("parts are well-formed and never empty", () => {
  expect(toParts("a\ud800", MODEL)).toEqual([{ type: "text", text: "a\ufffd" }]);
  expect(toParts(" \n", MODEL)).toEqual([]);
  expect(toParts([{ type: "text", text: "" }, image], MODEL)).toEqual([image]);
});

test("a run of images is one sentence to a model that sees none", () => {
  const parts = toParts([image, image, { type: "text", text: "a" }, image], BLIND);
  expect(parts.map((part) => part.type)).toEqual(["text", "text", "text"]);
  expect(joinText(parts)).toMatch(/^\(An image .*\)\na\n\(An image .*\)$/);
});

test("thinking and signatures go back to the model that made them, and to no other", () => {
  const message = answer([
    { type: "thinking", thinking: "hm", thinkingSignature: "s1" },
    { type: "text", text: "a\udfff", textSignature: "s2" },
    { type: "text", text: " " },
    { ...call("c"), thoughtSignature: "s3" },
  ]);
  expect(answerBlocks(message, MODEL)).toEqual([
    { type: "thinking", thinking: "hm", thinkingSignature: "s1" },
    { type: "text", text: "a\ufffd", textSignature: "s2" },
    { ...call("c"), thoughtSignature: "s3" },
  ]);
  expect(answerBlocks(message, { ...MODEL, id: "m2" })).toEqual([{ type: "text", text: "a\ufffd" }, call("c")]);
});

test("F131 every call has exactly one result, and every result its call", () => {
  const calls = answer([call("a"), call("b")], { stopReason: "toolUse" });
  const paired = pairCalls([user, calls, result("b"), result("b"), result("z"), user]);
  expect(paired.map((message) => (message.role === "toolResult" ? message.toolCallId : message.role))).toEqual([
    "user",
    "assistant",
    "b",
    "a",
    "user",
  ]);
  expect(paired[3]).toMatchObject({ isError: true, content: [{ type: "text" }] });
  expect(paired[1]).toBe(calls);
  expect(pairCalls([calls]).map((message) => message.role)).toEqual(["assistant", "toolResult", "toolResult"]);
});

test.each(["error", "aborted"] as const)(
  "F131 an answer that ended as %s is left out with its results",
  (stopReason) => {
    expect(pairCalls([user, answer([call("a")], { stopReason }), result("a"), user])).toEqual([user, user]);
  },
);

test("a message is converted once for a model, if it cannot change", () => {
  let count = 0;
  const convert = createMessageCache((message: Message) => ({ role: message.role, count: ++count }));
  const frozen = Object.freeze({ ...user });
  expect(convert(frozen, MODEL)).toBe(convert(frozen, MODEL));
  expect(Object.isFrozen(convert(frozen, MODEL))).toBe(true);
  expect(count).toBe(1);
  convert(frozen, BLIND);
  convert({ ...user }, MODEL);
  expect(convert(user, MODEL)).not.toBe(convert(user, MODEL));
  expect(count).toBe(5);
});
