import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AssistantMessage, Extension, StreamEvent } from "@pi-agent/kernel";
import { tempProject } from "@pi-agent/testing";
import { expect, onTestFinished, test } from "vitest";
import { cassetteAgent, echo, liveProvider, message, plainEvents } from "./agent.ts";

const KEY = "live-secret-0123456789";

async function folder(): Promise<string> {
  const project = await tempProject();
  onTestFinished(() => project.cleanup());
  return project.path;
}

/** Two blocks that arrive mixed up, in uneven batches, with a signature. */
function* mixedAnswer(): Generator<StreamEvent[]> {
  const call = { type: "toolCall" as const, id: "c1", name: "echo", arguments: { text: "hello" } };
  const content: AssistantMessage["content"] = [
    { type: "thinking", thinking: `The key is ${KEY}.`, thinkingSignature: "opaque" },
    { type: "text", text: "Hello there." },
    call,
  ];
  const final = message(content, { stopReason: "toolUse", rawStopReason: "tool_use" });
  yield [
    { type: "start", partial: final },
    { type: "thinking_start", contentIndex: 0 },
  ];
  yield [{ type: "thinking_delta", contentIndex: 0, delta: "The key is live-sec" }];
  yield [
    { type: "thinking_delta", contentIndex: 0, delta: "ret-0123456789." },
    { type: "text_start", contentIndex: 1 },
    { type: "text_delta", contentIndex: 1, delta: "Hello " },
    { type: "thinking_end", contentIndex: 0, content: "" },
  ];
  yield [{ type: "toolcall_start", contentIndex: 2, id: "c1", toolName: "echo" }];
  yield [
    { type: "text_delta", contentIndex: 1, delta: "there." },
    { type: "toolcall_delta", contentIndex: 2, delta: '{ "text":' },
  ];
  yield [
    { type: "text_end", contentIndex: 1, content: "" },
    { type: "toolcall_delta", contentIndex: 2, delta: '"hello"}' },
  ];
  yield [
    { type: "toolcall_end", contentIndex: 2, toolCall: call },
    { type: "done", reason: "toolUse", message: final },
  ];
}

function* lastAnswer(): Generator<StreamEvent[]> {
  const final = message([{ type: "text", text: "Done." }]);
  yield [
    { type: "start", partial: final },
    { type: "text_start", contentIndex: 0 },
    { type: "text_delta", contentIndex: 0, delta: "Done." },
  ];
  yield [
    { type: "text_end", contentIndex: 0, content: "Done." },
    { type: "done", reason: "stop", message: final },
  ];
}

const credentials = {
  names: () => ["LIVE_KEY"],
  resolve: async () => ({ apiKey: KEY, headers: { "x-live": "header-secret-1" } }),
};

/** Runs two turns with a live model, recording them; answers the file. */
async function recordRun(path: string): Promise<string> {
  const answers = [mixedAnswer, lastAnswer];
  const live = liveProvider(async function* () {
    yield* answers.shift()?.() ?? [];
  });
  const agent = cassetteAgent(
    { record: path },
    { model: "live/model", extensions: [live, echo], host: { credentials } },
  );
  onTestFinished(async () => void (await agent.dispose()));
  expect((await agent.run("go")).answer).toBe("Done.");
  return readFile(path, "utf8");
}

test("what was recorded is played back with the same batches, blocks, stop reasons and counts", async () => {
  const path = join(await folder(), "run.jsonl");
  await recordRun(path);
  const agent = cassetteAgent({ file: path }, { extensions: [echo] });
  onTestFinished(async () => void (await agent.dispose()));
  const batches: StreamEvent[][] = [];
  agent.on("provider_call", (request, next) => watch(next(request), batches));
  const { answer, messages } = await agent.run("go");
  expect(answer).toBe("Done.");
  expect(messages.find(({ role }) => role === "toolResult")).toMatchObject({
    toolCallId: "c1",
    content: [{ text: "hello" }],
  });
  expect(messages.find(({ role }) => role === "assistant")).toMatchObject({
    rawStopReason: "tool_use",
    responseModel: "live/model",
    usage: { input: 10, output: 5, cost: { total: 0 } },
  });
  expect(plainEvents(batches).map((batch) => JSON.stringify(batch))).toEqual([
    '[["start"],["thinking_start",0]]',
    '[["thinking_delta",0,"The key is ***."]]',
    '[["text_start",1],["text_delta",1,"Hello "],["thinking_end",0]]',
    '[["toolcall_start",2]]',
    '[["text_delta",1,"there."],["toolcall_delta",2,"{\\"text\\":\\""]]',
    '[["text_end",1],["toolcall_delta",2,"hello\\"}"]]',
    '[["toolcall_end",2]]',
    '[["done","toolUse"]]',
    '[["start"],["text_start",0],["text_delta",0,"Done."]]',
    '[["text_end",0]]',
    '[["done","stop"]]',
  ]);
});

