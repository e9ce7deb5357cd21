import { afterAll, beforeAll, expect, test } from "vitest";
import { lastResults } from "../../src/index.ts";
import { at, type Body, but, openWire, type Wire } from "./exchange.ts";
import { type RuleCase, testRules } from "./rule-cases.ts";

let wire: Wire;
/** A conversation with encrypted reasoning, two calls and their outputs, that the server itself began. */
let good: Body;

const PARAMETERS = {
  type: "object",
  properties: { path: { type: "string" } },
  required: ["path"],
  additionalProperties: false,
};
const image = (url = "data:image/png;base64,iVBORw0KGgo=") => ({ type: "input_image", image_url: url });
const START = {
  model: "scripted",
  stream: true,
  store: false,
  include: ["reasoning.encrypted_content"],
  instructions: "You help.",
  max_output_tokens: 4096,
  tools: [{ type: "function", name: "read", description: "Reads.", parameters: PARAMETERS, strict: true }],
  input: [{ role: "user", content: [{ type: "input_text", text: "Read both." }, image()] }] as Body[],
};

beforeAll(async () => {
  wire = await openWire("responses", (request) =>
    lastResults(request).length > 0
      ? { text: "done" }
      : {
          thinking: "Two files to read.",
          calls: [
            { name: "read", arguments: { path: "a.txt" }, id: "call_a" },
            { name: "read", arguments: { path: "b.txt" }, id: "call_b" },
          ],
        },
  );
  const events = await wire.stream(START);
  const items = events.filter((event) => event.type === "response.output_item.done").map((event) => event.item as Body);
  const outputs = [
    { type: "function_call_output", call_id: "call_a", output: "alpha" },
    { type: "function_call_output", call_id: "call_b", output: [{ type: "input_text", text: "beta" }, image()] },
  ];
  good = { ...START, input: [...START.input, ...items, ...outputs] };
});
afterAll(() => wire.server.close());

// The places of the items in the good request.
const [USER, REASONING, CALL_A, CALL_B, OUTPUT_A, OUTPUT_B] = [0, 1, 2, 3, 4, 5];

const item = (index: number, change: Body) => but(good, (body) => Object.assign(at(body, "input", index), change));
const without = (...places: number[]) =>
  but(good, (body) => (body.input = (body.input as Body[]).filter((_, place) => !places.includes(place))));
const insert = (place: number, ...items: Body[]) =>
  but(good, (body) => (body.input as Body[]).splice(place, 0, ...items));
const tool = (change: Body) => but(good, (body) => Object.assign(at(body, "tools", 0), change));
const answer = (content: unknown): Body => ({ type: "message", role: "assistant", content });

const listCases = (): RuleCase[] => [
  { rule: "key-missing", status: 401, bad: good, headers: {} },
  { rule: "key-wrong", status: 401, bad: good, headers: { authorization: "Bearer other" } },
  { rule: "body-not-json", bad: "" },
  { rule: "lone-surrogate", bad: { ...good, instructions: "\ud83d" } },
  { rule: "unknown-parameter", bad: { ...good, messages: [] } },
  { rule: "not-streaming", bad: { ...good, stream: false } },
  { rule: "model-unknown", bad: { ...good, model: "gpt-nonexistent" } },
  { rule: "input-missing", bad: { ...good, input: [] } },
  { rule: "max-output-tokens", bad: { ...good, max_output_tokens: 15 }, good: { ...good, max_output_tokens: 16 } },
  { rule: "tools-shape", bad: { ...good, tools: "read" }, good: { ...good, tools: [] } },
  { rule: "tool-name", bad: tool({ name: "" }) },
  { rule: "tool-schema-root", bad: tool({ parameters: { properties: {} } }) },
  {
    rule: "tool-schema-strict",
    bad: tool({ parameters: { ...PARAMETERS, additionalProperties: undefined } }),
    good: tool({ parameters: { ...PARAMETERS, additionalProperties: undefined }, strict: false }),
  },
  { rule: "item-type", bad: insert(1, { type: "text", text: "x" }) },
  { rule: "item-unknown-key", bad: item(CALL_A, { input: {} }) },
  { rule: "item-id", bad: item(CALL_A, { id: "call_a" }), good: item(CALL_B, { id: undefined }) },
  { rule: "item-id", bad: item(CALL_A, { id: `fc_${"a".repeat(62)}` }) },
  { rule: "item-id", bad: item(REASONING, { id: undefined }) },
  { rule: "item-id-repeated", bad: but(good, (body) => (at(body, "input", CALL_B).id = at(body, "input", CALL_A).id)) },
  { rule: "call-id", bad: item(CALL_A, { call_id: "" }) },
  { rule: "call-id", bad: item(CALL_A, { call_id: "c".repeat(65) }) },
  { rule: "call-name", bad: item(CALL_A, { name: "fs.read" }) },
  { rule: "call-arguments", bad: item(CALL_A, { arguments: {} }), good: item(CALL_A, { arguments: "" }) },
  { rule: "output-shape", bad: item(OUTPUT_A, { output: { text: "x" } }) },
  { rule: "output-shape", bad: item(OUTPUT_A, { output: [image("data:image/bmp;base64,AAAA")] }) },
  { rule: "output-shape", bad: item(OUTPUT_A, { output: [{ type: "output_text", text: "x" }] }) },
  { rule: "message-role", bad: item(USER, { role: "tool" }), good: item(USER, { role: "developer" }) },
  {
    rule: "message-content",
    bad: insert(6, answer([{ type: "input_text", text: "x" }])),
    good: insert(6, answer([{ type: "output_text", text: "x", annotations: [] }])),
  },
  { rule: "message-content", bad: item(USER, { content: [{ type: "output_text", text: "x" }] }) },
  { rule: "message-content", bad: item(USER, { content: null }) },
  { rule: "output-without-call", bad: without(CALL_B) },
  {
    rule: "output-without-call",
    bad: but(good, (body) => (body.input as Body[]).splice(1, 0, ...(body.input as Body[]).splice(OUTPUT_A, 1))),
  },
  { rule: "output-repeated", bad: insert(6, { type: "function_call_output", call_id: "call_a", output: "x" }) },
  {
    rule: "call-repeated",
    bad: insert(3, { type: "function_call", call_id: "call_a", name: "read", arguments: "{}" }),
  },
  { rule: "call-without-output", bad: without(OUTPUT_B) },
  {
    rule: "call-without-output",
    bad: insert(OUTPUT_B, { role: "user", content: "wait" }),
    good: insert(6, { role: "user", content: "and?" }),
  },
  {
    rule: "reasoning-not-stored",
    status: 404,
    bad: item(REASONING, { encrypted_content: undefined }),
    good: but(item(REASONING, { encrypted_content: undefined }), (body) => (body.store = true)),
  },
  { rule: "reasoning-changed", bad: item(REASONING, { encrypted_content: "gAAAAABchanged" }) },
  {
    rule: "reasoning-without-item",
    bad: but(good, (body) => (body.input as Body[]).push(...(body.input as Body[]).splice(REASONING, 1))),
  },
  {
    rule: "item-without-reasoning",
    bad: without(REASONING),
    good: but(without(REASONING), (body) => delete at(body, "input", CALL_A - 1).id),
  },
];

test("a whole conversation with reasoning, calls, outputs and images passes", async () => {
  expect(await wire.send(good)).toMatchObject({ status: 200, rule: undefined });
});

testRules("responses", {
  wire: () => wire,
  cases: listCases,
  error: { error: { type: "invalid_request_error", message: expect.any(String) } },
});
