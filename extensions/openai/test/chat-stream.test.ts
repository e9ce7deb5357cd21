import { expect, test } from "vitest";
import { chatApi } from "../src/chat.ts";
import { call, delta, finish, fn, read } from "./chat-lines.ts";
import { ask, DONE, sse } from "./support.ts";

test("text, usage, id and model of an answer are read", async () => {
  const { events, message } = await ask(
    chatApi,
    sse(
      { id: "r1", model: "m1-2026", ...delta({ role: "assistant", content: "" }) },
      delta({ content: "Hel" }),
      delta({ content: "lo" }),
      finish("stop"),
      {
        choices: [],
        usage: {
          prompt_tokens: 100,
          completion_tokens: 20,
          total_tokens: 120,
          prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
          completion_tokens_details: { reasoning_tokens: 5 },
        },
      },
      DONE,
    ),
  );
  expect(events.map(({ type }) => type)).toEqual([
    "start",
    "text_start",
    "text_delta",
    "text_delta",
    "text_end",
    "done",
  ]);
  expect(message).toMatchObject({
    content: [{ type: "text", text: "Hello" }],
    responseId: "r1",
    responseModel: "m1-2026",
    stopReason: "stop",
    rawStopReason: "stop",
    usage: { input: 30, output: 20, cacheRead: 60, cacheWrite: 10, reasoning: 5, totalTokens: 120 },
  });
});

test("reasoning that a server counts apart is part of the output, and a billed cost is kept", async () => {
  const usage = {
    prompt_tokens: 10,
    completion_tokens: 5,
    total_tokens: 22,
    completion_tokens_details: { reasoning_tokens: 7 },
    cost: 0.5,
  };
  const message = await read(delta({ content: "a" }), finish("stop"), { choices: [], usage }, DONE);
  expect(message.usage).toMatchObject({ output: 12, reasoning: 7, cost: { total: 0.5, totalFromProvider: true } });
});

test.each([
  ["stop with calls", "stop", true, "toolUse"],
  ["tool_calls without calls", "tool_calls", false, "stop"],
  ["function_call with calls", "function_call", true, "toolUse"],
  ["a reason nobody knows, with calls", "future_reason", true, "toolUse"],
  ["a reason nobody knows", "future_reason", false, "stop"],
])("F125 %s: the calls decide", async (_name, reason, hasCall, stopReason) => {
  const part = hasCall ? call({ index: 0, id: "a", ...fn("read", "{}") }) : delta({ content: "hi" });
  expect(await read(part, finish(reason), DONE)).toMatchObject({ stopReason, rawStopReason: reason });
});

test("F125 a finish before the last delta loses nothing, and a missing one with [DONE] is an end", async () => {
  const early = await read(delta({ content: "a" }), finish("stop"), delta({ content: "b" }), DONE);
  expect(early).toMatchObject({ stopReason: "stop", content: [{ text: "ab" }] });
  const missing = await read(call({ index: 0, id: "a", ...fn("read", "{}") }), DONE);
  expect(missing).toMatchObject({ stopReason: "toolUse" });
});

test.each([
  ["content_filter", "content_filter"],
  ["sensitive", "content_filter"],
  ["error", "server"],
  ["network_error", "server"],
])("F125 the reason %s is a failure that keeps the text", async (reason, kind) => {
  const message = await read(delta({ content: "half" }), finish(reason), DONE);
  expect(message).toMatchObject({ stopReason: "error", failure: { kind }, content: [{ text: "half" }] });
});

test("a call that the output limit has cut is not whole", async () => {
  const message = await read(call({ index: 0, id: "a", ...fn("read", '{"path":"a') }), finish("length"), DONE);
  expect(message).toMatchObject({
    stopReason: "length",
    content: [{ arguments: {}, argumentsError: expect.any(String) }],
  });
});

const usage = (prompt: number, completion: number) => ({ prompt_tokens: prompt, completion_tokens: completion });
test.each([
  ["comments", [": ping\n\n"]],
  ["empty data", ["data:\n\n", "data: \n\n", "data: null\n\n"]],
  ["an empty object", [{}]],
  ["no choices", [{ choices: [] }, { choices: null }]],
  ["an empty choice", [{ choices: [{}] }, { choices: [null] }]],
  ["no delta", [{ choices: [{ delta: null }] }, { choices: [{ index: 0, delta: {} }] }]],
  ["nulls in a delta", [delta({ content: null, tool_calls: null, reasoning_content: null, refusal: null })]],
  ["empty texts in a delta", [delta({ content: "", reasoning: "", tool_calls: [] })]],
  ["a second choice", [{ choices: [{ index: 1, delta: { content: "no" } }] }]],
  ["usage that is null", [{ ...delta({}), usage: null }]],
])("F127 chunks with %s do no harm", async (_name, lines) => {
  const message = await read(...lines, delta({ content: "a" }), ...lines, finish("stop"), ...lines, DONE);
  expect(message).toMatchObject({ stopReason: "stop", content: [{ type: "text", text: "a" }] });
});

