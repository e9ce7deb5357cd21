import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAgent, type Extension, type Host, type JsonObject } from "@pi-agent/kernel";
import { scriptedProvider } from "@pi-agent/testing";
import { listLoadedModules } from "@pi-agent/testing/provider";
import { expect, onTestFinished, test } from "vitest";
import tools, { mutate } from "../src/index.ts";
import { commandLineOf } from "./living.ts";
import { tempFolder } from "./tool-call.ts";

const ALL = ["read", "bash", "edit", "write", "grep", "find", "ls"];

/** Tool calls of one answer, each `[name, arguments]`. */
type Calls = [name: string, args: JsonObject][];

/** A model that asks for the given calls, one batch per answer, and then is done. */
function scriptedModel(...batches: Calls[]) {
  const turns = batches.map((calls) => ({ calls: calls.map(([name, args]) => ({ name, arguments: args })) }));
  return scriptedProvider([...turns, { text: "done" }]);
}

function agentIn(cwd: string, batches: Calls[], more: { host?: Partial<Host>; options?: object } = {}) {
  const agent = createAgent({
    extensions: [scriptedModel(...batches), [tools, more.options ?? {}]],
    activeTools: ALL,
    host: { cwd, mode: "print", ...more.host },
  });
  onTestFinished(async () => void (await agent.dispose()));
  return agent;
}

/** Runs batches of calls on the real kernel; answers the texts of their results. */
async function resultsOf(cwd: string, batches: Calls[], more: { host?: Partial<Host>; options?: object } = {}) {
  const { messages } = await agentIn(cwd, batches, more).run("go");
  return messages.flatMap((message) => {
    if (message.role !== "toolResult") return [];
    const [block] = message.content;
    return [{ tool: message.toolName, isError: message.isError, text: block?.type === "text" ? block.text : "" }];
  });
}

test("E11 the real kernel runs all seven tools", async () => {
  const cwd = tempFolder();
  writeFileSync(join(cwd, "notes.txt"), "alpha\n");
  const results = await resultsOf(cwd, [
    [["read", { path: "notes.txt" }]],
    [["edit", { path: "notes.txt", edits: [{ oldText: "alpha", newText: "beta" }] }]],
    [["write", { path: "new.txt", content: "beta too\n" }]],
    [["bash", { command: "cat notes.txt" }]],
    [
      ["grep", { pattern: "beta" }],
      ["find", { pattern: "*.txt" }],
      ["ls", {}],
    ],
  ]);
  expect(results).toEqual([
    { tool: "read", isError: false, text: "alpha\n" },
    { tool: "edit", isError: false, text: "Successfully replaced 1 block(s) in notes.txt." },
    { tool: "write", isError: false, text: "Successfully wrote to new.txt" },
    { tool: "bash", isError: false, text: "beta\n" },
    { tool: "grep", isError: false, text: "new.txt:1: beta too\nnotes.txt:1: beta" },
    { tool: "find", isError: false, text: "new.txt\nnotes.txt" },
    { tool: "ls", isError: false, text: "new.txt\nnotes.txt" },
  ]);
});

test("what models get wrong about arguments is mended before the tools run", async () => {
  const cwd = tempFolder();
  writeFileSync(join(cwd, "f"), "a\nb\n");
  const results = await resultsOf(cwd, [
    [["read", { path: "f", offset: "2", limit: null }]],
    [["edit", { path: "f", oldText: "a", newText: "A" }]],
    [["bash", { command: "echo hi", timeout: "5" }]],
    [["read", {}]],
  ]);
  expect(results.map(({ text }) => text.split("\n")[0])).toEqual([
    "b",
    "Successfully replaced 1 block(s) in f.",
    "hi",
    "The arguments of read do not fit:",
  ]);
});

test("by default read, bash, edit and write are on", async () => {
  const agent = createAgent({ extensions: [scriptedModel(), tools], host: { cwd: tempFolder() } });
  await agent.ready();
  expect(agent.state.activeTools).toEqual(["read", "bash", "edit", "write"]);
  expect([...agent.registry("tool").keys()].sort()).toEqual([...ALL].sort());
  await agent.dispose();
});

test("E8 a limit to reading leaves read, grep, find and ls; the others are refused, and the model is told why", async () => {
  const cwd = tempFolder();
  writeFileSync(join(cwd, "f"), "a\n");
  const looking: Extension = (pi) => void pi.limitEffects({ ceiling: "read", reason: "looking around" });
  const calls: Calls = [
    ["read", { path: "f" }],
    ["grep", { pattern: "a" }],
    ["find", { pattern: "*" }],
    ["ls", {}],
    ["edit", { path: "f", edits: [{ oldText: "a", newText: "b" }] }],
    ["write", { path: "x", content: "x" }],
    ["bash", { command: "touch y" }],
  ];
  const agent = agentIn(cwd, [calls]);
  await agent.extend([{ extension: looking, owner: { name: "limit", scope: "inline" } }]);
  const { messages } = await agent.run("go");
  const results = messages.flatMap((message) => (message.role === "toolResult" ? [message] : []));
  const refused = results.filter(({ isError }) => isError);
  expect(refused.map(({ toolName }) => toolName)).toEqual(["edit", "write", "bash"]);
  for (const { content } of refused)
    expect(content).toMatchObject([{ text: expect.stringContaining("looking around") }]);
  expect(readdirSync(cwd)).toEqual(["f"]);
  expect(readFileSync(join(cwd, "f"), "utf8")).toBe("a\n");
});

