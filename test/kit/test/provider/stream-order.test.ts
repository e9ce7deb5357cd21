import type { AssistantMessage, StreamEvent } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { assertStreamOrder, assistantMessage, TEST_MODEL, toolCall } from "../../src/provider.ts";

const call = toolCall("c1", { arguments: { p: 1 } });
const message = assistantMessage(TEST_MODEL, [{ type: "text", text: "ab" }, call]);
const start: StreamEvent = { type: "start", partial: message };
const done: StreamEvent = { type: "done", reason: "toolUse", message };
const text: StreamEvent[] = [
  { type: "text_start", contentIndex: 0 },
  { type: "text_delta", contentIndex: 0, delta: "a" },
  { type: "text_delta", contentIndex: 0, delta: "b" },
  { type: "text_end", contentIndex: 0, content: "ab" },
];
const tool: StreamEvent[] = [
  { type: "toolcall_start", contentIndex: 1, id: "c1", toolName: "read" },
  { type: "toolcall_delta", contentIndex: 1, delta: '{"p":1}' },
  { type: "toolcall_end", contentIndex: 1, toolCall: call },
];

function failed(changes: Partial<AssistantMessage>): StreamEvent {
  const error = assistantMessage(TEST_MODEL, [], { stopReason: "error", ...changes });
  return { type: "error", reason: "error", error };
}

test("a whole answer is in order, also when its blocks overlap, and so are a failure alone and an answer of nothing", () => {
  expect(assertStreamOrder([[start, ...text], [...tool], [done]])).toBe(message);
  expect(assertStreamOrder([[start, ...text.slice(0, 2), ...tool, ...text.slice(2), done]])).toBe(message);
  const failure = failed({ failure: { kind: "network" }, errorMessage: "gone" });
  expect(assertStreamOrder([[failure]])).toMatchObject({ stopReason: "error" });
  const nothing = assistantMessage(TEST_MODEL, []);
  expect(assertStreamOrder([[start], [{ type: "done", reason: "stop", message: nothing }]])).toBe(nothing);
});

test("a call whose text cannot be read, or that came without one, has no text to compare", () => {
  const broken = { ...toolCall("c1"), argumentsError: "no JSON" };
  const end = (block: typeof call): StreamEvent[] => [
    { type: "toolcall_end", contentIndex: 0, toolCall: block },
    { type: "done", reason: "toolUse", message: assistantMessage(TEST_MODEL, [block]) },
  ];
  const begin: StreamEvent[] = [start, { type: "toolcall_start", contentIndex: 0, id: "c1", toolName: "read" }];
  const delta = (part: string): StreamEvent => ({ type: "toolcall_delta", contentIndex: 0, delta: part });
  expect(() => assertStreamOrder([[...begin, delta('{"p"'), ...end(broken)]])).not.toThrow();
  expect(() => assertStreamOrder([[...begin, ...end(call)]])).not.toThrow();
  expect(() => assertStreamOrder([[...begin, delta("null"), ...end(toolCall("c1"))]])).not.toThrow();
});

test.each<[string, StreamEvent[][], RegExp]>([
  ["an empty batch", [[start], [], [...text, ...tool, done]], /batch is empty/],
  ["no end", [[start, ...text, ...tool]], /ended with toolcall_end/],
  ["nothing", [], /ended with nothing/],
  ["two ends", [[start, ...text, ...tool, done, done]], /went on/],
  ["no start", [[...text, ...tool, done]], /start/],
  ["two starts", [[start, start, ...text, ...tool, done]], /start/],
  ["a reason that is not the message's", [[start, ...text, ...tool, { ...done, reason: "stop" }]], /reason/],
  ["a failure without its kind", [[failed({ errorMessage: "gone" })]], /no type/],
  ["a failure without its message", [[failed({ failure: { kind: "network" } })]], /no message/],
  ["a block that starts twice", [[start, text[0]!, ...text, ...tool, done]], /out of place in block 0/],
  ["a delta before its start", [[start, text[1]!, ...text, ...tool, done]], /out of place in block 0/],
  ["a delta after its end", [[start, ...text, text[2]!, ...tool, done]], /after the end of block 0/],
  ["a block without an end", [[start, ...text.slice(0, 3), ...tool, done]], /no end/],
  ["a block that the message lacks", [[start, ...text, ...tool, { type: "text_start", contentIndex: 2 }, done]], /2/],
  ["another kind of block", [[start, ...text, { type: "thinking_start", contentIndex: 1 }, ...tool, done]], /block 1/],
  ["a delta that is missing", [[start, text[0]!, text[1]!, text[3]!, ...tool, done]], /another text/],
  [
    "arguments that are not the deltas'",
    [[start, ...text, tool[0]!, { ...tool[1]!, delta: "{}" } as StreamEvent, tool[2]!, done]],
    /p/,
  ],
  [
    "an end with another call",
    [[start, ...text, ...tool.slice(0, 2), { ...tool[2]!, toolCall: toolCall("c2") } as StreamEvent, done]],
    /another call/,
  ],
])("%s is out of order", (_name, batches, reason) => {
  expect(() => assertStreamOrder(batches)).toThrow(reason);
});
