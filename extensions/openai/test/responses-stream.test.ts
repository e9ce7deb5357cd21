import { expect, test } from "vitest";
import { responsesApi } from "../src/responses.ts";
import { ask, createModel, sse } from "./support.ts";

const API = "openai-responses";
const item = (type: string, output_index: number, fields: object) => ({
  type: `response.output_item.${type}`,
  output_index,
  item: fields,
});
const completed = (fields: object = {}) => ({ type: "response.completed", response: { id: "r1", ...fields } });
const read = async (...lines: unknown[]) =>
  (await ask(responsesApi, sse(...lines), { model: createModel({ api: API }) })).message;

const call = (id: string, args: string, status = "completed") => ({
  type: "function_call",
  id: `fc_${id}`,
  call_id: id,
  name: "read",
  arguments: args,
  status,
});
const textItem = (text: string) => ({
  type: "message",
  id: "msg_1",
  role: "assistant",
  status: "completed",
  phase: "final_answer",
  content: [{ type: "output_text", text }],
});
const reasoning = {
  type: "reasoning",
  id: "rs_1",
  summary: [{ type: "summary_text", text: "hm" }],
  encrypted_content: "x",
};

test("reasoning, text, calls and usage of an answer are read", async () => {
  const message = await read(
    { type: "response.created", response: { id: "r1", model: "m1-2026" } },
    item("added", 0, { ...reasoning, summary: [] }),
    { type: "response.reasoning_summary_part.added", output_index: 0, summary_index: 0 },
    { type: "response.reasoning_summary_text.delta", output_index: 0, delta: "hm" },
    item("done", 0, reasoning),
    item("added", 1, { ...textItem(""), content: [] }),
    { type: "response.output_text.delta", output_index: 1, delta: "Hel" },
    { type: "response.output_text.delta", output_index: 1, delta: "lo" },
    item("done", 1, textItem("Hello")),
    item("added", 2, call("c1", "")),
    { type: "response.function_call_arguments.delta", output_index: 2, delta: '{"p":1}' },
    item("done", 2, call("c1", '{"p":1}')),
    completed({
      usage: {
        input_tokens: 100,
        input_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
        output_tokens: 20,
        output_tokens_details: { reasoning_tokens: 5 },
      },
    }),
  );
  expect(message).toMatchObject({
    responseId: "r1",
    responseModel: "m1-2026",
    stopReason: "toolUse",
    usage: { input: 30, output: 20, cacheRead: 60, cacheWrite: 10, reasoning: 5, totalTokens: 120 },
    content: [
      { type: "thinking", thinking: "hm", thinkingSignature: JSON.stringify(reasoning) },
      { type: "text", text: "Hello", textSignature: '{"v":1,"id":"msg_1","phase":"final_answer"}' },
      { type: "toolCall", id: "c1", name: "read", arguments: { p: 1 } },
    ],
  });
});

test("items that come whole, without deltas, are read", async () => {
  const message = await read(
    item("done", 0, reasoning),
    item("done", 1, textItem("Hi")),
    item("done", 2, call("c1", "{}")),
    completed(),
  );
  expect(message.content).toMatchObject([{ thinking: "hm" }, { text: "Hi" }, { id: "c1", arguments: {} }]);
});

test("several summaries are paragraphs", async () => {
  const part = (summary_index: number) => ({
    type: "response.reasoning_summary_part.added",
    output_index: 0,
    summary_index,
  });
  const text = (delta: string) => ({ type: "response.reasoning_summary_text.delta", output_index: 0, delta });
  const message = await read(
    item("added", 0, { type: "reasoning" }),
    part(0),
    text("a"),
    part(1),
    text("b"),
    completed(),
  );
  expect(message.content).toEqual([{ type: "thinking", thinking: "a\n\nb" }]);
});

