import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Agent, createAgent, type Extension, type FlagValue, type Host } from "@pi-agent/kernel";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import stepLog from "../src/index.ts";
import { answer, scripted, type Turn } from "./scripted.ts";

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "pi-step-log-"));
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  rmSync(cwd, { recursive: true });
});

type Line = Record<string, unknown> & { event: string };
interface Started {
  agent: Agent;
  notices: string[];
  flags: Map<string, FlagValue>;
  /** Ends the agent and reads the log. */
  finish: () => Promise<Line[]>;
}

async function start(given: {
  turns?: Turn[];
  log?: string;
  extensions?: Extension[];
  host?: Partial<Host>;
}): Promise<Started> {
  const { turns, log, extensions = [], host } = given;
  const flags = new Map<string, FlagValue>(log === undefined ? [] : [["log", log]]);
  const notices: string[] = [];
  const ui = { notify: (text: string) => void notices.push(text) } as Host["ui"];
  const agent = createAgent({
    extensions: [stepLog, scripted(turns), ...extensions],
    host: { cwd, flags, ui, ...host },
    graceMs: 50,
  });
  await agent.ready();
  const finish = async () => {
    await agent.dispose();
    return parse(readFileSync(join(cwd, log!), "utf8"));
  };
  return { agent, notices, flags, finish };
}

function parse(text: string): Line[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);
}

async function prompt(agent: Agent, text = "go"): Promise<void> {
  await agent.input(text);
  await agent.settled();
}

const call = (name: string, args = {}) => answer([{ type: "toolCall", id: `id-${name}`, name, arguments: args }]);
const say = (text: string) => answer([{ type: "text", text }]);
const echo: Extension = (pi) => {
  pi.registerTool({
    name: "echo",
    description: "Answers",
    parameters: { type: "object" },
    execute: async () => ({ content: [{ type: "text", text: "12345" }] }),
  });
};

