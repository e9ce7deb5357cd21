import { replyCut, replyJson, replyStream } from "@pi-agent/testing/provider";
import { expect, test } from "vitest";
import { answerTo, begin, finish, model, sse, textBlock } from "./events.ts";

const call = (index: number, id: string, ...parts: (string | undefined)[]) =>
  sse(
    { type: "content_block_start", index, content_block: { type: "tool_use", id, name: "read", input: {} } },
    ...parts.map((partial_json) => ({
      type: "content_block_delta",
      index,
      delta: { type: "input_json_delta", partial_json },
    })),
    { type: "content_block_stop", index },
  );

test("text, its events, ids, usage and cost", async () => {
  const usage = {
    input_tokens: 100,
    output_tokens: 20,
    cache_read_input_tokens: 1_000,
    cache_creation_input_tokens: 300,
    output_tokens_details: { thinking_tokens: 7 },
  };
  const start = sse({
    type: "message_start",
    message: {
      id: "msg_9",
      model: "claude-haiku-4-5-20251001",
      usage: { cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 } },
    },
  });
  const { events, message } = await answerTo(replyStream(start, textBlock("Hi"), finish("end_turn", usage)));
  expect(events.map(({ type }) => type)).toEqual(["start", "text_start", "text_delta", "text_end", "done"]);
  expect(message).toMatchObject({
    content: [{ type: "text", text: "Hi" }],
    responseId: "msg_9",
    responseModel: "claude-haiku-4-5-20251001",
    stopReason: "stop",
    rawStopReason: "end_turn",
  });
  expect(message.usage).toMatchObject({
    input: 100,
    output: 20,
    cacheRead: 1_000,
    cacheWrite: 300,
    cacheWrite1h: 200,
    reasoning: 7,
    totalTokens: 1_420,
  });
  // 100 at 1, 20 at 5, 1,000 at 0.1, 100 at 1.25 and 200 at 2 dollars a million.
  expect(message.usage.cost.total).toBeCloseTo((100 + 100 + 100 + 125 + 400) / 1e6, 12);
});

test("counts that a server leaves out of the last event stand", async () => {
  const { message } = await answerTo(replyStream(begin, textBlock("a"), finish("end_turn", { output_tokens: 9 })));
  expect(message.usage).toMatchObject({ input: 10, output: 9, totalTokens: 19 });
});

test("thinking with its signature, and redacted thinking", async () => {
  const { message } = await answerTo(
    replyStream(
      begin,
      sse(
        { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
        { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "Hm" } },
        { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "sig" } },
        { type: "content_block_stop", index: 0 },
        { type: "content_block_start", index: 1, content_block: { type: "redacted_thinking", data: "secret" } },
        { type: "content_block_stop", index: 1 },
      ),
      textBlock("Yes", 2),
      finish("end_turn"),
    ),
  );
  expect(message.content).toEqual([
    { type: "thinking", thinking: "Hm", thinkingSignature: "sig" },
    { type: "thinking", thinking: "", thinkingSignature: "secret", redacted: true },
    { type: "text", text: "Yes" },
  ]);
});

test("F121 a call without arguments has an empty object, however the stream says nothing", async () => {
  const { message } = await answerTo(
    replyStream(begin, call(0, "t1"), call(1, "t2", ""), call(2, "t3", "null"), finish("tool_use")),
  );
  expect(message.content).toEqual(
    ["t1", "t2", "t3"].map((id) => ({ type: "toolCall", id, name: "read", arguments: {} })),
  );
  expect(message.stopReason).toBe("toolUse");
});

test("F121 argument text is put together across any borders, with calls interleaved", async () => {
  const piece = (index: number, partial_json: string) => ({
    type: "content_block_delta",
    index,
    delta: { type: "input_json_delta", partial_json },
  });
  const open = (index: number) => ({
    type: "content_block_start",
    index,
    content_block: { type: "tool_use", id: `t${index}`, name: "read", input: {} },
  });
  const wire =
    begin +
    sse(
      open(0),
      open(1),
      piece(0, '{"a":"caf\\u00'),
      piece(1, '{"b":"\\ud83d'),
      { type: "ping" },
      { type: "something_new", index: 0 },
      piece(0, "e9 \\"),
      piece(1, '\\ude00"}'),
      piece(0, '\\"}'),
      { type: "content_block_stop", index: 1 },
      { type: "content_block_stop", index: 0 },
    ) +
    finish("tool_use");
  const { message } = await answerTo(replyStream(...Array.from(Buffer.from(wire), (byte) => Buffer.of(byte))));
  expect(message.content).toMatchObject([
    { id: "t0", arguments: { a: "café \\" } },
    { id: "t1", arguments: { b: "😀" } },
  ]);
});

