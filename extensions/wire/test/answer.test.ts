import type { AssistantMessage, StreamEvent, ToolCall } from "@pi-agent/kernel";
import { providerRequest, TEST_MODEL } from "@pi-agent/testing/provider";
import { expect, test } from "vitest";
import { createAnswer } from "../src/index.ts";

const create = () => createAnswer(providerRequest(), "acme-api");
const last = (events: StreamEvent[]) => events.at(-1);

function firstCall({ content: [block] }: AssistantMessage): ToolCall {
  if (block?.type !== "toolCall") throw new Error("no call");
  return block;
}

function callAfter(text: string, end: (answer: ReturnType<typeof create>) => void): ToolCall {
  const answer = create();
  answer.toolCall(0, { id: "c1", name: "read" });
  for (const unit of text.match(/[^]{1,3}/g) ?? []) answer.toolArguments(0, unit);
  end(answer);
  return firstCall(answer.message);
}

test("blocks that arrive interleaved keep their places and each has its start, deltas and end", () => {
  const answer = create();
  answer.thinking("t", "hm");
  answer.sign("t", "sig");
  answer.end("t");
  answer.text(7, "a");
  answer.toolCall(9, { id: "c1", name: "read" });
  answer.text(7, "b");
  answer.toolArguments(9, '{"path":"x"}');
  answer.done("stop", "end_turn");
  const events = answer.takeBatch();
  expect(events.map((event) => [event.type, "contentIndex" in event ? event.contentIndex : undefined])).toEqual([
    ["start", undefined],
    ["thinking_start", 0],
    ["thinking_delta", 0],
    ["thinking_end", 0],
    ["text_start", 1],
    ["text_delta", 1],
    ["toolcall_start", 2],
    ["text_delta", 1],
    ["toolcall_delta", 2],
    ["text_end", 1],
    ["toolcall_end", 2],
    ["done", undefined],
  ]);
  expect(answer.message.content).toEqual([
    { type: "thinking", thinking: "hm", thinkingSignature: "sig" },
    { type: "text", text: "ab" },
    { type: "toolCall", id: "c1", name: "read", arguments: { path: "x" } },
  ]);
  expect(answer.message).toMatchObject({
    stopReason: "toolUse",
    rawStopReason: "end_turn",
    provider: "acme",
  });
});

test("a batch is handed over once", () => {
  const answer = create();
  answer.text(0, "a");
  expect(answer.takeBatch().map((event) => event.type)).toEqual(["start", "text_start", "text_delta"]);
  expect(answer.takeBatch()).toEqual([]);
});

test("there is exactly one terminal event, whatever is called afterwards", () => {
  const answer = create();
  answer.done("stop");
  answer.fail({ kind: "server" }, "late");
  answer.abort();
  answer.done("length");
  expect(answer.takeBatch().map((event) => event.type)).toEqual(["start", "done"]);
  expect(answer.message.stopReason).toBe("stop");
});

test.each([
  ["", {}],
  [" ", {}],
  ["null", {}],
  ["{}", {}],
  ['{"a":"\\u00e9\\\\ \\ud83c\\udf89"}', { a: "é\\ 🎉" }],
])("F121 the argument text %j is %j, cut anywhere", (text, expected) => {
  const call = callAfter(text, (answer) => answer.done("toolUse"));
  expect(call.arguments).toEqual(expected);
  expect(call).not.toHaveProperty("argumentsError");
});

test.each(['{"a":', '{"a":1}{"b":2}', "[1]", '"x"', "3", "nonsense"])(
  "the argument text %j is no object: empty arguments and an error that shows it",
  (text) => {
    const call = callAfter(text, (answer) => answer.done("toolUse"));
    expect(call.arguments).toEqual({});
    expect(call.argumentsError).toContain(text);
  },
);

test("a truncated call is never taken as whole", () => {
  expect(callAfter("", (answer) => answer.done("length")).argumentsError).toBeDefined();
  expect(callAfter('{"a":1', (answer) => answer.done("length")).argumentsError).toContain('{"a":1');
  expect(callAfter('{"a":1}', (answer) => answer.done("length")).arguments).toEqual({ a: 1 });
  expect(callAfter('{"a":1}', (answer) => answer.abort()).argumentsError).toBeDefined();
  const ended = callAfter("", (answer) => {
    answer.end(0);
    answer.done("length");
  });
  expect(ended).not.toHaveProperty("argumentsError");
});

