import type { AssistantMessage, Message } from "@pi-agent/kernel";
import { assistantMessage, TEST_IMAGE, toolCall, toolResult, userMessage } from "@pi-agent/testing/provider";
import { expect, test } from "vitest";
import { toMessages, toMessagesWithoutThinking } from "../src/messages.ts";
import { model } from "./events.ts";

const CLAUDE = model("claude-haiku-4-5");
const OTHER = { api: "google-generative-ai", provider: "google", model: "gemini-3.8-flash" };

const answer = (content: AssistantMessage["content"], changes: Partial<AssistantMessage> = {}) =>
  assistantMessage(CLAUDE, content, changes);

test("texts, images and messages of extensions go as the user's, empty ones not at all", () => {
  const messages: Message[] = [
    { role: "user", content: [{ type: "text", text: "Look" }, TEST_IMAGE], timestamp: 0 },
    userMessage("  "),
    { role: "custom", customType: "note", content: "Remember", display: false, timestamp: 0 },
  ];
  expect(toMessages(messages, CLAUDE)).toEqual([
    {
      role: "user",
      content: [
        { type: "text", text: "Look" },
        { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
      ],
    },
    { role: "user", content: [{ type: "text", text: "Remember" }] },
  ]);
});

test("a model that sees no images is told of them in words", () => {
  const [message] = toMessages([{ role: "user", content: [TEST_IMAGE], timestamp: 0 }], { ...CLAUDE, input: ["text"] });
  expect(JSON.stringify(message)).toMatch(/image was left out/);
});

test("thinking goes back with its signature to the model that made it, and to no other", () => {
  const content: AssistantMessage["content"] = [
    { type: "thinking", thinking: "Hm", thinkingSignature: "s1" },
    { type: "thinking", thinking: "", thinkingSignature: "s2", redacted: true },
    { type: "thinking", thinking: "unsigned" },
    { type: "text", text: "Yes" },
  ];
  expect(toMessages([userMessage("Go"), answer(content)], CLAUDE)[1]?.content).toEqual([
    { type: "thinking", thinking: "Hm", signature: "s1" },
    { type: "redacted_thinking", data: "s2" },
    { type: "text", text: "Yes" },
  ]);
  for (const foreign of [OTHER, { model: "claude-opus-5" }])
    expect(toMessages([userMessage("Go"), answer(content, foreign)], CLAUDE)[1]?.content).toEqual([
      { type: "text", text: "Yes" },
    ]);
});

test("all results of one answer are one message, errors and images among them", () => {
  const messages = [
    userMessage("Go"),
    answer([toolCall("t1"), toolCall("t2"), toolCall("t3"), toolCall("t4")]),
    toolResult("t1", "one"),
    toolResult("t2", "", { isError: true }),
    toolResult("t3", "", { content: [TEST_IMAGE] }),
    toolResult("t4", "", { content: [TEST_IMAGE], isError: true }),
    userMessage("Next"),
  ];
  const wire = toMessages(messages, CLAUDE);
  expect(wire.map(({ role }) => role)).toEqual(["user", "assistant", "user", "user"]);
  const picture = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
  expect(wire[2]?.content).toEqual([
    { type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: "one" }] },
    { type: "tool_result", tool_use_id: "t2", is_error: true, content: "The tool failed without a message." },
    { type: "tool_result", tool_use_id: "t3", content: [picture] },
    { type: "tool_result", tool_use_id: "t4", content: [{ type: "text", text: "The tool failed:" }, picture] },
  ]);
});

test("blocks of the service itself go back verbatim at their places, and only to the same api", () => {
  const providerBlocks: AssistantMessage["providerBlocks"] = [
    { index: 0, block: { type: "server_tool_use", id: "s" } },
    { index: 1, block: { type: "web_search_tool_result", tool_use_id: "s" } },
    { index: 2, block: { type: "server_tool_use", id: "s2" } },
  ];
  const content: AssistantMessage["content"] = [
    { type: "text", text: "a" },
    { type: "text", text: "b" },
  ];
  const types = (changes: Partial<AssistantMessage>) => {
    const [, sent] = toMessages([userMessage("Go"), answer(content, { providerBlocks, ...changes })], CLAUDE);
    return (sent!.content as { type: string }[]).map(({ type }) => type);
  };
  expect(types({})).toEqual(["server_tool_use", "text", "web_search_tool_result", "text", "server_tool_use"]);
  expect(types(OTHER)).toEqual(["text", "text"]);
});

const ID = /^[A-Za-z0-9_-]{1,64}$/;

