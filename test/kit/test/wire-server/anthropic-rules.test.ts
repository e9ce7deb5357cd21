import { afterAll, beforeAll, expect, test } from "vitest";
import { lastResults } from "../../src/index.ts";
import { at, type Body, but, openWire, type Wire } from "./exchange.ts";
import { type RuleCase, testRules } from "./rule-cases.ts";

let wire: Wire;
/** A conversation with thinking, two calls and their results, that the server itself began. */
let good: Body;

beforeAll(async () => {
  wire = await openWire("anthropic", (request) =>
    lastResults(request).length > 0
      ? { text: "done" }
      : {
          thinking: "Two files to read.",
          calls: [
            { name: "read", arguments: { path: "a.txt" }, id: "toolu_a" },
            { name: "read", arguments: { path: "b.txt" }, id: "toolu_b" },
          ],
        },
  );
  const events = await wire.stream(START);
  const signature = events.map((event) => (event.delta as Body | undefined)?.signature).find(Boolean);
  good = but(START as Body, (body) => {
    (body.messages as Body[]).push(
      {
        role: "assistant",
        content: [{ type: "thinking", thinking: "Two files to read.", signature }, call("toolu_a"), call("toolu_b")],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "toolu_a", content: "alpha" },
          {
            type: "tool_result",
            tool_use_id: "toolu_b",
            content: [{ type: "text", text: "no such file" }],
            is_error: true,
          },
        ],
      },
    );
  });
});
afterAll(() => wire.server.close());

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const image = (type = "image/png", data = PNG) => ({
  type: "image",
  source: { type: "base64", media_type: type, data },
});
const call = (id: string) => ({ type: "tool_use", id, name: "read", input: { path: `${id.at(-1)}.txt` } });
const SCHEMA = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
const START = {
  model: "scripted",
  max_tokens: 4096,
  stream: true,
  system: [{ type: "text", text: "You help.", cache_control: { type: "ephemeral" } }],
  thinking: { type: "enabled", budget_tokens: 2048 },
  tools: [{ name: "read", description: "Reads a file.", input_schema: SCHEMA }],
  messages: [{ role: "user", content: [{ type: "text", text: "Read both." }, image()] }],
};
const KEYS = { "x-api-key": "test-key", "anthropic-version": "2023-06-01" };

