import type { Agent } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { composePrompts, describeUnsent, runPrompts } from "../src/prompts.ts";
import { createScriptedAgent } from "./scripted-agent.ts";

const image = { type: "image" as const, data: "", mimeType: "image/png" };
const files = { text: "<file/>\n", images: [image] };
const noFiles = { text: "", images: [] };

test.each([
  [
    "words",
    { piped: "", files: noFiles, words: ["a", "b"] },
    [
      ["a", 0],
      ["b", 0],
    ],
  ],
  [
    "all three, in one prompt",
    { piped: "in", files, words: ["a", "b"] },
    [
      ["in\n<file/>\n\na", 1],
      ["b", 0],
    ],
  ],
  ["piped text alone", { piped: "in", files: noFiles, words: [] }, [["in", 0]]],
  ["an image alone", { piped: "", files: { text: "", images: [image] }, words: [] }, [["", 1]]],
  ["nothing", { piped: "", files: noFiles, words: [" "] }, []],
] as const)("F136: prompts are made of %s, each part used once", (_, sources, expected) => {
  const prompts = composePrompts(sources as never).map(({ text, images }) => [text, images.length]);
  expect(prompts).toEqual(expected);
});

const prompt = (text: string) => ({ text, images: [] });

test("further prompts run one after the other, and the last answer counts", async () => {
  const agent = createScriptedAgent(["first", "second"]);
  const ending = await runPrompts(agent, [prompt("a"), prompt("b")]);
  expect(ending.code).toBe(0);
  expect(ending.answer?.content).toEqual([{ type: "text", text: "second" }]);
  expect(agent.transcript.project().filter((message) => message.role === "user")).toHaveLength(2);
  await agent.dispose();
});

test("a prompt that fails is the last one", async () => {
  const agent = createScriptedAgent([{ stopReason: "error", errorMessage: "broken", failure: { kind: "server" } }]);
  const ending = await runPrompts(agent, [prompt("a"), prompt("b")]);
  expect(ending).toMatchObject({ code: 1, error: { why: "broken" } });
  await agent.dispose();
});

test("a command needs no answer", async () => {
  let called = "";
  const agent = createScriptedAgent([], {
    extensions: [(pi) => void pi.registerCommand("note", { handler: (args) => void (called = args) })],
  });
  expect(await runPrompts(agent, [prompt("/note it")])).toEqual({ code: 0 });
  expect(called).toBe("it");
  await agent.dispose();
});

test("a run that started and never told its end is a failure in three parts", async () => {
  const agent = { on: () => async () => {}, input: async () => "started", settled: async () => {} };
  const ending = await runPrompts(agent as unknown as Agent, [prompt("a")]);
  expect(ending).toMatchObject({
    code: 1,
    error: { what: expect.any(String), why: expect.any(String), hint: expect.any(String) },
  });
});

test("F134: what waits in the queue when nothing more will run is told, each once", () => {
  const user = (content: unknown) => ({ role: "user", content, timestamp: 0 }) as never;
  expect(describeUnsent({ steering: [], followUp: [] })).toBeUndefined();
  const left = { steering: [user("one\u001b[2J")], followUp: [user([{ type: "text", text: "two" }])] };
  expect(describeUnsent(left)?.what).toBe('Not sent, because the run ended before: "one\ufffd[2J", "two"');
});
