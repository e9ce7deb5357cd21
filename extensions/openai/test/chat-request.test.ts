import type { AssistantMessage, JsonObject, Message, Model, ToolResultMessage } from "@pi-agent/kernel";
import { TEST_IMAGE, toolCall, toolResult, userMessage } from "@pi-agent/testing/provider";
import { expect, test } from "vitest";
import { toChatBody } from "../src/chat.ts";
import { createAnswer, createModel, createRequest } from "./support.ts";

const LOCAL = "http://127.0.0.1:9/v1";
const call = (id: string, name = "read") => toolCall(id, { name, arguments: { path: "a" } });
/** The result of a call, which says the call's id. */
const result = (id: string, changes: Partial<ToolResultMessage> = {}) => toolResult(id, id, changes);
const calls = (ids: readonly string[], changes: Partial<AssistantMessage> = {}) =>
  createAnswer(
    ids.map((id) => call(id)),
    changes,
  );

interface Wire {
  role: string;
  content: unknown;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
  [field: string]: unknown;
}

function wireOf(messages: readonly Message[], model: Partial<Model> = {}, systemPrompt = ""): Wire[] {
  const body = toChatBody(createRequest({ model: createModel(model), messages, systemPrompt }));
  return JSON.parse(JSON.stringify(body.messages));
}

test("a conversation becomes messages, a custom message the user's", () => {
  const wire = wireOf(
    [
      userMessage("hi"),
      createAnswer([{ type: "text", text: "I read." }, call("c1")]),
      result("c1"),
      { role: "custom", customType: "note", content: "mind this", display: true, timestamp: 0 },
    ],
    {},
    "Be brief.",
  );
  expect(wire).toEqual([
    { role: "system", content: "Be brief." },
    { role: "user", content: "hi" },
    {
      role: "assistant",
      content: "I read.",
      tool_calls: [{ id: "c1", type: "function", function: { name: "read", arguments: '{"path":"a"}' } }],
    },
    { role: "tool", tool_call_id: "c1", content: "c1" },
    { role: "user", content: "mind this" },
  ]);
});

