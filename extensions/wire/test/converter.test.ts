import type { AssistantMessage, Message } from "@pi-agent/kernel";
import { assistantMessage, TEST_MODEL, toolCall, toolResult, userMessage } from "@pi-agent/testing/provider";
import { expect, test } from "vitest";
import { createConverter } from "../src/index.ts";

const user = userMessage("hi");
const answer = (content: AssistantMessage["content"], changes: Partial<AssistantMessage> = {}) =>
  assistantMessage(TEST_MODEL, content, changes);
const frozen = (...messages: Message[]) => messages.map((message) => Object.freeze({ ...message }));

/** A converter that lists what it was given, and how often it was given something. */
function listing() {
  const seen = { count: 0 };
  const list = createConverter<Message[], Message[], object>({
    start: () => [],
    add(messages, message) {
      seen.count++;
      messages.push(message);
    },
    fork: (messages) => [...messages],
    finish: (messages) => messages,
  });
  return { seen, pair: (messages: readonly Message[], target: object = TEST_MODEL) => list(messages, target) };
}

const names = (messages: readonly Message[]) =>
  messages.map((message) => (message.role === "toolResult" ? message.toolCallId : message.role));

test("F131 every call has exactly one result, and every result its call", () => {
  const { pair } = listing();
  const calls = answer([toolCall("a"), toolCall("b")]);
  const paired = pair([user, calls, toolResult("b"), toolResult("b"), toolResult("z"), user]);
  expect(names(paired)).toEqual(["user", "assistant", "b", "a", "user"]);
  expect(paired[3]).toMatchObject({ isError: true, content: [{ type: "text" }] });
  expect(paired[1]).toBe(calls);
  expect(names(pair([calls]))).toEqual(["assistant", "a", "b"]);
});

test.each(["error", "aborted"] as const)(
  "F131 an answer that ended as %s is left out with its results",
  (stopReason) => {
    const { pair } = listing();
    expect(pair([user, answer([toolCall("a")], { stopReason }), toolResult("a"), user])).toEqual([user, user]);
  },
);

test("F131 a result that comes after a request went out without it takes its place in the next", () => {
  const { pair } = listing();
  const messages = frozen(user, answer([toolCall("a"), toolCall("b")]), toolResult("a"));
  expect(names(pair(messages))).toEqual(["user", "assistant", "a", "b"]);
  messages.push(...frozen(toolResult("b"), user));
  const paired = pair(messages);
  expect(names(paired)).toEqual(["user", "assistant", "a", "b", "user"]);
  expect(paired[3]).toBe(messages[3]);
});

test("a turn converts only what is new in a conversation, also when its list is another one", () => {
  const { seen, pair } = listing();
  const messages = frozen(user, answer([toolCall("a")]), toolResult("a"));
  pair(messages);
  expect(seen.count).toBe(3);
  messages.push(...frozen(answer([toolCall("b")]), toolResult("b")));
  expect(pair([...messages])).toEqual(messages);
  expect(seen.count).toBe(5);
});

test("a conversation that has changed in its middle, or its target, is converted anew", () => {
  const { pair } = listing();
  const messages = frozen(user, answer([{ type: "text", text: "a" }]), user);
  pair(messages);
  const [other] = frozen(answer([{ type: "text", text: "b" }]));
  expect(pair([messages[0]!, other!])).toEqual([messages[0], other]);
  expect(pair(messages)).toEqual(messages);
  const byTarget = createConverter<string[], string[], { name: string }>({
    start: () => [],
    add: (list, _message, { name }) => void list.push(name),
    fork: (list) => [...list],
    finish: (list) => list,
  });
  expect(byTarget(messages, { name: "x" })).toEqual(["x", "x", "x"]);
  expect(byTarget(messages, { name: "y" })).toEqual(["y", "y", "y"]);
});

test("what can still change is converted each time, and what is made of it does not stay", () => {
  const { seen, pair } = listing();
  const [first] = frozen(user);
  const draft: Message = { role: "user", content: "a", timestamp: 0 };
  expect(pair([first!, draft])[1]).toMatchObject({ content: "a" });
  draft.content = "b";
  expect(pair([first!, draft])[1]).toMatchObject({ content: "b" });
  expect(pair([first!])).toEqual([first]);
  expect(seen.count).toBe(3);
});

test("a step that throws leaves nothing half done", () => {
  let isBroken = true;
  const convert = createConverter<string[], string[], object>({
    start: () => [],
    add(list, { role }) {
      if (isBroken && role === "assistant") throw new Error("no");
      list.push(role);
    },
    fork: (list) => [...list],
    finish: (list) => list,
  });
  const messages = frozen(user, answer([]), user);
  expect(() => convert(messages, TEST_MODEL)).toThrow("no");
  isBroken = false;
  expect(convert(messages, TEST_MODEL)).toEqual(["user", "assistant", "user"]);
});

test("conversations side by side are each gone on with, and the oldest of many is forgotten", () => {
  const { seen, pair } = listing();
  const many = Array.from({ length: 17 }, () => frozen(user, user));
  for (const messages of many) pair(messages);
  expect(seen.count).toBe(34);
  for (const messages of many.slice(1)) pair(messages);
  expect(seen.count).toBe(34);
  pair(many[0]!);
  expect(seen.count).toBe(36);
});