test("arguments that come whole with the start of a call hold when no delta follows", async () => {
  const start = (index: number) =>
    sse({
      type: "content_block_start",
      index,
      content_block: { type: "tool_use", id: `t${index}`, name: "read", input: { path: "a" } },
    });
  const { message } = await answerTo(
    replyStream(begin, start(0), sse({ type: "content_block_stop", index: 0 }), start(1), finish("tool_use")),
  );
  expect(message.content).toMatchObject([{ arguments: { path: "a" } }, { arguments: { path: "a" } }]);
});

test("the output limit within arguments leaves a call that says so", async () => {
  const { message } = await answerTo(replyStream(begin, call(0, "t1", '{"path":"a'), finish("max_tokens")));
  expect(message).toMatchObject({
    stopReason: "length",
    content: [{ type: "toolCall", arguments: {}, argumentsError: expect.any(String) }],
  });
});

test("F125 the calls decide between stop and toolUse, and an unknown reason ends well", async () => {
  const of = async (body: string, reason: string) => (await answerTo(replyStream(begin, body, finish(reason)))).message;
  expect(await of(call(0, "t1", "{}"), "end_turn")).toMatchObject({
    stopReason: "toolUse",
    rawStopReason: "end_turn",
  });
  expect(await of(textBlock("a"), "tool_use")).toMatchObject({ stopReason: "stop", rawStopReason: "tool_use" });
  expect(await of(textBlock("a"), "from_the_future")).toMatchObject({ stopReason: "stop" });
  expect(await of(textBlock("a"), "stop_sequence")).toMatchObject({ stopReason: "stop" });
  expect(await of(textBlock("a"), "model_context_window_exceeded")).toMatchObject({ stopReason: "length" });
  expect(await of(textBlock("a"), "pause_turn")).toMatchObject({ stopReason: "stop", rawStopReason: "pause_turn" });
});

test("F125 a refusal is a content_filter failure with its explanation, and keeps the text before it", async () => {
  const end = sse(
    {
      type: "message_delta",
      delta: { stop_reason: "refusal", stop_details: { type: "refusal", category: "cyber", explanation: "No." } },
      usage: { output_tokens: 5 },
    },
    { type: "message_stop" },
  );
  const { message } = await answerTo(replyStream(begin, textBlock("Here"), end));
  expect(message).toMatchObject({
    stopReason: "error",
    rawStopReason: "refusal",
    failure: { kind: "content_filter" },
    errorMessage: "anthropic: the model refused (cyber): No.",
    content: [{ text: "Here" }],
  });
});

test("blocks of the service's own tools are kept verbatim at their places", async () => {
  const search = { type: "server_tool_use", id: "srv_1", name: "web_search", input: {} };
  const result = { type: "web_search_tool_result", tool_use_id: "srv_1", content: [{ url: "u" }] };
  const { message } = await answerTo(
    replyStream(
      begin,
      textBlock("a", 0),
      sse(
        { type: "content_block_start", index: 1, content_block: search },
        { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: '{"q":"x"}' } },
        { type: "content_block_stop", index: 1 },
        { type: "content_block_start", index: 2, content_block: result },
        { type: "content_block_stop", index: 2 },
      ),
      textBlock("b", 3),
      finish("pause_turn"),
    ),
  );
  expect(message.content).toEqual([
    { type: "text", text: "a" },
    { type: "text", text: "b" },
  ]);
  expect(message.providerBlocks).toEqual([
    { index: 1, block: { ...search, input: { q: "x" } } },
    { index: 1, block: result },
  ]);
});