test("images go in the user's message; those of tool results follow all results of the turn", () => {
  const wire = wireOf([
    { role: "user", content: [{ type: "text", text: "see" }, TEST_IMAGE], timestamp: 0 },
    calls(["c1", "c2"]),
    result("c1", { content: [TEST_IMAGE] }),
    toolResult("c2"),
    userMessage("next"),
  ]);
  const url = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
  expect(wire[0]?.content).toEqual([{ type: "text", text: "see" }, url]);
  expect(wire.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool", "user", "user"]);
  expect(wire[3]?.content).toBe("(no output)");
  expect(wire[4]?.content).toEqual([{ type: "text", text: expect.any(String) }, url]);
});

test("F128 an answer with calls and no text has null for its content", () => {
  expect(wireOf([calls(["c1"])])[0]?.content).toBeNull();
});

test("F128 reasoning goes back in the field it came in, only to the model that made it", () => {
  const thought = createAnswer([
    { type: "thinking", thinking: "hm", thinkingSignature: "reasoning_content" },
    { type: "text", text: "a" },
  ]);
  expect(wireOf([thought])[0]).toEqual({ role: "assistant", content: "a", reasoning_content: "hm" });
  expect(wireOf([thought], { id: "m2" })[0]).toEqual({ role: "assistant", content: "a" });
});

test("F128 reasoning_details go back as they came, instead of the text", () => {
  const details = [{ type: "reasoning.encrypted", data: "x" }];
  const thought = createAnswer([{ type: "thinking", thinking: "hm", thinkingSignature: "reasoning" }, call("c1")], {
    providerBlocks: [{ index: 2, block: { type: "reasoning_details", reasoning_details: details } }],
  });
  expect(wireOf([thought])[0]).toMatchObject({ reasoning_details: details });
  expect(wireOf([thought])[0]).not.toHaveProperty("reasoning");
  expect(wireOf([thought], { id: "m2" })[0]).not.toHaveProperty("reasoning_details");
});

test("F128 a server may want reasoning as text, or in every answer", () => {
  const thought = createAnswer([
    { type: "thinking", thinking: "hm" },
    { type: "text", text: "a" },
  ]);
  const asText = wireOf([thought], { baseUrl: LOCAL, compat: { requiresThinkingAsText: true } });
  expect(asText[0]?.content).toBe("<thinking>\nhm\n</thinking>\na");
  const model = { baseUrl: "https://api.deepseek.com", reasoning: true };
  expect(wireOf([createAnswer([{ type: "text", text: "a" }])], model)[0]).toMatchObject({ reasoning_content: "" });
});

const FOREIGN = { api: "google-generative-ai", provider: "google", model: "g" };
const ODD_IDS = [`call_abc|fc_${"0".repeat(450)}`, "read:0", "a.b", "ünï", "x".repeat(41), "x".repeat(42)];

test.each([
  ["OpenAI", {}, /^[A-Za-z0-9_-]{1,40}$/],
  ["Mistral", { baseUrl: "https://api.mistral.ai/v1" }, /^[A-Za-z0-9]{9}$/],
])(
  "F130 odd ids of another provider fit %s, two stay two, results follow, and a later request says the same",
  (_name, model, pattern) => {
    const history = [calls(ODD_IDS, FOREIGN), ...ODD_IDS.map((id) => result(id))];
    const wire = wireOf(history, model);
    const ids = wire[0]?.tool_calls?.map(({ id }) => id) ?? [];
    for (const id of ids) expect(id).toMatch(pattern);
    expect(new Set(ids).size).toBe(ODD_IDS.length);
    expect(wire.slice(1).map((one) => one.tool_call_id)).toEqual(ids);
    expect(wire.slice(1).map((one) => one.content)).toEqual(ODD_IDS);
    expect(wireOf([...history, userMessage("more")], model).slice(0, wire.length)).toEqual(wire);
  },
);

test("F130 a model's own ids go back as they came", () => {
  const wire = wireOf([calls(["functions.read:0"]), result("functions.read:0")]);
  expect(wire[0]?.tool_calls?.[0]?.id).toBe("functions.read:0");
  expect(wire[1]?.tool_call_id).toBe("functions.read:0");
});

test("F118 an id that is used again in a later turn belongs to the call before it", () => {
  const ids = ["read:0"];
  const wire = wireOf([calls(ids, FOREIGN), result("read:0"), userMessage("more"), calls(ids), result("read:0")]);
  expect(wire[0]?.tool_calls?.[0]?.id).toBe(wire[1]?.tool_call_id);
  expect(wire[3]?.tool_calls?.[0]?.id).toBe(wire[4]?.tool_call_id);
  expect(wire[4]?.tool_call_id).toBe("read:0");
});

test("F131 an unanswered call gets a result, and no empty or failed answer is sent", () => {
  const wire = wireOf([
    userMessage("go"),
    calls(["c1", "c2"]),
    result("c1"),
    userMessage("and"),
    createAnswer([call("c3")], { stopReason: "aborted" }),
    result("c3"),
    createAnswer([]),
    createAnswer([{ type: "thinking", thinking: "hm" }]),
    userMessage("more"),
  ]);
  expect(wire.map(({ role, tool_call_id: id }) => id ?? role)).toEqual([
    "user",
    "assistant",
    "c1",
    "c2",
    "user",
    "user",
  ]);
});

test("F131 a call of a tool that is gone, and one that could not be read, are legal", () => {
  const broken = { ...call("c1", "gone/away"), arguments: {}, argumentsError: "not JSON" };
  const [wire] = wireOf([createAnswer([broken])]);
  expect(wire?.tool_calls?.[0]?.function).toEqual({ name: expect.stringMatching(/^[\w-]{1,64}$/), arguments: "{}" });
});

test("lone halves of a character never reach the wire", () => {
  const wire = JSON.stringify(
    wireOf([userMessage("a\ud800"), createAnswer([{ type: "text", text: "\udfff" }])], {}, "s\ud800"),
  );
  expect(wire).not.toMatch(/\\ud[89a-f]/);
});

test("a message is converted once: the next turn has the same objects", () => {
  const model = createModel();
  const history = [userMessage("hi"), createAnswer([{ type: "text", text: "a" }])].map((message) =>
    Object.freeze(message),
  );
  const first = toChatBody(createRequest({ model, messages: history })).messages;
  const second = toChatBody(createRequest({ model, messages: [...history, userMessage("more")] })).messages;
  if (!Array.isArray(first) || !Array.isArray(second)) throw new Error("no messages");
  expect(first).toHaveLength(2);
  expect(second[0]).toBe(first[0]);
  expect(second[1]).toBe(first[1]);
});

test("OpenAI's own server gets its own fields, any other what all take", () => {
  const reasoning = { reasoning: true, thinkingLevelMap: { off: "none", max: "max" } };
  const common = { systemPrompt: "s", maxTokens: 5, temperature: 0.5 };
  const tools = [{ name: "read", description: "Reads.", parameters: {} }];
  const original = toChatBody(
    createRequest({ ...common, tools, model: createModel(reasoning), thinkingLevel: "max", cacheRetention: "long" }),
  );
  expect(original).toEqual({
    model: "m1",
    messages: [
      { role: "developer", content: "s" },
      { role: "user", content: "Hello" },
    ],
    stream: true,
    stream_options: { include_usage: true },
    store: false,
    max_completion_tokens: 5,
    reasoning_effort: "max",
    prompt_cache_key: "session-1",
    prompt_cache_retention: "24h",
    tools: [
      {
        type: "function",
        function: { name: "read", description: "Reads.", parameters: { type: "object", properties: {} } },
      },
    ],
  });
  const other = toChatBody(
    createRequest({ ...common, model: createModel({ ...reasoning, baseUrl: LOCAL }), thinkingLevel: "low" }),
  );
  expect(other).toEqual({
    model: "m1",
    messages: [
      { role: "system", content: "s" },
      { role: "user", content: "Hello" },
    ],
    stream: true,
    stream_options: { include_usage: true },
    max_tokens: 5,
    temperature: 0.5,
    reasoning_effort: "low",
  });
});

test.each<[string, Partial<Model>, object]>([
  ["supportsStore", { compat: { supportsStore: true } }, { store: false }],
  ["supportsUsageInStreaming", { compat: { supportsUsageInStreaming: false } }, { stream_options: undefined }],
  [
    "maxTokensField",
    { compat: { maxTokensField: "max_completion_tokens" } },
    { max_completion_tokens: 5, max_tokens: undefined },
  ],
  ["supportsReasoningEffort", { compat: { supportsReasoningEffort: false } }, { reasoning_effort: undefined }],
  ["supportsPromptCacheKey", { compat: { supportsPromptCacheKey: true } }, { prompt_cache_key: "session-1" }],
  ["thinkingFormat openrouter", { compat: { thinkingFormat: "openrouter" } }, { reasoning: { effort: "low" } }],
  ["thinkingFormat zai", { compat: { thinkingFormat: "zai" } }, { thinking: { type: "enabled" } }],
  [
    "thinkingFormat deepseek",
    { compat: { thinkingFormat: "deepseek" } },
    { thinking: { type: "enabled" }, reasoning_effort: "low" },
  ],
  ["thinkingFormat qwen", { compat: { thinkingFormat: "qwen" } }, { enable_thinking: true }],
  [
    "thinkingFormat qwen-chat-template",
    { compat: { thinkingFormat: "qwen-chat-template" } },
    { chat_template_kwargs: { enable_thinking: true } },
  ],
  ["openRouterRouting", { compat: { openRouterRouting: { only: ["x"] } } }, { provider: { only: ["x"] } }],
  ["samplingParams", { samplingParams: { top_p: 0.5, stream: false } }, { top_p: 0.5, stream: true }],
  ["a level the model lacks", { thinkingLevelMap: { low: null } }, { reasoning_effort: "medium" }],
])("%s changes the request", (_name, changes, expected) => {
  const model = createModel({ baseUrl: LOCAL, reasoning: true, ...changes });
  const body = toChatBody(createRequest({ model, thinkingLevel: "low", maxTokens: 5 }));
  for (const [field, value] of Object.entries(expected)) expect(body[field]).toEqual(value);
});

test("compat flags for the order and shape of messages", () => {
  const compat = { requiresToolResultName: true, requiresAssistantAfterToolResult: true, supportsDeveloperRole: true };
  const wire = wireOf(
    [calls(["c1"]), result("c1"), userMessage("x")],
    { baseUrl: LOCAL, compat, reasoning: true },
    "s",
  );
  expect(wire.map(({ role }) => role)).toEqual(["developer", "assistant", "tool", "assistant", "user"]);
  expect(wire[2]?.name).toBe("read");
});

test("a tool whose schema is no plain object is told in one, with the exact schema in words", () => {
  const parameters: JsonObject = {
    anyOf: [
      { type: "object", properties: { a: {} }, required: ["a"] },
      { type: "object", properties: { b: {} } },
    ],
  };
  const body = toChatBody(createRequest({ tools: [{ name: "either", description: "Takes either.", parameters }] }));
  expect(body.tools).toMatchObject([
    {
      function: {
        description: expect.stringContaining(JSON.stringify(parameters)),
        parameters: { type: "object", properties: { a: {}, b: {} } },
      },
    },
  ]);
});

test("F131 turn by turn a payload is what the whole conversation would make at once, and earlier ones do not change", () => {
  const messages: Message[] = [
    userMessage("hi"),
    createAnswer([toolCall("a"), toolCall("b")]),
    toolResult("b", "", { content: [TEST_IMAGE] }),
    toolResult("a", "found"),
    createAnswer([toolCall("a")]),
    toolResult("a", "", { content: [TEST_IMAGE], isError: true }),
    createAnswer([toolCall("x y!"), toolCall("lost")], { api: "other", provider: "other", model: "other" }),
    toolResult("x y!", "there"),
    userMessage("go on"),
    createAnswer([{ type: "text", text: "half" }], { stopReason: "aborted" }),
    userMessage("again"),
    createAnswer([toolCall("open")]),
  ];
  const model = createModel({ compat: { requiresAssistantAfterToolResult: true } });
  const bodyOf = (some: readonly Message[]) => toChatBody(createRequest({ model, messages: some })).messages;
  const frozen = messages.map((message) => Object.freeze({ ...message }));
  const sent = frozen.map((_, at) => bodyOf(frozen.slice(0, at + 1)));
  const atOnce = messages.map((_, at) => bodyOf(structuredClone(messages.slice(0, at + 1))));
  expect(sent).toEqual(atOnce);
});
