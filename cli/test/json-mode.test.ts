import { Writable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { runJsonMode, toWireEvent } from "../src/json-mode.ts";
import type { Output } from "../src/stdout-guard.ts";
import { type Answer, createScriptedAgent } from "./scripted-agent.ts";

/** An output whose reader takes a line only when told to. */
function createSlowOutput() {
  const lines: string[] = [];
  let caughtUp = Promise.withResolvers<void>();
  const state = { isSlow: false };
  const output: Output = {
    stream: new Writable() as never,
    write: (text) => void lines.push(text),
    ready: () => (state.isSlow ? caughtUp.promise : undefined),
    flush: async () => {},
  };
  const catchUp = () => {
    caughtUp.resolve();
    caughtUp = Promise.withResolvers();
  };
  return { output, lines, state, catchUp };
}

async function runJson(answers: Answer[]) {
  const agent = createScriptedAgent(answers);
  const { output, lines } = createSlowOutput();
  const code = await runJsonMode({
    agent,
    cwd: "/work",
    prompts: [{ text: "go", images: [] }],
    output,
    signal: new AbortController().signal,
  });
  await agent.dispose();
  return { code, text: lines.join(""), events: lines.map((line) => JSON.parse(line)) };
}

test("the first line is the session's header, and the order is that of K2", async () => {
  const { events, code } = await runJson(["hello"]);
  expect(code).toBe(0);
  expect(events[0]).toMatchObject({ type: "session", version: 3, cwd: "/work", id: expect.any(String) });
  expect(
    events
      .slice(1)
      .map((event) => event.type)
      .filter((type) => type !== "message_update"),
  ).toEqual([
    "agent_start",
    "turn_start",
    "message_start",
    "message_end",
    "message_start",
    "message_end",
    "turn_end",
    "agent_end",
    "agent_settled",
  ]);
});

test("every line is one object, ended by a line feed alone, also with U+2028 in it", async () => {
  const { text } = await runJson(["a\u2028b\u2029c\r\nd"]);
  const lines = text.split("\n");
  expect(lines.pop()).toBe("");
  for (const line of lines) expect(JSON.parse(line)).toBeTypeOf("object");
  expect(text).toContain("a\u2028b\u2029c\\r\\nd");
});

test("F143: an update carries its delta and the usage, never the message so far", async () => {
  const { events } = await runJson(["hello world"]);
  const updates = events.filter((event) => event.type === "message_update");
  expect(updates.some((update) => "message" in update || "partial" in update.assistantMessageEvent)).toBe(false);
  expect(updates[0].usage).toMatchObject({ totalTokens: 2 });
  const text = updates.map((update) => update.assistantMessageEvent.delta ?? "").join("");
  expect(text).toBe("hello world");
});

test("F143: what is written grows with the answer, not with its square", async () => {
  const small = (await runJson(["x".repeat(1_000)])).text.length;
  const large = (await runJson(["x".repeat(10_000)])).text.length;
  expect(large).toBeLessThan(small * 11);
});

test("F143: while the reader is behind, nothing more is taken from the model, and an abort is obeyed", async () => {
  const agent = createScriptedAgent(["x".repeat(1_000)]);
  const { output, lines, state, catchUp } = createSlowOutput();
  const options = {
    agent,
    cwd: "/",
    prompts: [{ text: "go", images: [] }],
    output,
    signal: new AbortController().signal,
  };
  const first = new Promise<void>((resolve) => {
    const undo = agent.on("message_update", () => {
      state.isSlow = true;
      resolve();
      void undo();
    });
  });
  const running = runJsonMode(options);
  await first;
  const held = lines.length;
  for (let i = 0; i < 50; i++) await setImmediate();
  // One batch was on its way.
  expect(lines.length).toBeLessThanOrEqual(held + 2);
  catchUp();
  for (let i = 0; i < 50; i++) await setImmediate();
  expect(lines.length).toBeGreaterThan(held);
  await agent.abort();
  expect(await running).toBe(1);
  expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ type: "agent_settled", aborted: true });
  await agent.dispose();
});

test("a failed answer is told by the exit code", async () => {
  const { code, events } = await runJson([{ stopReason: "error", errorMessage: "no", failure: { kind: "server" } }]);
  expect(code).toBe(1);
  expect(events.at(-1)).toMatchObject({ type: "agent_settled", outcome: "error" });
});

test("events other than updates travel as they are", () => {
  const event = { type: "turn_start" as const, runId: "r", turnIndex: 0, timestamp: 1 };
  expect(toWireEvent(event)).toBe(event);
});