const listCases = (): RuleCase[] => [
  { rule: "key-missing", status: 401, bad: good, headers: { "anthropic-version": "2023-06-01" } },
  { rule: "key-wrong", status: 401, bad: good, headers: { ...KEYS, "x-api-key": "other" } },
  { rule: "version-header", bad: good, headers: { "x-api-key": "test-key" } },
  { rule: "body-not-json", bad: "{" },
  { rule: "lone-surrogate", bad: said("half \ud83d"), good: said("whole \ud83d\ude00") },
  { rule: "unknown-parameter", bad: but(good, (body) => (body.maxTokens = 1)) },
  { rule: "model-unknown", status: 404, bad: but(good, (body) => (body.model = "claude-nonexistent")) },
  { rule: "max-tokens-missing", bad: but(good, (body) => delete body.max_tokens) },
  { rule: "messages-missing", bad: but(good, (body) => (body.messages = [])) },
  { rule: "content-shape", bad: but(good, (body) => (at(body, "messages", 0).content = [{ text: "x" }])) },
  {
    rule: "system-shape",
    bad: but(good, (body) => (body.system = { text: "x" })),
    good: but(good, (body) => (body.system = "x")),
  },
  { rule: "not-streaming", bad: but(good, (body) => (body.stream = false)) },
  {
    rule: "thinking-budget",
    bad: but(good, (body) => (body.max_tokens = 2048)),
    good: but(good, (body) => (body.max_tokens = 2049)),
  },
  {
    rule: "thinking-temperature",
    bad: but(good, (body) => (body.temperature = 0)),
    good: but(good, (body) => (body.temperature = 1)),
  },
  { rule: "tools-shape", bad: but(good, (body) => (body.tools = "read")) },
  {
    rule: "tool-name",
    bad: but(good, (body) => (at(body, "tools", 0).name = "fs.read")),
    good: but(good, (body) => (at(body, "tools", 0).name = "r".repeat(128))),
  },
  { rule: "tool-name-repeated", bad: but(good, (body) => (body.tools as Body[]).push(at(body, "tools", 0))) },
  { rule: "tool-unknown-key", bad: but(good, (body) => (at(body, "tools", 0).parameters = SCHEMA)) },
  { rule: "tool-schema-root", bad: but(good, (body) => (at(body, "tools", 0).input_schema = { anyOf: [SCHEMA] })) },
  {
    rule: "tool-choice-without-tools",
    bad: but(good, (body) => {
      body.tool_choice = { type: "auto" };
      delete body.tools;
    }),
    good: but(good, (body) => (body.tool_choice = { type: "auto" })),
  },
  { rule: "block-type", bad: but(good, (body) => push(body, 0, { type: "input_text", text: "x" })) },
  { rule: "block-unknown-key", bad: but(good, (body) => (at(body, "messages", 1, "content", 1).arguments = {})) },
  {
    rule: "empty-message",
    bad: but(good, (body) => (body.messages as Body[]).splice(1, 0, { role: "assistant", content: [] })),
  },
  { rule: "empty-text", bad: said(""), good: said(".") },
  { rule: "empty-text", bad: said(" \n") },
  {
    rule: "empty-text",
    bad: but(good, (body) => (at(body, "messages", 2, "content", 1).content = [{ type: "text", text: "" }])),
    good: but(good, (body) => (at(body, "messages", 2, "content", 1).content = [])),
  },
  { rule: "empty-system", bad: but(good, (body) => (at(body, "system", 0).text = "")) },
  {
    rule: "tool-use-id",
    bad: but(good, (body) => {
      at(body, "messages", 1, "content", 1).id = "call|a";
      at(body, "messages", 2, "content", 0).tool_use_id = "call|a";
    }),
  },
  { rule: "tool-use-name", bad: but(good, (body) => (at(body, "messages", 1, "content", 1).name = "")) },
  { rule: "tool-use-input", bad: but(good, (body) => (at(body, "messages", 1, "content", 1).input = "{}")) },
  {
    rule: "image-source",
    bad: but(good, (body) => push(body, 0, image("image/bmp"))),
    good: but(good, (body) => push(body, 0, image("image/webp"))),
  },
  { rule: "image-source", bad: but(good, (body) => push(body, 0, image("image/png", "data:x"))) },
  {
    rule: "image-in-error-result",
    bad: but(good, (body) => (at(body, "messages", 2, "content", 1).content = [image()])),
    good: but(good, (body) => (at(body, "messages", 2, "content", 0).content = [image()])),
  },
  {
    rule: "cache-marks",
    bad: said("a", "b", "c", "d"),
    good: said("a", "b", "c"),
  },
  { rule: "role-unknown", bad: but(good, (body) => (at(body, "messages", 0).role = "system")) },
  { rule: "first-not-user", bad: but(good, (body) => (body.messages as Body[]).shift()) },
  { rule: "last-not-user", bad: but(good, (body) => (body.messages as Body[]).pop()) },
  { rule: "block-in-wrong-role", bad: but(good, (body) => push(body, 0, call("toolu_c"))) },
  {
    rule: "tool-use-id-repeated",
    bad: but(good, (body) => (at(body, "messages", 1, "content", 2).id = "toolu_a")),
  },
  { rule: "tool-use-without-result", bad: but(good, (body) => at<Body[]>(body, "messages", 2, "content").pop()) },
  {
    rule: "tool-use-without-result",
    bad: but(good, (body) => at<Body[]>(body, "messages", 2, "content").unshift({ type: "text", text: "first" })),
    good: but(good, (body) => at<Body[]>(body, "messages", 2, "content").push({ type: "text", text: "last" })),
  },
  {
    rule: "tool-result-without-use",
    bad: but(good, (body) => push(body, 2, { type: "tool_result", tool_use_id: "toolu_x", content: "x" })),
  },
  {
    rule: "tool-result-repeated",
    bad: but(good, (body) => push(body, 2, { type: "tool_result", tool_use_id: "toolu_a", content: "x" })),
  },
  { rule: "thinking-signature", bad: but(good, (body) => (at(body, "messages", 1, "content", 0).signature = "x")) },
  { rule: "thinking-signature", bad: but(good, (body) => (at(body, "messages", 1, "content", 0).thinking += ".")) },
  {
    rule: "thinking-dropped",
    bad: but(good, (body) => at<Body[]>(body, "messages", 1, "content").shift()),
    good: but(good, (body) => {
      at<Body[]>(body, "messages", 1, "content").shift();
      delete body.thinking;
    }),
  },
];

/** The conversation with these texts in the first message, each with a cache mark beside that of the system prompt. */
function said(...texts: string[]): Body {
  const isMarked = texts.length > 1;
  return but(good, (body) => {
    at(body, "messages", 0).content = texts.map((text) => ({
      type: "text",
      text,
      ...(isMarked && { cache_control: { type: "ephemeral" } }),
    }));
  });
}

function push(body: Body, message: number, block: object): void {
  at<object[]>(body, "messages", message, "content").push(block);
}

test("a whole conversation with thinking, calls, results and an image passes", async () => {
  expect(await wire.send(good)).toMatchObject({ status: 200, rule: undefined });
});

testRules("anthropic", {
  wire: () => wire,
  cases: listCases,
  error: { type: "error", error: { type: expect.stringMatching(/_error$/), message: expect.any(String) } },
});
