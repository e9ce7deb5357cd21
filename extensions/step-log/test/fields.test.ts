import type { Context, Extension, ExtensionAPI, HookPoints, ProviderRequest } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { call, fails, type Line, prompt, say, startLogging } from "./logging.ts";
import { answer } from "./scripted.ts";

const only = (lines: readonly Line[], ...events: string[]) => lines.filter(({ event }) => events.includes(event));

/** Tools that answer, fail, show a picture, and never end. */
const tools: Extension = (pi) => {
  const register = (name: string, execute: () => Promise<{ content: { type: "text"; text: string }[] }>) =>
    pi.registerTool({ name, description: "A tool.", parameters: { type: "object" }, execute });
  register("echo", async () => ({ content: [{ type: "text", text: "12345" }] }));
  register("fail", async () => {
    throw new Error("no such file");
  });
  register("show", async () => ({
    content: [{ type: "text", text: "123" }, { type: "image", data: "AAAA", mimeType: "image/png" } as never],
  }));
  register("hang", () => new Promise<never>(() => {}));
};

test("tool_result: isError where it failed, chars of text only, no durationMs where it never ran", async () => {
  const gate: Extension = (pi) =>
    void pi.on("tool_call", ({ toolName }) => ({ block: toolName === "echo", reason: "Not now." }));
  const turns = ["fail", "show", "echo", "missing"].map((name) => () => call(name));
  await using it = await startLogging({ turns, after: [tools, gate] });
  await prompt(it.agent);
  const results = only(await it.finish(), "tool_result").map(
    ({ ts: _ts, runId: _id, iteration: _at, ...rest }) => rest,
  );
  const event = "tool_result";
  expect(results).toEqual([
    {
      event,
      tool: "fail",
      toolCallId: "id-fail",
      isError: true,
      chars: expect.any(Number),
      durationMs: expect.any(Number),
    },
    { event, tool: "show", toolCallId: "id-show", isError: false, chars: 3, durationMs: expect.any(Number) },
    { event, tool: "echo", toolCallId: "id-echo", isError: true, chars: expect.any(Number) },
    { event, tool: "missing", toolCallId: "id-missing", isError: true, chars: expect.any(Number) },
  ]);
});

test("llm_response: stopReason, usage, cost and calls of each answer, and run_end their sums", async () => {
  const both = () =>
    answer([
      { type: "toolCall", id: "1", name: "echo", arguments: {} },
      { type: "toolCall", id: "2", name: "echo", arguments: {} },
    ]);
  const cut = () => answer([{ type: "text", text: "cut" }], { stopReason: "length" });
  await using it = await startLogging({ turns: [both, cut], after: [tools] });
  await prompt(it.agent);
  const lines = await it.finish();
  const usage = { input: 10, output: 5, cacheRead: 2, cacheWrite: 1, totalTokens: 18 };
  expect(only(lines, "llm_response")).toMatchObject([
    { model: "scripted/scripted", stopReason: "toolUse", toolCalls: 2, usage, cost: 0.25 },
    { stopReason: "length", toolCalls: 0, usage, cost: 0.25 },
  ]);
  const sum = { input: 20, output: 10, cacheRead: 4, cacheWrite: 2, totalTokens: 36 };
  expect(lines.at(-1)).toMatchObject({ event: "run_end", turns: 2, usage: sum, cost: 0.5, answer: "cut" });
});

test("llm_call: how many messages, and about how many tokens", async () => {
  await using it = await startLogging({ turns: [() => call("echo"), () => say("done")], after: [tools] });
  await prompt(it.agent, "x".repeat(4_000));
  const [first, second] = only(await it.finish(), "llm_call") as (Line & { estimatedTokens: number })[];
  expect([first!.messages, second!.messages]).toEqual([1, 3]);
  expect(first!.estimatedTokens).toBeGreaterThanOrEqual(1_000);
});

test("run_end: the outcomes max_turns, stopped and aborted", async () => {
  await using limited = await startLogging({
    turns: [() => call("echo"), () => call("echo")],
    after: [tools],
    maxTurns: 2,
  });
  await prompt(limited.agent);
  expect((await limited.finish()).at(-1)).toMatchObject({ outcome: "max_turns", turns: 2, iteration: 1 });

  const stop: Extension = (pi) => void pi.on("turn_end", () => ({ stop: true }));
  await using stopped = await startLogging({ turns: [() => call("echo")], after: [tools, stop] });
  await prompt(stopped.agent);
  expect((await stopped.finish()).at(-1)).toMatchObject({ outcome: "stopped", turns: 1 });
});

test("an abort in the middle of a tool: its call has a result, and the run its end", async () => {
  await using it = await startLogging({ turns: [() => call("hang")], after: [tools] });
  const running = new Promise<void>((resolve) => it.agent.on("tool_execution_start", () => resolve()));
  await it.agent.input("go");
  await running;
  await it.agent.abort();
  const lines = await it.finish();
  expect(only(lines, "tool_call", "tool_result", "run_end")).toMatchObject([
    { event: "tool_call", tool: "hang" },
    { event: "tool_result", tool: "hang", isError: true },
    { event: "run_end", outcome: "aborted" },
  ]);
  expect(only(lines, "run_error")).toEqual([]);
});

test("run_error stands at the turn that failed, with kind, message and durationMs", async () => {
  await using it = await startLogging({ turns: [() => call("echo"), () => fails("auth")], after: [tools] });
  await prompt(it.agent);
  const { ts: _ts, runId: _id, ...error } = only(await it.finish(), "run_error")[0]!;
  const durationMs = expect.any(Number);
  expect(error).toEqual({ event: "run_error", iteration: 1, kind: "auth", message: "It is auth.", durationMs });
});