test.each([
  ["in a choice", [delta({}, { finish_reason: "stop", usage: usage(3, 4) })]],
  [
    "in every chunk, adding up by itself",
    [
      { ...delta({}), usage: usage(3, 1) },
      { ...finish("stop"), usage: usage(3, 4) },
    ],
  ],
  ["after the finish", [finish("stop"), { choices: [], usage: usage(3, 4) }]],
])("F127 usage %s: the last value is the one", async (_name, lines) => {
  const message = await read(delta({ content: "a" }), ...lines, DONE);
  expect(message.usage).toMatchObject({ input: 3, output: 4, totalTokens: 7 });
});

test.each([
  ["missing", ""],
  ["twice", `${DONE}${DONE}`],
  ["with blanks", "data:  [DONE] \n\n"],
  ["without a blank and with CRLF", "data:[DONE]\r\n\r\n"],
])("F127 [DONE] %s is an end", async (_name, done) => {
  const lines = [delta({ content: "a" }), finish("stop")].map((line) => `data:${JSON.stringify(line)}\r\n\r\n`);
  expect(await read(...lines, done)).toMatchObject({ stopReason: "stop", content: [{ text: "a" }] });
});

test.each(["reasoning_content", "reasoning", "reasoning_text"])(
  "F128 reasoning in %s is apart from the text",
  async (field) => {
    const message = await read(
      delta({ [field]: "hm" }),
      delta({ [field]: " hm" }),
      delta({ content: "a" }),
      finish("stop"),
      DONE,
    );
    expect(message.content).toEqual([
      { type: "thinking", thinking: "hm hm", thinkingSignature: field },
      { type: "text", text: "a" },
    ]);
  },
);

test("F128 reasoning_details are kept as they came, joined", async () => {
  const detail = (fields: object) => ({ type: "reasoning.text", index: 0, format: "f", ...fields });
  const message = await read(
    delta({ reasoning: "a", reasoning_details: [detail({ text: "a" })] }),
    delta({ reasoning: "b", reasoning_details: [detail({ text: "b" })] }),
    delta({ reasoning_details: [detail({ signature: "s" })] }),
    delta({ reasoning_details: [{ type: "reasoning.encrypted", data: "x", id: "c1", index: 1 }] }),
    finish("stop"),
    DONE,
  );
  expect(message.content).toEqual([{ type: "thinking", thinking: "ab", thinkingSignature: "reasoning" }]);
  expect(message.providerBlocks?.[0]?.block).toEqual({
    type: "reasoning_details",
    reasoning_details: [
      detail({ text: "ab", signature: "s" }),
      { type: "reasoning.encrypted", data: "x", id: "c1", index: 1 },
    ],
  });
});

test("F128 content as parts, and a refusal, are text", async () => {
  const parts = [
    { type: "thinking", thinking: [{ type: "text", text: "hm" }] },
    { type: "text", text: "a" },
  ];
  const message = await read(delta({ content: parts }), delta({ content: "b" }), finish("stop"), DONE);
  expect(message.content).toMatchObject([{ thinking: "hm" }, { text: "ab" }]);
  const refusal = await read(
    delta({ content: null, refusal: "I can" }),
    delta({ refusal: "not." }),
    finish("stop"),
    DONE,
  );
  expect(refusal).toMatchObject({ stopReason: "stop", rawStopReason: "refusal", content: [{ text: "I cannot." }] });
});

test.each([
  ["an error chunk", [{ error: { message: "overloaded", type: "server_error", code: 503 } }], "overloaded"],
  [
    "an error chunk after a finish",
    [finish("stop"), { error: { code: 400, message: "Token limit reached" } }],
    "invalid_request",
  ],
  ["an error as an object", [{ object: "error", message: "out of memory", code: 500 }], "unknown"],
  ["a clean close", [], "network"],
  ["a page", ["<html><title>Bad gateway</title></html>\n"], "malformed_response"],
  ["broken JSON", ["data: {oops\n\n"], "malformed_response"],
])("F122 text and then %s is a failure, and the text is kept", async (_name, lines, kind) => {
  const message = await read(delta({ content: "half" }), ...lines);
  expect(message).toMatchObject({ stopReason: "error", failure: { kind }, content: [{ text: "half" }] });
});

test("F122 half a call and then an error is no call to run", async () => {
  const message = await read(call({ index: 0, id: "a", ...fn("read", '{"path":') }), { error: "boom" });
  expect(message).toMatchObject({
    stopReason: "error",
    content: [{ arguments: {}, argumentsError: expect.any(String) }],
  });
});

test("an answer of nothing is a malformed response", async () => {
  expect(await read(DONE)).toMatchObject({ failure: { kind: "malformed_response" } });
});

test("each event of the wire is told as it was sent, in its order, and the answer is the same", async () => {
  const told: unknown[] = [];
  const lines = [delta({ content: "Hi" }), delta({ content: "!" }), finish("stop")];
  const reply = sse(...lines, DONE);
  const { message } = await ask(chatApi, reply, { onStreamEvent: async (data) => void told.push(data) });
  expect(told).toEqual(lines);
  expect(message.content).toEqual((await ask(chatApi, reply)).message.content);
});
