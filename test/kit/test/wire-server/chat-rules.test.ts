import { afterAll, beforeAll, expect, test } from "vitest";
import { at, type Body, but, openWire, type Wire } from "./exchange.ts";
import { type RuleCase, testRules } from "./rule-cases.ts";

let wire: Wire;
beforeAll(async () => {
  wire = await openWire("chat", () => ({ text: "done" }));
});
afterAll(() => wire.server.close());

const image = (type = "png") => ({ type: "image_url", image_url: { url: `data:image/${type};base64,iVBORw0KGgo=` } });
const call = (id: string) => ({ id, type: "function", function: { name: "read", arguments: '{"path":"a"}' } });
const PARAMETERS = {
  type: "object",
  properties: { path: { type: "string" } },
  required: ["path"],
  additionalProperties: false,
};
/** Two calls, the first answer without text, and their results. */
const GOOD = {
  model: "scripted",
  stream: true,
  stream_options: { include_usage: true },
  max_completion_tokens: 4096,
  tools: [
    { type: "function", function: { name: "read", description: "Reads.", parameters: PARAMETERS, strict: true } },
  ],
  messages: [
    { role: "developer", content: "You help." },
    { role: "user", content: [{ type: "text", text: "Read both." }, image()] },
    { role: "assistant", content: null, tool_calls: [call("call_a"), call("call_b")] },
    { role: "tool", tool_call_id: "call_a", content: "alpha" },
    { role: "tool", tool_call_id: "call_b", content: "" },
  ] as Body[],
} as Body;

const message = (index: number, change: Body) =>
  but(GOOD, (body) => Object.assign(at(body, "messages", index), change));
const tool = (change: Body) => but(GOOD, (body) => Object.assign(at(body, "tools", 0, "function"), change));
const withCall = (change: (call: Body) => void) =>
  but(GOOD, (body) => change(at(body, "messages", 2, "tool_calls", 0)));

const CASES: RuleCase[] = [
  { rule: "key-missing", status: 401, bad: GOOD, headers: {} },
  { rule: "key-wrong", status: 401, bad: GOOD, headers: { authorization: "Bearer other" } },
  { rule: "body-not-json", bad: "[]" },
  { rule: "lone-surrogate", bad: message(0, { content: "\ude00" }), good: message(0, { content: "\ud83d\ude00" }) },
  { rule: "unknown-parameter", bad: { ...GOOD, thinking: {} } },
  { rule: "not-streaming", bad: { ...GOOD, stream: undefined } },
  { rule: "model-unknown", status: 404, bad: { ...GOOD, model: "gpt-nonexistent" } },
  { rule: "messages-missing", bad: { ...GOOD, messages: [] } },
  {
    rule: "two-token-limits",
    bad: { ...GOOD, max_tokens: 1 },
    good: { ...GOOD, max_tokens: 1, max_completion_tokens: undefined },
  },
  { rule: "tools-shape", bad: { ...GOOD, tools: [] }, good: { ...GOOD, tools: undefined } },
  { rule: "tools-shape", bad: { ...GOOD, tools: [{ name: "read" }] } },
  {
    rule: "tool-choice-without-tools",
    bad: { ...GOOD, tools: undefined, tool_choice: "auto" },
    good: { ...GOOD, tool_choice: "auto" },
  },
  { rule: "tool-choice-without-tools", bad: { ...GOOD, tools: undefined, parallel_tool_calls: true } },
  { rule: "tool-name", bad: tool({ name: "fs.read" }) },
  { rule: "tool-name", bad: tool({ name: "r".repeat(65) }), good: tool({ name: "r".repeat(64) }) },
  { rule: "tool-schema-root", bad: tool({ parameters: { anyOf: [PARAMETERS] } }) },
  { rule: "tool-schema-root", bad: tool({ parameters: { type: "string" } }) },
  {
    rule: "tool-schema-strict",
    bad: tool({ parameters: { ...PARAMETERS, required: [] } }),
    good: tool({ parameters: { ...PARAMETERS, required: [] }, strict: false }),
  },
  { rule: "tool-schema-strict", bad: tool({ parameters: { ...PARAMETERS, additionalProperties: true } }) },
  { rule: "role-unknown", bad: message(0, { role: "custom" }), good: message(0, { role: "system" }) },
  {
    rule: "content-null",
    bad: message(2, { tool_calls: undefined }),
    good: message(2, { content: undefined }),
  },
  { rule: "content-null", bad: message(1, { content: null }) },
  { rule: "content-null", bad: message(3, { content: null }) },
  { rule: "content-shape", bad: message(1, { content: [] }) },
  { rule: "content-shape", bad: message(1, { content: { text: "x" } }) },
  { rule: "content-shape", bad: message(1, { content: [{ type: "input_text", text: "x" }] }) },
  {
    rule: "content-shape",
    bad: message(1, { content: [image("bmp")] }),
    good: message(1, { content: [image("gif")] }),
  },
  {
    rule: "image-place",
    bad: message(3, { content: [image()] }),
    good: message(3, { content: [{ type: "text", text: "x" }] }),
  },
  { rule: "tool-calls-empty", bad: message(2, { content: "x", tool_calls: [] }) },
  { rule: "tool-call-shape", bad: withCall((each) => delete each.type) },
  { rule: "tool-call-shape", bad: withCall((each) => (at(each, "function").arguments = { path: "a" })) },
  {
    rule: "tool-call-id",
    bad: but(GOOD, (body) => {
      at(body, "messages", 2, "tool_calls", 0).id = "c".repeat(41);
      at(body, "messages", 3).tool_call_id = "c".repeat(41);
    }),
    good: but(GOOD, (body) => {
      at(body, "messages", 2, "tool_calls", 0).id = "c".repeat(40);
      at(body, "messages", 3).tool_call_id = "c".repeat(40);
    }),
  },
  { rule: "tool-call-id", bad: withCall((each) => (each.id = "")) },
  { rule: "tool-call-name", bad: withCall((each) => (at(each, "function").name = "fs/read")) },
  { rule: "tool-result-without-call", bad: message(3, { tool_call_id: "call_x" }) },
  {
    rule: "tool-result-without-call",
    bad: but(GOOD, (body) => (body.messages as Body[]).splice(4, 0, { role: "user", content: "wait" })),
  },
  {
    rule: "tool-result-repeated",
    bad: but(GOOD, (body) => (body.messages as Body[]).push({ role: "tool", tool_call_id: "call_a", content: "x" })),
  },
  {
    rule: "tool-call-without-result",
    bad: but(GOOD, (body) => (body.messages as Body[]).pop()),
    good: but(GOOD, (body) => (body.messages as Body[]).push({ role: "user", content: "and?" })),
  },
];

test("a whole conversation with calls, results and an image passes", async () => {
  expect(await wire.send(GOOD)).toMatchObject({ status: 200, rule: undefined });
});

testRules("chat", {
  wire: () => wire,
  cases: () => CASES,
  error: { error: { type: "invalid_request_error", message: expect.any(String) } },
});
