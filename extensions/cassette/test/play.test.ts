import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { StreamEvent } from "@pi-agent/kernel";
import { tempProject } from "@pi-agent/testing";
import { expect, onTestFinished, test } from "vitest";
import type { CassetteOptions, Turn } from "../src/index.ts";
import { cassetteAgent, echo } from "./agent.ts";

async function cassetteFile(...lines: unknown[]): Promise<string> {
  const project = await tempProject();
  onTestFinished(() => project.cleanup());
  const path = join(project.path, "run.jsonl");
  const header = { type: "cassette", version: 1, scripted: true };
  await writeFile(path, [header, ...lines].map((line) => JSON.stringify(line)).join("\n"));
  return path;
}

const TURNS: Turn[] = [
  {
    thinking: "One after the other.",
    text: "I call twice.",
    calls: ["a", "b"].map((text) => ({ name: "echo", arguments: { text } })),
  },
  { text: "Both answered." },
];

test("E11 a scripted file is played turn by turn on the real kernel, with the tools really running", async () => {
  const agent = cassetteAgent({ file: await cassetteFile(...TURNS) }, { extensions: [echo] });
  onTestFinished(async () => void (await agent.dispose()));
  const { answer, outcome, messages } = await agent.run("go");
  expect([answer, outcome]).toEqual(["Both answered.", "done"]);
  const answers = messages.filter(({ role }) => role === "assistant");
  expect(answers).toMatchObject([
    { provider: "cassette", model: "scripted", stopReason: "toolUse" },
    { stopReason: "stop" },
  ]);
  expect(messages.filter(({ role }) => role === "toolResult")).toMatchObject([
    { content: [{ text: "a" }] },
    { content: [{ text: "b" }] },
  ]);
});

test("what a program wrote is played instead of a file, and the flag stands over the option", async () => {
  const written = cassetteAgent({ turns: [{ text: "from code" }] });
  const flags = new Map([["cassette", await cassetteFile({ text: "from the flag" })]]);
  const flagged = cassetteAgent({ file: "/nowhere" }, { host: { flags } });
  onTestFinished(async () => void (await Promise.all([written.dispose(), flagged.dispose()])));
  expect((await written.run("go")).answer).toBe("from code");
  expect((await flagged.run("go")).answer).toBe("from the flag");
});

test("text arrives in small pieces and in the order of the contract", async () => {
  const agent = cassetteAgent({ turns: [{ thinking: "Hm", text: "Thirteen char" }] });
  onTestFinished(async () => void (await agent.dispose()));
  const events: StreamEvent["type"][] = [];
  agent.on("message_update", ({ assistantMessageEvent }) => void events.push(assistantMessageEvent.type));
  await agent.run("go");
  expect(events).toEqual([
    "thinking_start",
    "thinking_delta",
    "thinking_end",
    "text_start",
    "text_delta",
    "text_delta",
    "text_end",
  ]);
});

test("no piece cuts a character in two", async () => {
  const agent = cassetteAgent({ turns: [{ text: "eleven char\u{1F40B}\u{1F40B} and more" }] });
  onTestFinished(async () => void (await agent.dispose()));
  const deltas: string[] = [];
  agent.on("message_update", ({ assistantMessageEvent: event }) => {
    if (event.type === "text_delta") deltas.push(event.delta);
  });
  const { answer } = await agent.run("go");
  expect(deltas.every((delta) => delta.isWellFormed())).toBe(true);
  expect(deltas.join("")).toBe(answer);
});

test("a recorded text that somebody made longer arrives whole, the rest with its end", async () => {
  const content = [{ type: "text", text: "Longer than it was." }];
  const line = { purpose: "turn", stopReason: "stop", content, batches: [[[0, 6]], [[0]]] };
  const agent = cassetteAgent({ file: await cassetteFile(line) });
  onTestFinished(async () => void (await agent.dispose()));
  expect((await agent.run("go")).answer).toBe("Longer than it was.");
});