test("a recording holds no key, no signature and is its owner's only", async () => {
  const path = join(await folder(), "run.jsonl");
  const text = await recordRun(path);
  for (const secret of [KEY, "header-secret-1", "opaque"]) expect(text).not.toContain(secret);
  expect(text).toContain("The key is ***.");
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test("a second run is added to the cassette, after a line that had lost its end", async () => {
  const path = join(await folder(), "run.jsonl");
  await writeFile(path, '{"type":"cassette","version":1}\n{"text":"before"}');
  const lines = (await recordRun(path)).trimEnd().split("\n");
  expect(lines).toHaveLength(4);
  expect(JSON.parse(lines[3] ?? "")).toMatchObject({ purpose: "turn", turns: 1, stopReason: "stop" });
});

test("a file that is no cassette is left alone, and the run goes on", async () => {
  const path = join(await folder(), "notes.txt");
  await writeFile(path, "mine");
  const told: string[] = [];
  const live = liveProvider(async function* () {
    yield* lastAnswer();
  });
  const ui = { notify: (text: string) => void told.push(text) };
  const agent = cassetteAgent(
    { record: path },
    { model: "live/model", extensions: [live], host: { credentials, ui: ui as never } },
  );
  onTestFinished(async () => void (await agent.dispose()));
  expect((await agent.run("a")).outcome).toBe("done");
  expect((await agent.run("b")).outcome).toBe("done");
  expect(told).toEqual([expect.stringMatching(/Nothing is recorded to .*notes\.txt: line 1 is not JSON\./)]);
  expect(await readFile(path, "utf8")).toBe("mine");
});

test("a failed answer is recorded as it failed, and an aborted one is not", async () => {
  const path = join(await folder(), "run.jsonl");
  const failure = { kind: "content_filter" as const, status: 400 };
  const failed = message([], { stopReason: "error", failure, errorMessage: "live: refused" });
  const live = liveProvider(async function* ({ signal }) {
    yield [{ type: "start", partial: failed }];
    yield [
      signal.aborted
        ? { type: "error", reason: "aborted", error: failed }
        : { type: "error", reason: "error", error: failed },
    ];
  });
  const recorded = cassetteAgent({ record: path }, { model: "live/model", extensions: [live], host: { credentials } });
  const played = cassetteAgent({ file: path });
  onTestFinished(async () => void (await Promise.all([recorded.dispose(), played.dispose()])));
  await recorded.run("a");
  recorded.on("message_start", ({ message: { role } }) => void (role === "assistant" && recorded.abort()));
  await recorded.run("b");
  expect((await readFile(path, "utf8")).trimEnd().split("\n")).toHaveLength(2);
  const { messages, outcome } = await played.run("a");
  expect(outcome).toBe("error");
  expect(messages.at(-1)).toMatchObject({ stopReason: "error", failure, errorMessage: "live: refused" });
});

async function* watch(stream: AsyncIterable<readonly StreamEvent[]>, batches: StreamEvent[][]) {
  for await (const batch of stream) {
    batches.push([...batch]);
    yield batch;
  }
}

test("E11 a child plays from its parent's cassette, and the agent's own calls are what is recorded", async () => {
  const record = join(await folder(), "run.jsonl");
  const asks: Extension = (pi) => {
    pi.registerTool({
      name: "ask",
      description: "Asks a child.",
      parameters: { type: "object", properties: {} },
      async execute(_id, _args, _signal, _onUpdate, ctx) {
        const child = ctx.createAgent({});
        const { answer } = await child.run("child");
        await child.dispose();
        return { content: [{ type: "text", text: answer }] };
      },
    });
  };
  const turns = [{ calls: [{ name: "ask" }] }, { text: "from the child" }, { text: "done" }];
  const agent = cassetteAgent({ turns, record }, { extensions: [asks] });
  const { answer, messages } = await agent.run("go");
  await agent.dispose();
  expect(answer).toBe("done");
  expect(messages.find(({ role }) => role === "toolResult")).toMatchObject({ content: [{ text: "from the child" }] });
  const lines = (await readFile(record, "utf8")).trim().split("\n").slice(1);
  expect(lines.map((line) => JSON.parse(line).content)).toMatchObject([[{ type: "toolCall" }], [{ text: "done" }]]);
});
