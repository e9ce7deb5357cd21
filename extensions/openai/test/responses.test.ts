import type { AssistantMessage, Message, ToolResultMessage } from "@pi-agent/kernel";
import { TEST_IMAGE, toolCall, toolResult, userMessage } from "@pi-agent/testing/provider";
import { expect, test } from "vitest";
import { toResponsesBody } from "../src/responses.ts";
import { createAnswer, createModel, createRequest } from "./support.ts";

const API = "openai-responses";
const reasoning = {
  type: "reasoning",
  id: "rs_1",
  summary: [{ type: "summary_text", text: "hm" }],
  encrypted_content: "x",
};

const user = userMessage("hi");
const call = (id: string) => toolCall(id, { arguments: { p: 1 } });
const result = (id: string, changes: Partial<ToolResultMessage> = {}) => toolResult(id, "found", changes);
const own = (content: AssistantMessage["content"], changes: Partial<AssistantMessage> = {}) =>
  createAnswer(content, { api: API, ...changes });
const thinking = { type: "thinking", thinking: "hm", thinkingSignature: JSON.stringify(reasoning) } as const;

function inputOf(messages: readonly Message[], changes = {}) {
  return toResponsesBody(createRequest({ model: createModel({ api: API, reasoning: true, ...changes }), messages }))
    .input;
}

test("a request asks for nothing to be stored, and for reasoning that carries itself", () => {
  const body = toResponsesBody(
    createRequest({
      model: createModel({ api: API, reasoning: true }),
      systemPrompt: "Be brief.",
      thinkingLevel: "high",
      maxTokens: 4,
      temperature: 1,
      tools: [{ name: "read", description: "Reads.", parameters: { properties: { p: {} } } }],
    }),
  );
  expect(body).toEqual({
    model: "m1",
    instructions: "Be brief.",
    input: [{ role: "user", content: [{ type: "input_text", text: "Hello" }] }],
    stream: true,
    store: false,
    max_output_tokens: 16,
    reasoning: { effort: "high", summary: "auto" },
    include: ["reasoning.encrypted_content"],
    prompt_cache_key: "session-1",
    tools: [
      {
        type: "function",
        name: "read",
        description: "Reads.",
        parameters: { type: "object", properties: { p: {} } },
        strict: false,
      },
    ],
  });
});

test("only OpenAI's own server gets a cache key, and none without retention", () => {
  const model = createModel({ api: API });
  expect(toResponsesBody(createRequest({ model, cacheRetention: "none" }))).not.toHaveProperty("prompt_cache_key");
  const other = createModel({ api: API, baseUrl: "http://127.0.0.1:9/v1" });
  expect(toResponsesBody(createRequest({ model: other }))).not.toHaveProperty("prompt_cache_key");
});

test("an answer goes back with its reasoning in its place, its phase, its calls and their results", () => {
  const answer = own([
    thinking,
    { type: "text", text: "a", textSignature: '{"v":1,"id":"m","phase":"commentary"}' },
    call("c1"),
  ]);
  expect(inputOf([user, answer, result("c1")])).toEqual([
    { role: "user", content: [{ type: "input_text", text: "hi" }] },
    reasoning,
    { role: "assistant", content: "a", phase: "commentary" },
    { type: "function_call", call_id: "c1", name: "read", arguments: '{"p":1}' },
    { type: "function_call_output", call_id: "c1", output: "found" },
  ]);
});

test("reasoning does not go to another model, nor without what it led to, nor to OpenAI without its content", () => {
  expect(JSON.stringify(inputOf([own([thinking, call("c1")], { model: "m2" })]))).not.toContain("reasoning");
  expect(inputOf([own([thinking])])).toEqual([]);
  const bare = { ...thinking, thinkingSignature: '{"type":"reasoning","id":"rs_1","summary":[]}' };
  expect(JSON.stringify(inputOf([own([bare, call("c1")])]))).not.toContain("rs_1");
  const elsewhere = inputOf([own([bare, call("c1")])], { baseUrl: "http://127.0.0.1:9/v1" });
  expect(JSON.stringify(elsewhere)).toContain("rs_1");
});

test("items that are none of ours go back at their places", () => {
  const search = { type: "web_search_call", id: "ws_1" };
  const answer = own([{ type: "text", text: "a" }], { providerBlocks: [{ index: 0, block: search }] });
  expect(inputOf([answer])).toEqual([search, { role: "assistant", content: "a" }]);
});

test("images go in messages and in results", () => {
  const input = inputOf([
    { role: "user", content: [TEST_IMAGE], timestamp: 0 },
    own([call("c1")]),
    result("c1", { content: [TEST_IMAGE] }),
  ]);
  const wire = { type: "input_image", image_url: "data:image/png;base64,AAAA", detail: "auto" };
  expect(input).toMatchObject([{ content: [wire] }, {}, { type: "function_call_output", output: [wire] }]);
});

test("F130 odd ids fit, and results follow; Pi's ids lose the id of the item", () => {
  const ids = [`call_abc|fc_${"0".repeat(450)}`, "read:0", "a.b", "x".repeat(65)];
  const input = inputOf([own(ids.map(call), { provider: "google" }), ...ids.map((id) => result(id))]);
  const wire = JSON.parse(JSON.stringify(input)).map((one: { call_id: string }) => one.call_id);
  for (const id of wire) expect(id).toMatch(/^[\w-]{1,64}$/);
  expect(wire[0]).toBe("call_abc");
  expect(wire.slice(0, 4)).toEqual(wire.slice(4));
  expect(new Set(wire).size).toBe(4);
});

test("F131 an unanswered call gets a result, and no failed answer is sent", () => {
  const input = inputOf([own([call("c1")]), user, own([call("c2")], { stopReason: "aborted" }), result("c2"), user]);
  expect(input).toMatchObject([
    { call_id: "c1" },
    { call_id: "c1", type: "function_call_output" },
    { role: "user" },
    { role: "user" },
  ]);
});

test("F131 turn by turn a payload is what the whole conversation would make at once, and earlier ones do not change", () => {
  const messages: Message[] = [
    userMessage("hi"),
    own([toolCall("a"), toolCall("b")]),
    toolResult("b", "", { content: [TEST_IMAGE] }),
    toolResult("a", "found"),
    own([toolCall("a")]),
    toolResult("a", "", { content: [TEST_IMAGE], isError: true }),
    own([toolCall("x y!"), toolCall("lost")], { api: "other", provider: "other", model: "other" }),
    toolResult("x y!", "there"),
    userMessage("go on"),
    own([{ type: "text", text: "half" }], { stopReason: "aborted" }),
    userMessage("again"),
    own([toolCall("open")]),
  ];
  const frozen = messages.map((message) => Object.freeze({ ...message }));
  const sent = frozen.map((_, at) => inputOf(frozen.slice(0, at + 1)));
  const atOnce = messages.map((_, at) => inputOf(structuredClone(messages.slice(0, at + 1))));
  expect(sent).toEqual(atOnce);
});