test("E11 a run on the real kernel is seven kinds of lines with exactly their fields, in order", async () => {
  const { agent, finish } = await start({
    log: "log.jsonl",
    turns: [() => call("echo", { path: "x" }), () => say("the answer")],
    extensions: [echo],
  });
  await prompt(agent);
  const sessionId = agent.sessionId;
  const lines = await finish();
  expect(lines.map(({ event, iteration }) => [event, iteration])).toEqual([
    ["run_start", 0],
    ["llm_call", 0],
    ["llm_response", 0],
    ["tool_call", 0],
    ["tool_result", 0],
    ["llm_call", 1],
    ["llm_response", 1],
    ["run_end", 1],
  ]);
  for (const line of lines) {
    expect(line.ts).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(line.runId).toBe(lines[0]!.runId);
    expect(line.runId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    expect(Object.keys(line).slice(0, 4)).toEqual(["ts", "runId", "iteration", "event"]);
  }
  const fields = lines.map(({ ts: _ts, runId: _id, iteration: _at, event: _event, ...rest }) => rest);
  const usage = { input: 10, output: 5, cacheRead: 2, cacheWrite: 1, totalTokens: 18 };
  const durationMs = expect.any(Number);
  const model = "scripted/scripted";
  expect(fields).toEqual([
    { sessionId, cwd, model, tools: ["echo"] },
    { model, attempt: 1, purpose: "turn", messages: 1, estimatedTokens: expect.any(Number) },
    { model, stopReason: "toolUse", usage, cost: 0.25, toolCalls: 1, durationMs },
    { tool: "echo", toolCallId: "id-echo", args: { path: "x" } },
    { tool: "echo", toolCallId: "id-echo", isError: false, chars: 5, durationMs },
    { model, attempt: 1, purpose: "turn", messages: 3, estimatedTokens: expect.any(Number) },
    { model, stopReason: "stop", usage, cost: 0.25, toolCalls: 0, durationMs },
    {
      outcome: "done",
      turns: 2,
      usage: { input: 20, output: 10, cacheRead: 4, cacheWrite: 2, totalTokens: 36 },
      cost: 0.5,
      answer: "the answer",
      durationMs,
    },
  ]);
});

test("a run that goes on before it settles is one run", async () => {
  let more = 1;
  const goOn: Extension = (pi) => {
    const entries = [{ type: "custom_message" as const, customType: "more", content: "go on", display: false }];
    pi.on("agent_before_settle", () => (more-- > 0 ? { entries, continue: true } : undefined));
  };
  const { agent, finish } = await start({
    log: "log.jsonl",
    turns: [() => say("first"), () => say("second")],
    extensions: [goOn],
  });
  await prompt(agent);
  const lines = await finish();
  const count = (event: string) => lines.filter((line) => line.event === event).length;
  expect(["run_start", "llm_call", "run_end"].map(count)).toEqual([1, 2, 1]);
  expect(lines.at(-1)).toMatchObject({ turns: 2, answer: "second", iteration: 1 });
});

test("a failed run has a run_error before its run_end; attempts are counted", async () => {
  const failed = () =>
    answer([], {
      stopReason: "error",
      errorMessage: "Too many requests.",
      failure: { kind: "rate_limit", status: 429 },
    });
  let retries = 1;
  const retry: Extension = (pi) => {
    pi.on("provider_error", () => (retries-- > 0 ? { retry: { delayMs: 0, reason: "again" } } : { stop: true }));
  };
  const { agent, finish } = await start({ log: "log.jsonl", turns: [failed, failed], extensions: [retry] });
  await prompt(agent);
  const lines = await finish();
  expect(lines.map(({ event }) => event)).toEqual([
    "run_start",
    "llm_call",
    "llm_response",
    "llm_call",
    "llm_response",
    "run_error",
    "run_end",
  ]);
  expect(lines.flatMap(({ attempt }) => attempt ?? [])).toEqual([1, 2]);
  expect(lines[2]).toMatchObject({ stopReason: "error" });
  expect(lines[5]).toMatchObject({ kind: "rate_limit", message: "Too many requests.", durationMs: expect.any(Number) });
  expect(lines[6]).toMatchObject({ outcome: "error", answer: "" });
});

test("a provider that throws, and one that never ends, still get their llm_response", async () => {
  const thrown = await start({
    log: "thrown.jsonl",
    turns: [
      () => {
        throw new Error("broken pipe");
      },
    ],
  });
  await prompt(thrown.agent);
  expect(await thrown.finish()).toMatchObject([
    { event: "run_start" },
    { event: "llm_call" },
    { event: "llm_response", stopReason: "error", toolCalls: 0 },
    { event: "run_error", kind: "unknown", message: expect.stringContaining("broken pipe") },
    { event: "run_end", outcome: "error" },
  ]);

  let hasStarted = () => {};
  const started = new Promise<void>((resolve) => (hasStarted = resolve));
  const hangs = await start({
    log: "hangs.jsonl",
    turns: [
      () => {
        hasStarted();
        return new Promise<never>(() => {});
      },
    ],
  });
  await hangs.agent.input("go");
  await started;
  await hangs.agent.abort();
  expect(await hangs.finish()).toMatchObject([
    { event: "run_start" },
    { event: "llm_call" },
    { event: "llm_response", stopReason: "aborted" },
    { event: "run_end", outcome: "aborted" },
  ]);
});

test("a model call outside a run belongs to none", async () => {
  const titled: Extension = (pi) => {
    pi.registerCommand("title", {
      handler: async () => void (await pi.complete({ messages: [], purpose: "title" })),
    });
  };
  const { agent, finish } = await start({ log: "log.jsonl", extensions: [titled] });
  await prompt(agent);
  await agent.input("/title");
  const lines = await finish();
  expect(lines.slice(-2)).toMatchObject([
    { event: "llm_call", runId: null, iteration: null, purpose: "title", attempt: 1 },
    { event: "llm_response", runId: null, iteration: null },
  ]);
});

test("secrets are masked in arguments, keys, answers and errors", async () => {
  vi.stubEnv("MY_SERVICE_KEY", "plain-looking-value");
  const credentials = { names: () => ["MY_SERVICE_KEY"], resolve: async () => ({}) };
  const secret = `sk-ant-${"a1".repeat(12)}`;
  const args = { deep: [{ header: `Bearer ${"t".repeat(20)}`, [secret]: "plain-looking-value" }] };
  const { agent, finish } = await start({
    log: "log.jsonl",
    turns: [
      () => call("echo", args),
      () => answer([{ type: "text", text: `it is ${secret}` }], { stopReason: "error", errorMessage: `bad ${secret}` }),
    ],
    extensions: [echo],
    host: { credentials },
  });
  await prompt(agent);
  const lines = await finish();
  const text = JSON.stringify(lines);
  for (const hidden of [secret, "plain-looking-value", "t".repeat(20)]) expect(text).not.toContain(hidden);
  expect(lines.find(({ event }) => event === "tool_call")!.args).toEqual({
    deep: [{ header: "Bearer ***", "***": "***" }],
  });
  expect(lines.find(({ event }) => event === "run_error")!.message).toBe("bad ***");
  expect(lines.at(-1)!.answer).toBe("it is ***");
});

test("without --log nothing is written, and no step is listened to", async () => {
  const written = vi.spyOn(process.stderr, "write");
  const heard: string[] = [];
  const watched: Extension = (pi) =>
    stepLog({
      ...pi,
      on(name, handler) {
        heard.push(name);
        return pi.on(name, handler);
      },
    });
  const agent = createAgent({ extensions: [watched, scripted()], host: { cwd } });
  await agent.ready();
  await agent.dispatch("session_start", { reason: "startup" });
  await prompt(agent);
  await agent.dispose();
  expect(heard).toEqual(["session_start"]);
  expect(written).not.toHaveBeenCalled();
  expect(readdirSync(cwd)).toEqual([]);
});

test("a flag that is settled after loading counts from session_start on, once", async () => {
  const { agent, flags } = await start({});
  flags.set("log", "late.jsonl");
  await agent.dispatch("session_start", { reason: "startup" });
  await agent.dispatch("session_start", { reason: "resume" });
  await prompt(agent);
  await agent.dispose();
  const lines = parse(readFileSync(join(cwd, "late.jsonl"), "utf8"));
  expect(lines.map(({ event }) => event)).toEqual(["run_start", "llm_call", "llm_response", "run_end"]);
});

test("stderr and stdout get the lines themselves", async () => {
  for (const target of ["stderr", "stdout"] as const) {
    const written: string[] = [];
    const spy = vi.spyOn(process[target], "write").mockImplementation((text) => {
      written.push(String(text));
      return true;
    });
    const { agent } = await start({ log: target });
    await prompt(agent);
    await agent.dispose();
    spy.mockRestore();
    expect(parse(written.join("")).map(({ event }) => event)).toEqual([
      "run_start",
      "llm_call",
      "llm_response",
      "run_end",
    ]);
  }
});

test("stdout is the service of that name where there is one", async () => {
  const written: string[] = [];
  const lend: Extension = (pi) => {
    pi.register("service", "stdout", { write: (text: string) => void written.push(text) });
  };
  const { agent } = await start({ log: "stdout", extensions: [lend] });
  await prompt(agent);
  await agent.dispose();
  expect(parse(written.join("")).at(-1)).toMatchObject({ event: "run_end", answer: "done" });
});

test("stdout is refused, in three parts, where a mode has it for itself", async () => {
  const { agent, flags } = await start({ host: { mode: "json" } });
  flags.set("log", "stdout");
  const faults: Error[] = [];
  agent.on("fault", ({ error }) => void faults.push(error));
  await agent.dispatch("session_start", { reason: "startup" });
  expect(faults).toMatchObject([{ code: "log_stdout", hint: expect.any(String) }]);
  const written = vi.spyOn(process.stdout, "write");
  await prompt(agent);
  await agent.dispose();
  expect(written).not.toHaveBeenCalled();
});

test("a file is appended to, and its owner's only", async () => {
  const first = await start({ log: "log.jsonl" });
  await prompt(first.agent);
  await prompt(first.agent);
  expect(await first.finish()).toHaveLength(8);
  expect(statSync(join(cwd, "log.jsonl")).mode & 0o777).toBe(0o600);
  const second = await start({ log: "log.jsonl" });
  await prompt(second.agent);
  expect(await second.finish()).toHaveLength(12);
});

test("a file that cannot be written is told once, and the run goes on", async () => {
  writeFileSync(join(cwd, "file"), "");
  const { agent, notices } = await start({ log: "file/log.jsonl" });
  await prompt(agent);
  await prompt(agent);
  await agent.dispose();
  expect(agent.transcript.project().at(-1)).toMatchObject({ role: "assistant" });
  expect(notices[0]).toContain("file/log.jsonl");
  expect(notices.filter((notice) => notice.includes("cannot be written"))).toHaveLength(1);
});

test("a pipe that nobody reads is refused at once, and the run goes on", async () => {
  execFileSync("mkfifo", [join(cwd, "pipe")]);
  const { agent, notices } = await start({ log: "pipe" });
  await prompt(agent);
  await agent.dispose();
  expect(notices[0]).toContain("cannot be written to pipe: it is a pipe, not a file. The run goes on without it.");
});

test.each(["/dev/null", "/dev/full"])("a character device takes the log as far as it can: %s", async (log) => {
  const { agent, notices } = await start({ log });
  await prompt(agent);
  await agent.dispose();
  expect(notices.some((text) => text.includes("not a file"))).toBe(false);
  expect(notices.some((text) => text.includes("cannot be written"))).toBe(log === "/dev/full");
});