test("each purpose has its own place, so that a call beside the loop does not mix up the turns", async () => {
  const asks = {
    extension: (pi: Parameters<typeof echo>[0]) => {
      pi.on("turn_end", async () => {
        const title = await pi.complete({ messages: [{ role: "user", content: "t", timestamp: 0 }], purpose: "title" });
        pi.setSessionName(title.content.map((block) => (block.type === "text" ? block.text : "")).join(""));
      });
    },
    owner: { name: "titles", scope: "inline" as const },
  };
  const turns: Turn[] = [{ text: "A title", purpose: "title" }, { text: "The answer" }];
  const agent = cassetteAgent({ turns }, { extensions: [asks] });
  onTestFinished(async () => void (await agent.dispose()));
  expect((await agent.run("go")).answer).toBe("The answer");
  expect(agent.transcript.path()).toContainEqual(expect.objectContaining({ type: "session_info", name: "A title" }));
});

test.each([
  ["at its end", [], /run\.jsonl is at its end: it holds no answer to another turn\. Add a line/],
  [
    "of another conversation",
    [{ text: "a", turns: 4 }],
    /Line 2 of .*run\.jsonl answers a conversation with 4 answers in it, and this one has 0\. Play it from its beginning/,
  ],
  ["with a bad line", ["x"], /run\.jsonl cannot be played: line 2 is not an object\. Mend it/],
])("a cassette %s is a typed failure that says where and what to do", async (_name, lines, why) => {
  const agent = cassetteAgent({ file: await cassetteFile(...lines) });
  onTestFinished(async () => void (await agent.dispose()));
  const { outcome, messages } = await agent.run("go");
  expect(outcome).toBe("error");
  expect(messages.at(-1)).toMatchObject({
    stopReason: "error",
    failure: { kind: "invalid_request" },
    errorMessage: expect.stringMatching(why),
  });
});

test.each([
  [{}, /no cassette is in\. Name one: --cassette <file>/],
  [{ file: "/nowhere/run.jsonl" }, /\/nowhere\/run\.jsonl cannot be played: ENOENT/],
])("without a cassette that can be played the failure says so: %j", async (options, why) => {
  const agent = cassetteAgent(options);
  onTestFinished(async () => void (await agent.dispose()));
  const { messages } = await agent.run("go");
  expect(messages.at(-1)).toMatchObject({ stopReason: "error", errorMessage: expect.stringMatching(why) });
});

test("a speed that is no number is a failure that says what is wrong, that nothing was played, and what to give", async () => {
  const flags = new Map([["cassette-speed", "fast"]]);
  const agent = cassetteAgent({ turns: [{ text: "a" }] }, { host: { flags } });
  onTestFinished(async () => void (await agent.dispose()));
  const { messages } = await agent.run("go");
  expect(messages.at(-1)).toMatchObject({
    failure: { kind: "invalid_request" },
    errorMessage: expect.stringMatching(
      /--cassette-speed is "fast", which is no number of .* nothing was played\. Give one, as --cassette-speed 400/,
    ),
  });
});

test.each([{ speed: -1 }, { turns: [{ txt: "a" }] }, { files: "a.jsonl" }])(
  "the options %j are refused when the extension is loaded",
  async (options) => {
    const agent = cassetteAgent(options as CassetteOptions);
    onTestFinished(async () => void (await agent.dispose()));
    await agent.ready();
    expect(agent.extensions[0]).toMatchObject({ state: "failed", error: { code: "invalid_options" } });
  },
);

test("an abort in the middle of a slow answer ends it at once, with what had arrived", async () => {
  const agent = cassetteAgent({ turns: [{ text: "Thirteen char and very many more, one every hour" }], speed: 0.004 });
  const arrived = cassetteAgent({ turns: [{ text: "x".repeat(24) }], speed: 1_000 });
  onTestFinished(async () => void (await Promise.all([agent.dispose(), arrived.dispose()])));
  await agent.input("go");
  agent.on("agent_settled", () => {});
  await agent.abort();
  expect(agent.transcript.path().findLast(({ type }) => type === "message")).toMatchObject({
    message: { stopReason: "aborted" },
  });

  arrived.on("message_update", ({ assistantMessageEvent }) => {
    if (assistantMessageEvent.type === "text_delta") void arrived.abort();
  });
  await arrived.input("go");
  await arrived.settled();
  expect(arrived.transcript.path().at(-1)).toMatchObject({
    message: { stopReason: "aborted", content: [{ text: "x".repeat(12) }] },
  });
});