test("interleaved calls are told apart by their place", async () => {
  const args = (output_index: number, delta: string) => ({
    type: "response.function_call_arguments.delta",
    output_index,
    delta,
  });
  const message = await read(
    item("added", 0, call("c1", "")),
    item("added", 1, call("c2", "")),
    args(0, '{"p"'),
    args(1, '{"p":2'),
    args(0, ":1}"),
    args(1, "}"),
    item("done", 0, call("c1", '{"p":1}')),
    item("done", 1, call("c2", '{"p":2}')),
    completed(),
  );
  expect(message.content).toMatchObject([
    { id: "c1", arguments: { p: 1 } },
    { id: "c2", arguments: { p: 2 } },
  ]);
});

test("F118 calls with one id get ids of their own", async () => {
  const message = await read(
    item("done", 0, call("c1", '{"p":1}')),
    item("done", 1, call("c1", '{"p":2}')),
    completed(),
  );
  expect(new Set(message.content.map((block) => block.type === "toolCall" && block.id)).size).toBe(2);
});

test.each(["", "null", "{}"])("F121 the argument text %j is an empty object", async (text) => {
  const message = await read(item("added", 0, call("c1", "")), item("done", 0, call("c1", text)), completed());
  expect(message.content).toEqual([{ type: "toolCall", id: "c1", name: "read", arguments: {} }]);
});

test("a refusal is text that says so", async () => {
  const message = await read(
    item("added", 0, { type: "message", content: [] }),
    { type: "response.refusal.delta", output_index: 0, delta: "I cannot." },
    completed(),
  );
  expect(message).toMatchObject({ stopReason: "stop", rawStopReason: "refusal", content: [{ text: "I cannot." }] });
});

test("an answer that the output limit has cut is no whole one, and neither is its last call", async () => {
  const message = await read(
    item("added", 0, call("c1", "", "in_progress")),
    { type: "response.function_call_arguments.delta", output_index: 0, delta: '{"p"' },
    item("done", 0, call("c1", '{"p"', "incomplete")),
    {
      type: "response.incomplete",
      response: { incomplete_details: { reason: "max_output_tokens" }, usage: { input_tokens: 1, output_tokens: 2 } },
    },
  );
  expect(message).toMatchObject({
    stopReason: "length",
    rawStopReason: "max_output_tokens",
    usage: { totalTokens: 3 },
    content: [{ arguments: {}, argumentsError: expect.any(String) }],
  });
});

test.each([
  ["an error event", { type: "error", code: "rate_limit_exceeded", message: "slow down" }, "rate_limit"],
  ["an error in an error event", { type: "error", error: { code: "server_error", message: "oops" } }, "server"],
  [
    "a failed response",
    { type: "response.failed", response: { error: { code: "context_length_exceeded", message: "too long" } } },
    "context_overflow",
  ],
  [
    "a filtered response",
    { type: "response.incomplete", response: { incomplete_details: { reason: "content_filter" } } },
    "content_filter",
  ],
  ["a clean close", ": nothing\n\n", "network"],
  ["broken JSON", "data: {oops\n\n", "malformed_response"],
])("F122 text and then %s is a failure, and the text is kept", async (_name, line, kind) => {
  const message = await read({ type: "response.output_text.delta", output_index: 0, delta: "half" }, line);
  expect(message).toMatchObject({ stopReason: "error", failure: { kind }, content: [{ text: "half" }] });
});

test("items and events that are none of ours are kept, or do no harm", async () => {
  const search = { type: "web_search_call", id: "ws_1", status: "completed" };
  const message = await read(
    "data: [DONE]\n\n",
    "data: null\n\n",
    { type: "keepalive" },
    item("added", 0, search),
    { type: "response.web_search_call.searching", output_index: 0 },
    item("done", 0, search),
    item("done", 1, textItem("a")),
    completed(),
  );
  expect(message).toMatchObject({
    stopReason: "stop",
    content: [{ text: "a" }],
    providerBlocks: [{ index: 0, block: search }],
  });
});

test("each event of the wire is told as it was sent, in its order, and the answer is the same", async () => {
  const told: unknown[] = [];
  const lines = [{ type: "response.output_text.delta", output_index: 0, delta: "Hi" }, completed()];
  const { message } = await ask(responsesApi, sse(...lines), {
    model: createModel({ api: API }),
    onStreamEvent: async (data) => void told.push(data),
  });
  expect(told).toEqual(lines);
  expect(message.content).toEqual((await read(...lines)).content);
});