test("F122 an error in the middle of the stream is typed, and what had arrived is kept", async () => {
  const error = sse({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } });
  const { message, events } = await answerTo(
    replyStream(begin, textBlock("Half"), call(1, "t1", '{"a":').replace(/event: content_block_stop[^]*$/, ""), error),
  );
  expect(message).toMatchObject({
    stopReason: "error",
    failure: { kind: "overloaded" },
    errorMessage: "anthropic: Overloaded",
    content: [{ text: "Half" }, { type: "toolCall", arguments: {}, argumentsError: expect.any(String) }],
  });
  expect(events.filter(({ type }) => type === "done" || type === "error")).toHaveLength(1);
});

test("F122 a stream that ends before the message does is a network failure, cleanly closed or reset", async () => {
  const closed = await answerTo(replyStream(begin, textBlock("Half")));
  expect(closed.message).toMatchObject({ stopReason: "error", failure: { kind: "network" } });
  const reset = await answerTo(replyCut(begin, textBlock("Half")));
  expect(reset.message).toMatchObject({
    stopReason: "error",
    failure: { kind: "network" },
    content: [{ text: "Half" }],
  });
});

test("a reset after the whole message does not undo it", async () => {
  const { message } = await answerTo(replyCut(begin, textBlock("All"), finish("end_turn")));
  expect(message).toMatchObject({ stopReason: "stop", content: [{ text: "All" }] });
});

test("error answers are typed by status and body, with retry-after, and name the variable for a key", async () => {
  const of = async (status: number, type: string, headers = {}) =>
    (await answerTo(replyJson(status, { type: "error", error: { type, message: "Why." } }, headers))).message;
  expect(await of(529, "overloaded_error")).toMatchObject({ failure: { kind: "overloaded", status: 529 } });
  expect(await of(429, "rate_limit_error", { "retry-after": "7" })).toMatchObject({
    failure: { kind: "rate_limit", status: 429, retryAfterMs: 7_000 },
  });
  expect(await of(401, "authentication_error")).toMatchObject({
    failure: { kind: "auth" },
    errorMessage: "anthropic: 401 Why. Set ANTHROPIC_API_KEY to a valid key.",
  });
  expect(await of(400, "invalid_request_error")).toMatchObject({ failure: { kind: "invalid_request" } });
  const html = await answerTo(replyJson(502, "<html><head><title>502 Bad Gateway</title></head></html>"));
  expect(html.message).toMatchObject({ failure: { kind: "server", status: 502 } });
  const long = await answerTo(
    replyJson(400, { error: { type: "invalid_request_error", message: "prompt is too long: 2 tokens > 1 maximum" } }),
  );
  expect(long.message).toMatchObject({ failure: { kind: "context_overflow" } });
});

test("a name that the API refuses comes back as the tool's own", async () => {
  const tools = [{ name: "disk.read", description: "", parameters: { type: "object", properties: {} } }];
  const reply = replyStream(begin, call(0, "t1"), finish("tool_use"));
  const { seen } = await answerTo(reply, { tools });
  const [sent] = (seen[0]?.body.tools ?? []) as { name: string }[];
  expect(sent?.name).toMatch(/^disk_read_\w+$/);
  const { message } = await answerTo(
    replyStream(begin, call(0, "t1").replace('"name":"read"', `"name":"${sent?.name}"`), finish("tool_use")),
    { tools },
  );
  expect(message.content).toMatchObject([{ name: "disk.read" }]);
});

test("the cost of a long prompt follows the model's tier", async () => {
  const haiku = model("claude-haiku-5-5");
  const { message } = await answerTo(
    replyStream(begin, textBlock("a"), finish("end_turn", { input_tokens: 200_000, output_tokens: 0 })),
    { model: haiku },
  );
  expect(message.usage.cost.input).toBeCloseTo(0.1, 12);
});

test("each event of the wire is told as it was sent, in its order, and the answer is the same", async () => {
  const told: unknown[] = [];
  const reply = replyStream(begin, textBlock("Hi"), finish("end_turn"));
  const { message } = await answerTo(reply, { onStreamEvent: async (data) => void told.push(data) });
  expect(told.map((data) => (data as { type: string }).type)).toEqual([
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
  ]);
  expect(told[2]).toEqual({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi" } });
  expect(message.content).toEqual((await answerTo(reply)).message.content);
});