test("E8 E9 each tool says what it may do, and tells gates the real paths, also through links", async () => {
  const cwd = tempFolder();
  mkdirSync(join(cwd, "real"));
  symlinkSync("real", join(cwd, "link"));
  const touched: Record<string, unknown> = {};
  const gate: Extension = (pi) =>
    void pi.on("tool_call", ({ toolName, touches }) => {
      touched[toolName] = touches;
      return { block: true, reason: "only looking" };
    });
  const path = "link/f";
  const calls: Calls = [
    ["read", { path }],
    ["edit", { path, edits: [{ oldText: "a", newText: "b" }] }],
    ["write", { path, content: "" }],
    ["grep", { pattern: "a", path }],
    ["find", { pattern: "*", path }],
    ["ls", { path }],
    ["bash", { command: "cat link/f" }],
  ];
  const agent = agentIn(cwd, [calls]);
  await agent.extend([{ extension: gate, owner: { name: "gate", scope: "inline" } }]);
  await agent.run("go");
  const real = join(cwd, "real/f");
  const reads = { read: [real], write: [] };
  expect(touched).toMatchObject({ read: reads, grep: reads, find: reads, ls: reads });
  expect(touched).toMatchObject({ write: { write: [real] }, edit: { write: [real] } });
  expect(touched.bash).toBeUndefined();
  const effects = [...agent.registry("tool").values()].map(({ name, value }) => [name, value.effect]);
  expect(Object.fromEntries(effects)).toEqual({
    read: "read",
    bash: "execute",
    edit: "write",
    write: "write",
    grep: "read",
    find: "read",
    ls: "read",
  });
});

test("calls beside a command run in their order, so that the command sees what they did", async () => {
  const results = await resultsOf(tempFolder(), [
    [
      ["write", { path: "run.sh", content: "echo from the script > out" }],
      ["bash", { command: "sh run.sh" }],
      ["read", { path: "out" }],
    ],
  ]);
  expect(results.at(-1)!.text).toBe("from the script\n");
});

test("the service files is the queue that edit and write use", async () => {
  const agent = agentIn(tempFolder(), []);
  await agent.ready();
  expect(agent.service("files")).toEqual({ mutate });
});

test("bash asks the host for the names of secrets, and for the settings", async () => {
  process.env.SOME_PROVIDER_KEY = "secret";
  onTestFinished(() => {
    delete process.env.SOME_PROVIDER_KEY;
  });
  const timeouts = [60, 0.1];
  const settings = (key: string) => (key === "shellCommandPrefix" ? "x=prefixed" : undefined);
  const host: Partial<Host> = {
    credentials: { names: () => ["SOME_PROVIDER_KEY"], resolve: async () => ({}) },
    settings: {
      get: (key) => (key === "bash.timeoutSeconds" ? timeouts.shift() : settings(key)),
      set: async () => {},
      onChange: () => () => {},
    },
  };
  const results = await resultsOf(
    tempFolder(),
    [[["bash", { command: 'echo "$x [$SOME_PROVIDER_KEY] $PI_MODEL"' }]], [["bash", { command: "sleep 60" }]]],
    { host },
  );
  expect(results[0]!.text).toBe("prefixed [] scripted\n");
  expect(results[1]!.text).toBe("Command timed out after 0.1 seconds");
});

test("commands are told the file that the service sessions names", async () => {
  const agent = agentIn(tempFolder(), [[["bash", { command: "echo $PI_SESSION_FILE" }]]]);
  const sessions: Extension = (pi) => void pi.register("service", "sessions", { current: { file: "/s.jsonl" } });
  await agent.extend([{ extension: sessions, owner: { name: "sessions", scope: "inline" } }]);
  const { messages } = await agent.run("go");
  const result = messages.find((message) => message.role === "toolResult");
  expect(result!.content).toEqual([{ type: "text", text: "/s.jsonl\n" }]);
});

test("F074 what a command left running ends when the agent is disposed", async () => {
  const agent = agentIn(tempFolder(), [[["bash", { command: "sleep 6173 & echo $!" }]]]);
  const { messages } = await agent.run("go");
  const result = messages.find((message) => message.role === "toolResult");
  const [background] = (result!.details as { background: { pid: number }[] }).background;
  expect(commandLineOf(background!.pid)).toBe("sleep 6173");
  expect(await agent.dispose()).toEqual({ leaks: [] });
  expect(commandLineOf(background!.pid)).toBeUndefined();
});

test("the limits of the tools are options, and a wrong option is named", async () => {
  const cwd = tempFolder();
  writeFileSync(join(cwd, "f"), "a\nb\nc\n");
  const [result] = await resultsOf(cwd, [[["read", { path: "f" }]]], { options: { read: { maxLines: 1 } } });
  expect(result!.text).toContain("[Showing lines 1-1 of 3.");
  const agent = createAgent({ extensions: [[tools, { read: { maxLine: 1 } }]] });
  await agent.ready();
  expect(agent.extensions[0]).toMatchObject({ state: "failed", error: { code: "invalid_options" } });
  await agent.dispose();
});

test("importing the package loads no other package and starts nothing", () => {
  const loaded = listLoadedModules(join(import.meta.dirname, "../src/index.ts"));
  expect(loaded.filter((url) => url.includes("node_modules") || url.includes("child_process"))).toEqual([]);
});