test("F122 a failure keeps what has arrived and ends the stream with an error", () => {
  const answer = create();
  answer.text(0, "half an ans");
  answer.fail({ kind: "overloaded" }, "acme: overloaded");
  expect(last(answer.takeBatch())).toEqual({ type: "error", reason: "error", error: answer.message });
  expect(answer.message).toMatchObject({
    content: [{ type: "text", text: "half an ans" }],
    stopReason: "error",
    failure: { kind: "overloaded" },
    errorMessage: "acme: overloaded",
  });
});

test("an abort keeps what has arrived", () => {
  const answer = create();
  answer.text(0, "half");
  answer.abort();
  expect(last(answer.takeBatch())).toMatchObject({ type: "error", reason: "aborted" });
  expect(answer.message).toMatchObject({ content: [{ text: "half" }], stopReason: "aborted" });
});

test("F125 the presence of calls decides between stop and toolUse", () => {
  expect(callAfter("{}", (answer) => answer.done("stop"))).toMatchObject({ name: "read" });
  const withCall = create();
  withCall.toolCall(0, { id: "c", name: "read" });
  withCall.done("stop");
  expect(withCall.message.stopReason).toBe("toolUse");
  const without = create();
  without.text(0, "hi");
  without.done("toolUse");
  expect(without.message.stopReason).toBe("stop");
});

test("F118 ids that are missing, empty, twice in an answer or used in an earlier one are made unique", () => {
  const earlier = create();
  earlier.toolCall(0, { id: "call_1", name: "read" });
  const answer = createAnswer(providerRequest({ messages: [earlier.message] }), "acme-api");
  for (const [key, id] of [undefined, null, "", "call_1", "call_2", "call_2"].entries())
    answer.toolCall(key, { id, name: "read" });
  answer.done("toolUse");
  const ids = answer.message.content.map((block) => (block.type === "toolCall" ? block.id : ""));
  expect(new Set([...ids, "call_1"]).size).toBe(7);
  expect(ids[4]).toBe("call_2");
  for (const id of ids) expect(id).toMatch(/^[\w-]{1,40}$/);
});

test("usage keeps the last value of each count and is priced at the end", () => {
  const answer = create();
  answer.usage({ input: 10, output: 1, cacheRead: 5 });
  answer.usage({ output: 1_000_000 });
  expect(answer.message.usage).toMatchObject({ input: 10, cacheRead: 5, totalTokens: 1_000_015 });
  answer.abort();
  expect(answer.message.usage.cost.total).toBeCloseTo(2.0000105, 9);
  expect(answer.message.durationMs).toBeGreaterThanOrEqual(0);
});

test("blocks of the provider's own are kept with their places", () => {
  const answer = create();
  answer.providerBlock({ type: "search" });
  answer.text(0, "a");
  answer.end(0);
  answer.providerBlock({ type: "found" });
  expect(answer.message.providerBlocks).toEqual([
    { index: 0, block: { type: "search" } },
    { index: 1, block: { type: "found" } },
  ]);
});

test("a block that was never opened, or that changes its kind, is a malformed response", () => {
  const malformed = expect.objectContaining({ failure: { kind: "malformed_response" } });
  const answer = create();
  answer.text(0, "a");
  expect(() => answer.thinking(0, "b")).toThrow(malformed);
  expect(() => answer.toolArguments(1, "{}")).toThrow(malformed);
  expect(() => answer.sign(1, "x")).toThrow(malformed);
});

test("the model and its thinking level are told from the start", () => {
  const answer = createAnswer(providerRequest({ thinkingLevel: "high" }), "acme-api");
  expect(answer.message).toMatchObject({
    api: "acme-api",
    provider: TEST_MODEL.provider,
    model: TEST_MODEL.id,
    thinkingLevel: "high",
    stopReason: "pending",
  });
});

test.each([null, undefined, "", 5, {}])("a tool call with the name %j is malformed, and is not kept", (name) => {
  const answer = createAnswer(providerRequest(), "acme-api");
  expect(() => answer.toolCall(0, { id: "c", name: name as string })).toThrow(
    expect.objectContaining({ failure: { kind: "malformed_response" } }),
  );
  expect(answer.message.content).toEqual([]);
});