/** Calls a model beside the loop, as compaction does, at the second turn. */
const summing: Extension = (pi) => {
  pi.on("before_turn", async ({ turnIndex }) => {
    if (turnIndex === 1) await pi.complete({ messages: [], purpose: "compaction" });
  });
};

test("a compaction call in a run is told apart by its purpose, and belongs to the turn that waits for it", async () => {
  const turns = [() => call("echo"), () => say("summary"), () => say("done")];
  await using it = await startLogging({ turns, after: [tools, summing] });
  await prompt(it.agent);
  const lines = await it.finish();
  expect(only(lines, "llm_call").map(({ purpose, iteration, attempt }) => [purpose, iteration, attempt])).toEqual([
    ["turn", 0, 1],
    ["compaction", 1, 1],
    ["turn", 1, 1],
  ]);
  expect(lines.at(-1)).toMatchObject({ turns: 2, cost: 0.75, answer: "done" });
});

type Answers = HookPoints["provider_call"]["result"];

async function* askTwice(request: ProviderRequest, next: (request: ProviderRequest) => Answers) {
  for await (const _ of next(request));
  yield* next(request);
}

test("attempts are counted where an extension sends the same request again", async () => {
  const twice: Extension = (pi) =>
    void pi.on("provider_call", (request, next) =>
      request.purpose === "turn" ? next(request) : askTwice(request, next),
    );
  const turns = [() => call("echo"), () => fails("overloaded"), () => say("summary"), () => say("done")];
  await using it = await startLogging({ turns, before: [twice], after: [tools, summing] });
  await prompt(it.agent);
  const calls = only(await it.finish(), "llm_call");
  expect(calls.map(({ purpose, attempt }) => [purpose, attempt])).toEqual([
    ["turn", 1],
    ["compaction", 1],
    ["compaction", 2],
    ["turn", 1],
  ]);
});

test("names and ids that a model made up are cut and masked", async () => {
  const secret = `sk-ant-${"a1".repeat(12)}`;
  await using it = await startLogging({ turns: [() => call("n".repeat(5_000), {}, `${secret} ${"i".repeat(5_000)}`)] });
  await prompt(it.agent);
  for (const { tool, toolCallId } of only(await it.finish(), "tool_call", "tool_result")) {
    expect(tool).toBe(`${"n".repeat(200)}… (5000 characters)`);
    expect(toolCallId).toMatch(/^\*\*\* i+…/);
  }
});

test("a key that no variable holds is masked once a call has been made with it", async () => {
  const key = "plain-looking-key";
  const credentials = {
    names: () => [],
    resolve: async () => ({ apiKey: key, headers: { "x-token": "other-looking" } }),
  };
  const turns = [() => call("echo", { key, other: "other-looking" }), () => say(`It is ${key}.`)];
  await using it = await startLogging({ turns, after: [tools], host: { credentials } });
  await prompt(it.agent);
  const lines = await it.finish();
  expect(JSON.stringify(lines)).not.toMatch(/looking/);
  expect(lines.at(-1)!.answer).toBe("It is ***.");
});

/** Lends the context of an extension, to make children with. */
function lender(): { extension: Extension; ctx: () => Context } {
  let api!: ExtensionAPI;
  return { extension: (pi) => void (api = pi), ctx: () => api.context };
}

test("children are logged, and theirs: runs of their own, with the run that they were made in", async () => {
  const parent = lender();
  const grandchildren = lender();
  const spawn: Extension = (pi) => {
    pi.registerTool({
      name: "spawn",
      description: "Asks a child.",
      parameters: { type: "object" },
      async execute(_id, _args, _signal, _onUpdate, ctx) {
        const child = ctx.createAgent({ extensions: [grandchildren.extension, tools] });
        await child.ready();
        const grandchild = grandchildren.ctx().createAgent({});
        await grandchild.run("deepest");
        return { content: [{ type: "text", text: (await child.run("sub")).answer }] };
      },
    });
  };
  const turns = [() => call("spawn"), () => say("deep"), () => say("sub answer"), () => say("done")];
  await using it = await startLogging({ turns, after: [spawn, parent.extension] });
  await prompt(it.agent);
  const lines = await it.finish();
  const starts = only(lines, "run_start") as (Line & { runId: string; sessionId: string })[];
  expect(starts).toHaveLength(3);
  expect(new Set(starts.map(({ sessionId }) => sessionId)).size).toBe(3);
  expect(starts[0]).not.toHaveProperty("parentRunId");
  expect(starts[2]).toMatchObject({ parentRunId: starts[0]!.runId, tools: ["echo", "fail", "show", "hang"] });
  const ends = only(lines, "run_end");
  expect(ends.map(({ runId, answer: said }) => [runId, said])).toEqual([
    [starts[1]!.runId, "deep"],
    [starts[2]!.runId, "sub answer"],
    [starts[0]!.runId, "done"],
  ]);
});

test("a child that outlives the log goes on without it", async () => {
  const parent = lender();
  await using it = await startLogging({ turns: [() => say("one"), () => say("two")], after: [parent.extension] });
  const child = parent.ctx().createAgent({});
  await child.run("first");
  await it.agent.unload(it.agent.extensions[0]!.owner.name);
  expect((await child.run("second")).answer).toBe("two");
  expect(only(await it.finish(), "run_start")).toHaveLength(1);
});