test("F130 ids of another provider are mapped the same for call and result, and never onto each other", () => {
  const long = `call_abc|fc_${"0123456789".repeat(44)}`;
  const ids = [long, `${long}x`, "read:0", "read_0", "a.b", "a_b", "ид", "ok-1"];
  const messages = [userMessage("Go"), ...ids.flatMap((id) => [answer([toolCall(id)], OTHER), toolResult(id, id)])];
  const wire = toMessages(messages, CLAUDE);
  const sent: string[] = [];
  for (let at = 1; at < wire.length; at += 2) {
    const [use] = wire[at]!.content as { id: string }[];
    const [answered] = wire[at + 1]!.content as { tool_use_id: string }[];
    expect(use!.id).toMatch(ID);
    expect(answered!.tool_use_id).toBe(use!.id);
    sent.push(use!.id);
  }
  expect(new Set(sent).size).toBe(ids.length);
  expect(sent.at(-1)).toBe("ok-1");
  expect(toMessages(messages, CLAUDE)).toEqual(wire);
});

test("F118 an id that a later turn uses again is made unique, with its result", () => {
  const turns = ["one", "two", "three"].flatMap((text) => [
    answer([toolCall("call_1")], OTHER),
    toolResult("call_1", text),
  ]);
  const messages = [userMessage("Go"), ...turns];
  const wire = toMessages(messages, CLAUDE);
  const ids = wire.slice(1).map(({ content }) => {
    const [block] = content as { id?: string; tool_use_id?: string }[];
    return block!.id ?? block!.tool_use_id!;
  });
  expect(ids[0]).toBe("call_1");
  expect(new Set(ids).size).toBe(3);
  expect([ids[1], ids[3], ids[5]]).toEqual([ids[0], ids[2], ids[4]]);
  for (const id of ids) expect(id).toMatch(ID);
  expect(toMessages(messages.slice(0, 5), CLAUDE)).toEqual(wire.slice(0, 5));
});

test("F131 a call without a result gets one, failed answers are left out, stray results too", () => {
  const messages = [
    userMessage("Go"),
    answer([toolCall("t1"), toolCall("t2")]),
    toolResult("t1", "one"),
    toolResult("stray", "who asked?"),
    answer([{ type: "text", text: "cut" }, toolCall("t9")], { stopReason: "aborted" }),
    userMessage("Again"),
  ];
  expect(toMessages(messages, CLAUDE)).toEqual([
    { role: "user", content: [{ type: "text", text: "Go" }] },
    {
      role: "assistant",
      content: [
        { type: "tool_use", id: "t1", name: "read", input: {} },
        { type: "tool_use", id: "t2", name: "read", input: {} },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: "one" }] },
        {
          type: "tool_result",
          tool_use_id: "t2",
          is_error: true,
          content: [{ type: "text", text: "No result provided." }],
        },
      ],
    },
    { role: "user", content: [{ type: "text", text: "Again" }] },
  ]);
});

test("a frozen message is converted once for a model", () => {
  const message = Object.freeze(userMessage("Hello"));
  const [first] = toMessages([message], CLAUDE);
  const [second] = toMessages([message, userMessage("More")], CLAUDE);
  expect(second?.content).toBe(first?.content);
});

test("a history that was cut before an answer begins with the user all the same", () => {
  const wire = toMessages([answer([{ type: "text", text: "Yes" }]), userMessage("More")], CLAUDE);
  expect(wire.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
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
  const sent = frozen.map((_, at) => toMessages(frozen.slice(0, at + 1), CLAUDE));
  const atOnce = messages.map((_, at) => toMessages(structuredClone(messages.slice(0, at + 1)), CLAUDE));
  expect(sent).toEqual(atOnce);
});

test("thinking is left out turn by turn, as from the whole", () => {
  const messages = [
    userMessage("hi"),
    answer([{ type: "thinking", thinking: "hm", thinkingSignature: "s" }, toolCall("a")]),
    toolResult("a"),
    answer([{ type: "thinking", thinking: "hm", thinkingSignature: "s" }]),
    userMessage("go on"),
  ].map((message) => Object.freeze(message));
  toMessagesWithoutThinking(messages.slice(0, 3), CLAUDE);
  expect(toMessagesWithoutThinking(messages, CLAUDE)).toMatchObject([
    { role: "user" },
    { role: "assistant", content: [{ type: "tool_use" }] },
    { role: "user", content: [{ type: "tool_result" }] },
    { role: "user", content: [{ text: "go on" }] },
  ]);
});
