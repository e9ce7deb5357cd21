import { afterAll, beforeAll, expect, test } from "vitest";
import { lastResults } from "../../src/index.ts";
import { at, type Body, but, openWire, type Wire } from "./exchange.ts";
import { type RuleCase, testRules } from "./rule-cases.ts";

let wire: Wire;
/** A conversation with thoughts, two signed calls and their responses, that the server itself began. */
let good: Body;

const PARAMETERS = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
const START = {
  systemInstruction: { parts: [{ text: "You help." }] },
  tools: [{ functionDeclarations: [{ name: "read", description: "Reads.", parameters: PARAMETERS }] }],
  generationConfig: { maxOutputTokens: 4096, thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 } },
  contents: [
    { role: "user", parts: [{ text: "Read both." }, { inlineData: { mimeType: "image/png", data: "iVBORw==" } }] },
  ],
};

beforeAll(async () => {
  wire = await openWire("gemini", (request) =>
    lastResults(request).length > 0
      ? { text: "done" }
      : {
          thinking: "Two files to read.",
          calls: [
            { name: "read", arguments: { path: "a.txt" } },
            { name: "read", arguments: { path: "b.txt" }, id: "call_b" },
          ],
        },
  );
  const events = await wire.stream(START);
  const parts = events.flatMap((event) => at<Body[]>(event, "candidates", 0, "content", "parts"));
  good = but(START as Body, (body) => {
    (body.contents as Body[]).push(
      { role: "model", parts: parts.filter((part) => part.functionCall) },
      {
        role: "user",
        parts: [
          { functionResponse: { name: "read", response: { output: "alpha" } } },
          { functionResponse: { id: "call_b", name: "read", response: { error: "no such file" } } },
        ],
      },
    );
  });
});
afterAll(() => wire.server.close());

const part = (content: number, place: number, change: (part: Body) => void) =>
  but(good, (body) => change(at(body, "contents", content, "parts", place)));
const tool = (change: Body) =>
  but(good, (body) => Object.assign(at(body, "tools", 0, "functionDeclarations", 0), change));
const schema = (inner: unknown) => tool({ parameters: { type: "object", properties: { path: inner } } });
const parts = (body: Body, content: number) => at<Body[]>(body, "contents", content, "parts");

