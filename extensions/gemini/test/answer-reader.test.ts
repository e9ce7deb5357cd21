import { replyJson, replyStream } from "@pi-agent/testing/provider";
import { expect, test } from "vitest";
import { answerTo, finish, model, parts, sse, USAGE } from "./chunks.ts";

const answer = async (...chunks: object[]) => (await answerTo(replyStream(sse(...chunks)))).message;

test("text in chunks, its events, ids, usage and cost", async () => {
  const usageMetadata = {
    promptTokenCount: 1_000,
    cachedContentTokenCount: 400,
    toolUsePromptTokenCount: 50,
    candidatesTokenCount: 20,
    thoughtsTokenCount: 30,
    totalTokenCount: 1_100,
  };
  const first = { ...parts({ text: "Hel" }), responseId: "r1", modelVersion: "gemini-3.8-flash-001" };
  const { events, message } = await answerTo(
    replyStream(sse(first, parts({ text: "lo" }), { ...finish("STOP"), usageMetadata })),
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
    responseModel: "gemini-3.8-flash-001",
    stopReason: "stop",
    rawStopReason: "STOP",
  });
  expect(message.usage).toMatchObject({
    input: 650,
    output: 50,
    cacheRead: 400,
    cacheWrite: 0,
    reasoning: 30,
    totalTokens: 1_100,
  });
  // 650 at 0.75, 50 at 3.75 and 400 at 0.075 dollars a million.
  expect(message.usage.cost.total).toBeCloseTo((487.5 + 187.5 + 30) / 1e6, 12);
});

test("F115 signatures stay with what they came with: thoughts, texts, an empty last part, a call", async () => {
  expect(
    (
      await answer(
        parts({ text: "Hm", thought: true }, { text: "m", thought: true, thoughtSignature: "s1" }),
        parts({ text: "Yes" }, { text: "", thoughtSignature: "s2" }),
        finish("STOP"),
      )
    ).content,
  ).toEqual([
    { type: "thinking", thinking: "Hmm", thinkingSignature: "s1" },
    { type: "text", text: "Yes", textSignature: "s2" },
  ]);
  expect(
    (
      await answer(
        parts({ functionCall: { name: "read", args: { p: 1 }, id: "c1" }, thoughtSignature: "s3" }),
        parts({ text: "", thoughtSignature: "s4" }),
        finish("STOP"),
      )
    ).content,
  ).toEqual([
    { type: "toolCall", id: "c1", name: "read", arguments: { p: 1 }, thoughtSignature: "s3" },
    { type: "text", text: "", textSignature: "s4" },
  ]);
  const two = await answer(
    parts({ text: "a", thoughtSignature: "s5" }, { text: "b", thoughtSignature: "s6" }),
    finish("STOP"),
  );
  expect(two.content).toMatchObject([{ textSignature: "s5" }, { textSignature: "s6" }]);
});

test("F118 ids that are missing, empty, null or the same are made unique", async () => {
  const call = (id?: string | null) => ({ functionCall: { name: "read", args: {}, ...(id !== undefined && { id }) } });
  const { content } = await answer(parts(call(), call(""), call(null), call("x"), call("x")), finish("STOP"));
  const ids = content.map((block) => (block.type === "toolCall" ? block.id : ""));
  expect(new Set(ids).size).toBe(5);
  expect(ids).not.toContain("");
  expect(ids[3]).toBe("x");
});

test("a call without arguments has an empty object", async () => {
  const { content, stopReason } = await answer(parts({ functionCall: { name: "now" } }), finish("STOP"));
  expect(content).toMatchObject([{ type: "toolCall", name: "now", arguments: {} }]);
  expect(stopReason).toBe("toolUse");
});

test("arguments in pieces are put together, also of calls that follow each other", async () => {
  const piece = (jsonPath: string, more: object) => ({
    functionCall: { partialArgs: [{ jsonPath, ...more }], willContinue: true },
  });
  const { content } = await answer(
    parts({ functionCall: { name: "cook", willContinue: true }, thoughtSignature: "s" }),
    parts(piece("$.steps[0].text", { stringValue: "Wa", willContinue: true })),
    parts(piece("$.steps[0].text", { stringValue: "it" }), piece("$['a.b']", { numberValue: 2 })),
    parts(piece("$.steps[1]", { boolValue: true }), piece("$.none", { nullValue: "NULL_VALUE" })),
    parts({ functionCall: {} }),
    parts({ functionCall: { name: "now", willContinue: true } }, { functionCall: {} }),
    finish("STOP"),
  );
  expect(content).toMatchObject([
    { arguments: { steps: [{ text: "Wait" }, true], "a.b": 2, none: null }, thoughtSignature: "s" },
    { name: "now", arguments: {} },
  ]);
});

test("arguments in pieces that the output limit cut leave a call that says so", async () => {
  const { content, stopReason } = await answer(
    parts({ functionCall: { name: "cook", willContinue: true } }),
    finish("MAX_TOKENS"),
  );
  expect(stopReason).toBe("length");
  expect(content).toMatchObject([{ arguments: {}, argumentsError: expect.any(String) }]);
});

