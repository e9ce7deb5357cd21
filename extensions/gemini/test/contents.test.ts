import type { AssistantMessage, Message } from "@pi-agent/kernel";
import { assistantMessage, TEST_IMAGE, toolCall, toolResult, userMessage } from "@pi-agent/testing/provider";
import { expect, test } from "vitest";
import { toContents } from "../src/contents.ts";
import { model } from "./chunks.ts";

const GEMINI = model("gemini-3.8-flash");
const OLD = model("gemini-2.5-flash");
const CLAUDE = { api: "anthropic-messages", provider: "anthropic", model: "claude-opus-5" };
const SKIP = "skip_thought_signature_validator";

const answer = (content: AssistantMessage["content"], changes: Partial<AssistantMessage> = {}) =>
  assistantMessage(GEMINI, content, changes);
const call = (id: string, thoughtSignature?: string) =>
  toolCall(id, { arguments: { id }, ...(thoughtSignature && { thoughtSignature }) });
const inlineData = { mimeType: "image/png", data: "AAAA" };

test("texts and images go as the user's, empty ones not at all", () => {
  const messages: Message[] = [
    { role: "user", content: [{ type: "text", text: "Look" }, TEST_IMAGE], timestamp: 0 },
    userMessage(""),
    { role: "custom", customType: "note", content: "Remember", display: false, timestamp: 0 },
  ];
  expect(toContents(messages, GEMINI)).toEqual([
    { role: "user", parts: [{ text: "Look" }, { inlineData }] },
    { role: "user", parts: [{ text: "Remember" }] },
  ]);
});

test("F115 each signature goes back on its part to the model that gave it, and to no other", () => {
  const content: AssistantMessage["content"] = [
    { type: "thinking", thinking: "Hm", thinkingSignature: "s1" },
    { type: "text", text: "Yes", textSignature: "s2" },
    call("c1", "s3"),
    { type: "text", text: "", textSignature: "s4" },
  ];
  const functionCall = { id: "c1", name: "read", args: { id: "c1" } };
  expect(toContents([userMessage("Go"), answer(content)], GEMINI)[1]).toEqual({
    role: "model",
    parts: [
      { text: "Hm", thought: true, thoughtSignature: "s1" },
      { text: "Yes", thoughtSignature: "s2" },
      { functionCall, thoughtSignature: "s3" },
      { text: "", thoughtSignature: "s4" },
    ],
  });
  for (const foreign of [{ model: "gemini-3.5-flash" }, CLAUDE])
    expect(toContents([userMessage("Go"), answer(content, foreign)], GEMINI)[1]?.parts).toEqual([
      { text: "Yes" },
      { functionCall, thoughtSignature: SKIP },
    ]);
});

test("F115 a call from elsewhere is marked for models that want a signature, and for those only", () => {
  const loop = [userMessage("Go"), answer([call("toolu_1")], CLAUDE), toolResult("toolu_1", "one")];
  expect(toContents(loop, GEMINI)[1]?.parts?.[0]?.thoughtSignature).toBe(SKIP);
  expect(toContents(loop, { ...GEMINI, id: "gemini-flash-latest" })[1]?.parts?.[0]?.thoughtSignature).toBe(SKIP);
  expect(toContents(loop, { ...GEMINI, id: "a-proxy-name" })[1]?.parts?.[0]?.thoughtSignature).toBe(SKIP);
  expect(toContents(loop, OLD)[1]?.parts?.[0]).not.toHaveProperty("thoughtSignature");
});

test("F115 signatures survive being stored as JSON", () => {
  const message = answer([{ type: "text", text: "", textSignature: "s" }, call("c1", "s1"), call("c2")]);
  const stored = JSON.parse(JSON.stringify(message)) as Message;
  expect(toContents([stored], GEMINI)).toEqual(toContents([message], GEMINI));
});

test("F116 parallel calls stay one content in their order, signed on the first only, with one content of results", () => {
  const messages = [
    userMessage("Go"),
    answer([call("a", "s"), { type: "text", text: "and" }, call("b"), { type: "thinking", thinking: "?" }, call("c")]),
    toolResult("a", "one"),
    toolResult("b", "two"),
    toolResult("c", "three"),
    userMessage("Next"),
  ];
  const contents = toContents(messages, GEMINI);
  expect(contents.map(({ role, parts }) => [role, parts?.map((part) => Object.keys(part).join("+"))])).toEqual([
    ["user", ["text"]],
    ["model", ["functionCall+thoughtSignature", "text", "functionCall", "text+thought", "functionCall"]],
    ["user", ["functionResponse", "functionResponse", "functionResponse"]],
    ["user", ["text"]],
  ]);
  expect(contents[2]?.parts?.map(({ functionResponse }) => functionResponse)).toEqual([
    { id: "a", name: "read", response: { output: "one" } },
    { id: "b", name: "read", response: { output: "two" } },
    { id: "c", name: "read", response: { output: "three" } },
  ]);
});

test("F118 ids that the service did not give do not go to it; results keep the order of their calls", () => {
  const made = ["call_0123456789abcdef0123456789abcdef", "call_fedcba9876543210fedcba9876543210"];
  const [, , results] = toContents(
    [
      userMessage("Go"),
      answer(made.map((id) => call(id))),
      toolResult(made[0]!, "a.txt"),
      toolResult(made[1]!, "b.txt"),
    ],
    OLD,
  );
  expect(results?.parts).toEqual([
    { functionResponse: { name: "read", response: { output: "a.txt" } } },
    { functionResponse: { name: "read", response: { output: "b.txt" } } },
  ]);
});