const listCases = (): RuleCase[] => [
  { rule: "key-missing", status: 403, bad: good, headers: {} },
  { rule: "key-wrong", bad: good, headers: { "x-goog-api-key": "other" } },
  { rule: "body-not-json", bad: "nope" },
  { rule: "lone-surrogate", bad: part(0, 0, (each) => (each.text = "\ud83d")) },
  {
    rule: "model-unknown",
    status: 404,
    bad: good,
    path: "/v1beta/models/gemini-nonexistent:streamGenerateContent?alt=sse",
  },
  { rule: "unknown-parameter", bad: { ...good, messages: [] } },
  { rule: "not-streaming", bad: good, path: "/v1beta/models/scripted:streamGenerateContent" },
  { rule: "contents-missing", bad: { ...good, contents: [] } },
  { rule: "parts-empty", bad: but(good, (body) => (at(body, "contents", 0).parts = [])) },
  { rule: "system-empty", bad: { ...good, systemInstruction: { parts: [] } } },
  {
    rule: "thinking-config",
    bad: but(good, (body) => (at(body, "generationConfig", "thinkingConfig").thinkingLevel = "high")),
  },
  { rule: "tools-shape", bad: { ...good, tools: [{ functionDeclarations: [] }] }, good: { ...good, tools: [] } },
  { rule: "tool-name", bad: tool({ name: "2read" }), good: tool({ name: "fs.read" }) },
  {
    rule: "tool-name-repeated",
    bad: but(good, (body) => {
      const list = at<Body[]>(body, "tools", 0, "functionDeclarations");
      list.push(...structuredClone(list));
    }),
  },
  { rule: "tool-schema-root", bad: tool({ parameters: { type: "string" } }) },
  { rule: "tool-schema-root", bad: tool({ parametersJsonSchema: PARAMETERS }) },
  {
    rule: "tool-schema-subset",
    bad: tool({ parameters: { ...PARAMETERS, additionalProperties: false } }),
    good: tool({ parameters: undefined, parametersJsonSchema: { ...PARAMETERS, additionalProperties: false } }),
  },
  { rule: "tool-schema-subset", bad: schema({ $ref: "#/$defs/path" }) },
  { rule: "tool-schema-subset", bad: schema({ type: "string", const: "x" }) },
  {
    rule: "tool-schema-subset",
    bad: schema({ type: ["string", "null"] }),
    good: schema({ type: "string", nullable: true }),
  },
  { rule: "tool-schema-subset", bad: schema({ type: "array" }), good: schema({ type: "array", items: {} }) },
  { rule: "tool-schema-subset", bad: schema({ type: "integer", enum: [1] }) },
  { rule: "tool-schema-subset", bad: schema({ anyOf: [{ type: "string", $id: "x" }] }) },
  { rule: "tool-schema-subset", bad: tool({ parameters: { ...PARAMETERS, required: ["file"] } }) },
  { rule: "part-unknown-key", bad: part(1, 0, (each) => (each.signature = "x")) },
  { rule: "part-without-data", bad: but(good, (body) => parts(body, 0).push({ thought: true })) },
  { rule: "part-without-data", bad: part(1, 0, (each) => (each.text = "two kinds in one")) },
  { rule: "call-shape", bad: part(1, 1, (each) => (at(each, "functionCall").name = "")) },
  { rule: "call-shape", bad: part(1, 1, (each) => (at(each, "functionCall").args = "{}")) },
  { rule: "response-shape", bad: part(2, 0, (each) => (at(each, "functionResponse").response = "alpha")) },
  { rule: "response-shape", bad: part(2, 0, (each) => (at(each, "functionResponse").name = undefined)) },
  { rule: "role-unknown", bad: but(good, (body) => (at(body, "contents", 2).role = "function")) },
  { rule: "last-not-user", bad: but(good, (body) => (body.contents as Body[]).pop()) },
  { rule: "call-turn-place", bad: but(good, (body) => (body.contents as Body[]).shift()) },
  {
    rule: "call-turn-place",
    bad: but(good, (body) => (body.contents as Body[]).splice(1, 0, { role: "model", parts: [{ text: "x" }] })),
  },
  { rule: "response-count", bad: but(good, (body) => parts(body, 2).pop()) },
  {
    rule: "response-count",
    bad: but(good, (body) => {
      const [second] = parts(body, 2).splice(1, 1);
      (body.contents as Body[]).push({ role: "user", parts: [second] });
    }),
    good: but(good, (body) => (body.contents as Body[]).push({ role: "user", parts: [{ text: "and?" }] })),
  },
  {
    rule: "response-turn-place",
    bad: but(good, (body) => {
      (body.contents as Body[]).push({
        role: "user",
        parts: [{ functionResponse: { name: "read", response: {} } }],
      });
    }),
  },
  { rule: "response-order", bad: but(good, (body) => parts(body, 2).reverse()) },
  { rule: "response-order", bad: part(2, 0, (each) => (at(each, "functionResponse").name = "write")) },
  {
    rule: "signature-missing",
    bad: part(1, 0, (each) => delete each.thoughtSignature),
    good: part(1, 0, (each) => (each.thoughtSignature = "skip_thought_signature_validator")),
  },
  { rule: "signature-changed", bad: part(1, 0, (each) => (each.thoughtSignature = "Zm9yZWlnbg==")) },
  {
    rule: "signature-changed",
    bad: but(good, (body) => {
      const [head, second] = parts(body, 1);
      Object.assign(second!, { thoughtSignature: head!.thoughtSignature });
    }),
  },
  {
    rule: "signature-dropped",
    bad: but(good, (body) => {
      delete parts(body, 1)[0]!.thoughtSignature;
      (body.contents as Body[]).push({ role: "user", parts: [{ text: "and?" }] });
    }),
    good: but(good, (body) => {
      delete parts(body, 1)[0]!.thoughtSignature;
      at(body, "contents", 1, "parts", 0, "functionCall").args = { path: "of another model" };
      (body.contents as Body[]).push({ role: "user", parts: [{ text: "and?" }] });
    }),
  },
];

test("a whole conversation with thoughts, signed calls, responses and an image passes", async () => {
  expect(await wire.send(good)).toMatchObject({ status: 200, rule: undefined });
});

testRules("gemini", {
  wire: () => wire,
  cases: listCases,
  error: {
    error: { code: expect.any(Number), status: expect.stringMatching(/^[A-Z_]+$/), message: expect.any(String) },
  },
});