test("parts that are none of ours are kept verbatim at their places", async () => {
  const code = { executableCode: { language: "PYTHON", code: "1" }, thoughtSignature: "s" };
  const result = { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1" } };
  const message = await answer(parts({ text: "a" }, code, result, { text: "b" }), finish("STOP"));
  expect(message.content).toEqual([
    { type: "text", text: "a" },
    { type: "text", text: "b" },
  ]);
  expect(message.providerBlocks).toEqual([
    { index: 1, block: code },
    { index: 1, block: result },
  ]);
});

test.each([
  ["nothing at all", {}, "network", undefined],
  ["no candidates", { candidates: [] }, "network", undefined],
  ["usage only", USAGE, "network", undefined],
  ["a blocked prompt", { promptFeedback: { blockReason: "SAFETY" } }, "content_filter", "SAFETY"],
  [
    "a malformed call",
    { candidates: [{ finishReason: "MALFORMED_FUNCTION_CALL" }] },
    "malformed_response",
    "MALFORMED_FUNCTION_CALL",
  ],
  ["an empty STOP", finish("STOP"), "malformed_response", "STOP"],
  ["an unexpected call", finish("UNEXPECTED_TOOL_CALL"), "malformed_response", "UNEXPECTED_TOOL_CALL"],
  ["a safety stop", finish("SAFETY"), "content_filter", "SAFETY"],
  ["a stop of the future", finish("BORED"), "unknown", "BORED"],
])("F119 %s is a typed failure", async (_, chunk, kind, raw) => {
  const message = await answer(chunk);
  expect(message).toMatchObject({ stopReason: "error", failure: { kind }, content: [] });
  expect(message.rawStopReason).toBe(raw);
  expect(message.errorMessage).toMatch(/^google: /);
});

test("F119 text before a stop for recitation is kept, and the service's own words are told", async () => {
  const message = await answer(parts({ text: "Once" }), finish("RECITATION", { finishMessage: "Too close." }));
  expect(message).toMatchObject({
    failure: { kind: "content_filter" },
    content: [{ text: "Once" }],
    errorMessage: "google: Too close (RECITATION).",
  });
});

test("F119 thoughts alone are no answer, and the output limit without a text is a length stop", async () => {
  expect(await answer(parts({ text: "Hm", thought: true }), finish("STOP"))).toMatchObject({
    failure: { kind: "malformed_response" },
  });
  expect(await answer(finish("MAX_TOKENS"))).toMatchObject({ stopReason: "length", rawStopReason: "MAX_TOKENS" });
});

test("F122 an error in the stream and an end without a reason are failures that keep what had arrived", async () => {
  const error = { error: { code: 503, message: "Overloaded.", status: "UNAVAILABLE" } };
  expect(await answer(parts({ text: "Half" }), error)).toMatchObject({
    stopReason: "error",
    failure: { kind: "overloaded" },
    content: [{ text: "Half" }],
    errorMessage: "google: Overloaded.",
  });
  expect(await answer(parts({ text: "Half" }))).toMatchObject({
    stopReason: "error",
    failure: { kind: "network" },
    content: [{ text: "Half" }],
  });
});

test("F125 STOP with calls is a stop for tools", async () => {
  const message = await answer(
    parts({ text: "Let me see" }, { functionCall: { name: "read", args: {} } }),
    finish("STOP"),
  );
  expect(message).toMatchObject({ stopReason: "toolUse", rawStopReason: "STOP" });
});

test("error answers are typed, with the delay of RetryInfo, also in an array", async () => {
  const of = async (status: number, error: object) => (await answerTo(replyJson(status, { error }))).message;
  expect(await of(503, { code: 503, message: "Busy.", status: "UNAVAILABLE" })).toMatchObject({
    failure: { kind: "overloaded", status: 503 },
  });
  expect(
    await of(429, {
      message: "Slow down.",
      status: "RESOURCE_EXHAUSTED",
      details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.5s" }],
    }),
  ).toMatchObject({ failure: { kind: "rate_limit", status: 429, retryAfterMs: 34_500 } });
  const key = await of(400, { message: "API key not valid.", status: "INVALID_ARGUMENT" });
  expect(key).toMatchObject({
    failure: { kind: "auth" },
    errorMessage: "google: 400 API key not valid. Set GEMINI_API_KEY or GOOGLE_API_KEY to a valid key.",
  });
  const long = "The input token count (9) exceeds the maximum number of tokens allowed (1).";
  const array = await answerTo(replyJson(400, [{ error: { message: long, status: "INVALID_ARGUMENT" } }]));
  expect(array.message).toMatchObject({ failure: { kind: "context_overflow" } });
});

test("a name that the API refuses comes back as the tool's own", async () => {
  const tools = [{ name: "1 read", description: "", parameters: { type: "object", properties: {} } }];
  const { message } = await answerTo(
    (response, { body }) => {
      const [{ functionDeclarations }] = body.tools as [{ functionDeclarations: { name: string }[] }];
      const name = functionDeclarations[0]!.name;
      expect(name).toMatch(/^[A-Za-z_][\w.-]{0,63}$/);
      response.end(sse(parts({ functionCall: { name, args: {} } }), finish("STOP")));
    },
    { tools },
  );
  expect(message.content).toMatchObject([{ name: "1 read" }]);
});

test("the cost of a long prompt follows the model's tier", async () => {
  const usageMetadata = { promptTokenCount: 300_000, candidatesTokenCount: 0 };
  const { message } = await answerTo(replyStream(sse(parts({ text: "a" }), { ...finish("STOP"), usageMetadata })), {
    model: model("gemini-2.5-pro"),
  });
  expect(message.usage.cost.input).toBeCloseTo(0.75, 12);
});

test("each event of the wire is told as it was sent, in its order, and the answer is the same", async () => {
  const told: unknown[] = [];
  const chunks = [parts({ text: "Hi" }), parts({ text: "!" }), finish("STOP")];
  const reply = replyStream(sse(...chunks));
  const { message } = await answerTo(reply, { onStreamEvent: async (data) => void told.push(data) });
  expect(told).toEqual(chunks);
  expect(message.content).toEqual((await answerTo(reply)).message.content);
});