test("F130 ids of another provider are mapped the same for call and result", () => {
  const id = `call_abc|fc_${"0123456789".repeat(44)}`;
  const [, called, answered] = toContents(
    [userMessage("Go"), answer([call(id)], CLAUDE), toolResult(id, "one")],
    GEMINI,
  );
  const sent = called?.parts?.[0]?.functionCall?.id;
  expect(sent).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  expect(answered?.parts?.[0]?.functionResponse?.id).toBe(sent);
});

test("F101 an answer with calls right after another answer is held apart by words of the user, one without is not", () => {
  const said = answer([{ type: "text", text: "So." }]);
  const messages = [
    userMessage("Go"),
    said,
    userMessage(" "),
    answer([call("c1", "s1")]),
    toolResult("c1", "ok"),
    said,
    said,
  ];
  const contents = toContents(messages, GEMINI);
  expect(contents.map(({ role }) => role)).toEqual(["user", "model", "user", "model", "user", "model", "model"]);
  expect(contents[2]).toEqual({ role: "user", parts: [{ text: "(What was said here was left out.)" }] });
});

test("F131 a call without a result gets one, failed answers are left out", () => {
  const messages = [
    userMessage("Go"),
    answer([call("a", "s"), call("b")]),
    toolResult("a", "one"),
    answer([{ type: "text", text: "cut" }, call("x")], { stopReason: "aborted" }),
    userMessage("Again"),
  ];
  const contents = toContents(messages, GEMINI);
  expect(contents.map(({ role }) => role)).toEqual(["user", "model", "user", "user"]);
  expect(contents[2]?.parts?.[1]?.functionResponse?.response).toEqual({ error: "No result provided." });
});

test("F119 an answer without anything to send is not sent", () => {
  const empty = answer([{ type: "text", text: " " }]);
  expect(toContents([userMessage("Go"), empty, userMessage("Again")], GEMINI).map(({ role }) => role)).toEqual([
    "user",
    "user",
  ]);
});

test("images in results go inside them, or after them to models that take none there", () => {
  const messages = [
    userMessage("Go"),
    answer([call("a", "s"), call("b")]),
    toolResult("a", "", { content: [TEST_IMAGE] }),
    toolResult("b", "two"),
  ];
  const text = "(The result is an image.)";
  expect(toContents(messages, GEMINI)[2]?.parts?.[0]?.functionResponse).toEqual({
    id: "a",
    name: "read",
    response: { output: text },
    parts: [{ inlineData }],
  });
  const [, , results, images] = toContents(messages, OLD);
  expect(results?.parts).toHaveLength(2);
  expect(results?.parts?.[0]?.functionResponse?.response).toEqual({ output: text });
  expect(images).toEqual({ role: "user", parts: [{ text: "From the result of read:" }, { inlineData }] });
});

test("parts of the service itself go back verbatim to the same api, without a signature of another model", () => {
  const block = { executableCode: { code: "1" }, thoughtSignature: "s" };
  const content: AssistantMessage["content"] = [{ type: "text", text: "b" }];
  const providerBlocks = [{ index: 0, block }];
  const sent = (changes: Partial<AssistantMessage>) =>
    toContents([userMessage("Go"), answer(content, { providerBlocks, ...changes })], GEMINI)[1]?.parts;
  expect(sent({})).toEqual([block, { text: "b" }]);
  expect(sent({ model: "gemini-3.5-flash" })).toEqual([{ executableCode: { code: "1" } }, { text: "b" }]);
  expect(sent(CLAUDE)).toEqual([{ text: "b" }]);
});

test("a frozen message is converted once for a model", () => {
  const message = Object.freeze(userMessage("Hello"));
  const [first] = toContents([message], GEMINI);
  const [second] = toContents([message, userMessage("More")], GEMINI);
  expect(second?.parts).toBe(first?.parts);
});

test("a history that was cut before an answer begins with the user all the same", () => {
  const contents = toContents([answer([{ type: "text", text: "Yes" }]), userMessage("More")], GEMINI);
  expect(contents.map(({ role }) => role)).toEqual(["user", "model", "user"]);
});

test("F131 turn by turn a payload is what the whole conversation would make at once, and earlier ones do not change", () => {
  const messages: Message[] = [
    userMessage("hi"),
    answer([toolCall("a"), toolCall("b")]),
    toolResult("b", "", { content: [TEST_IMAGE] }),
    toolResult("a", "found"),
    answer([toolCall("a")]),
    toolResult("a", "", { content: [TEST_IMAGE], isError: true }),
    answer([toolCall("x y!"), toolCall("lost")], { api: "other", provider: "other", model: "other" }),
    toolResult("x y!", "there"),
    userMessage("go on"),
    answer([{ type: "text", text: "half" }], { stopReason: "aborted" }),
    userMessage("again"),
    answer([toolCall("open")]),
  ];
  const frozen = messages.map((message) => Object.freeze({ ...message }));
  const sent = frozen.map((_, at) => toContents(frozen.slice(0, at + 1), OLD));
  const atOnce = messages.map((_, at) => toContents(structuredClone(messages.slice(0, at + 1)), OLD));
  expect(sent).toEqual(atOnce);
});
