import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Entry, Extension } from "@pi-agent/kernel";
import { SCRIPTED_MODEL, type Turn } from "@pi-agent/testing";
import { assistantMessage, toolCall, toolResult } from "@pi-agent/testing/provider";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { parseSession } from "../src/format.ts";
import { header, lines, message, prompt, startAgent, tempFolder } from "./support.ts";

let cwd: string;
let agentFolder: string;
beforeEach(() => {
  cwd = tempFolder();
  agentFolder = tempFolder();
  vi.stubEnv("PI_CODING_AGENT_DIR", agentFolder);
  vi.stubEnv("PI_CODING_AGENT_SESSION_DIR", "");
});
afterEach(() => vi.unstubAllEnvs());

function readEntries(path: string): Entry[] {
  const parsed = parseSession(readFileSync(path, "utf8"))!;
  expect(parsed.problems).toEqual([]);
  return parsed.entries;
}

function rolesIn(path: string): string[] {
  return readEntries(path).flatMap((entry) => (entry.type === "message" ? [entry.message.role] : []));
}

const call = (name: string): Turn => ({ calls: [{ id: name, name, arguments: {} }] });

test("a run is in the file, as the transcript has it", async () => {
  const { agent, begin } = await startAgent({ cwd });
  await begin();
  const { current } = agent.service("sessions")!;
  expect(current).toMatchObject({ id: agent.sessionId, header: { cwd } });
  expect(existsSync(dirname(current!.file!))).toBe(false);
  await prompt(agent, "hello");
  expect(readEntries(current!.file!)).toEqual(agent.transcript.path());
  expect(rolesIn(current!.file!)).toEqual(expect.arrayContaining(["user", "assistant"]));
});

test("files are for their owner only", async () => {
  const { agent, begin } = await startAgent({ cwd });
  await begin();
  await prompt(agent, "hello");
  const file = agent.service("sessions")!.current!.file!;
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
  expect(statSync(join(agentFolder, "sessions")).mode & 0o777).toBe(0o700);
});

test("nothing is written before there is a user or assistant message", async () => {
  const { agent, begin } = await startAgent({ cwd });
  await begin();
  agent.append([
    { type: "custom", customType: "x" },
    { type: "session_info", name: "early" },
  ]);
  await agent.dispatch("transcript_flush", { reason: "settled" });
  const file = agent.service("sessions")!.current!.file!;
  expect(existsSync(file)).toBe(false);
  await prompt(agent, "hello");
  expect(readEntries(file).slice(0, 2)).toMatchObject([{ type: "custom" }, { type: "session_info", name: "early" }]);
});

test("S1 what was said is on disk before the next provider call starts", async () => {
  const seen: string[][] = [];
  const look = (turn: Turn) => () => {
    seen.push(rolesIn(agent.service("sessions")!.current!.file!).filter((role) => role !== "system"));
    return turn;
  };
  const { agent, begin } = await startAgent({
    cwd,
    turns: [look(call("probe")), look({ text: "done" })],
    extensions: [
      (pi) => {
        pi.registerTool({
          name: "probe",
          description: "Looks at the file",
          parameters: { type: "object" },
          execute: async () => ({ content: [] }),
        });
      },
    ],
  });
  await begin();
  await prompt(agent, "go");
  expect(seen).toEqual([["user"], ["user", "assistant", "toolResult"]]);
});

test("a call is on disk before its tool starts", async () => {
  let atStart: string[] = [];
  const tool: Extension = (pi) => {
    pi.registerTool({
      name: "probe",
      description: "Looks at the file",
      parameters: { type: "object" },
      execute: async () => {
        atStart = rolesIn(agent.service("sessions")!.current!.file!);
        return { content: [] };
      },
    });
  };
  const { agent, begin } = await startAgent({ cwd, turns: [() => call("probe")], extensions: [tool] });
  await begin();
  await prompt(agent, "go");
  expect(atStart.at(-1)).toBe("assistant");
});

test("S1 durability fsync keeps the same file", async () => {
  const { agent, begin } = await startAgent({ cwd, settings: { "session.durability": "fsync" } });
  await begin();
  await prompt(agent, "hello");
  expect(readEntries(agent.service("sessions")!.current!.file!)).toEqual(agent.transcript.path());
});

test("what is appended while nothing runs is written without a flush", async () => {
  const { agent, begin } = await startAgent({ cwd });
  await begin();
  await prompt(agent, "hello");
  agent.append([{ type: "custom", customType: "idle" }]);
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  expect(readEntries(agent.service("sessions")!.current!.file!).at(-1)).toMatchObject({ customType: "idle" });
});

test("--continue goes on with the conversation in the same file", async () => {
  const first = await startAgent({ cwd });
  await first.begin();
  await prompt(first.agent, "one");
  const { file } = first.agent.service("sessions")!.current!;
  await first.agent.dispose();

  const second = await startAgent({ cwd, flags: { continue: true } });
  await second.begin();
  expect(second.agent.sessionId).toBe(first.agent.sessionId);
  expect(second.agent.transcript.path()).toEqual(first.agent.transcript.path());
  await prompt(second.agent, "two");
  expect(second.agent.service("sessions")!.current!.file).toBe(file);
  expect(readEntries(file!)).toEqual(second.agent.transcript.path());
});

test("--no-session writes nothing", async () => {
  const { agent, begin } = await startAgent({ cwd, flags: { "no-session": true } });
  await begin();
  await prompt(agent, "hello");
  expect(agent.service("sessions")!.current).toMatchObject({ id: agent.sessionId, file: undefined });
  await agent.dispose();
  expect(existsSync(join(agentFolder, "sessions"))).toBe(false);
});

test("--name names the session", async () => {
  const { agent, begin } = await startAgent({ cwd, flags: { name: "a good name" } });
  await begin();
  await prompt(agent, "hello");
  const service = agent.service("sessions")!;
  expect(service.current!.name).toBe("a good name");
  expect(await service.list(cwd)).toMatchObject([{ name: "a good name", firstMessage: "hello", id: agent.sessionId }]);
});

test("a session that the flags cannot open is an error with its code and what to do, and its file stays", async () => {
  const path = join(cwd, "broken.jsonl");
  writeFileSync(path, "nothing of ours\n");
  const { agent } = await startAgent({ cwd, flags: { session: path } });
  const faults: { error: Error }[] = [];
  agent.on("fault", (fault) => void faults.push(fault));
  expect(await agent.dispatch("session_select", { flags: new Map([["session", path]]) })).toBeUndefined();
  expect(faults[0]!.error).toMatchObject({ code: "session_invalid", hint: expect.any(String) });
  expect(readFileSync(path, "utf8")).toBe("nothing of ours\n");
});

test("damage is told in one notice, and the file is not rewritten without need", async () => {
  const path = join(cwd, "s.jsonl");
  const damaged = `${lines(header({ cwd }), message("a", null))}\0\0\nnull\n${JSON.stringify(message("b", "a")).slice(0, 60)}`;
  writeFileSync(path, damaged);
  const { agent, begin, notices } = await startAgent({ cwd, flags: { session: path } });
  await begin();
  expect(notices).toHaveLength(1);
  expect(notices[0]).toMatchObject({ level: "warning", text: expect.stringContaining("line 3") });
  expect(readFileSync(path, "utf8")).toBe(damaged);
  await prompt(agent, "on");
  const after = readFileSync(path, "utf8");
  expect(after.startsWith(`${damaged}\n{"type":`)).toBe(true);
  expect(parseSession(after)!.entries).toEqual(agent.transcript.path());
});

describe("a file with other ids is rewritten when something is appended, after a copy was kept", () => {
  const { version: _, ...old } = header() as { version: number };
  const said = { role: "user", content: "x", timestamp: 1 };
  const odd = { type: "odd", timestamp: "t", data: [1] };
  test.each([
    ["version 1", (at: string) => lines({ ...old, cwd: at }, { type: "message", timestamp: "t", message: said }, odd)],
    ["F109 one id twice", (at: string) => lines(header({ cwd: at }), message("a", null, "x"), message("a", null, "y"))],
  ])("%s", async (_name, make) => {
    const path = join(cwd, "s.jsonl");
    writeFileSync(path, make(cwd));
    const { agent, begin, notices } = await startAgent({ cwd, flags: { session: path } });
    await begin();
    expect(readFileSync(path, "utf8")).toBe(make(cwd));
    await prompt(agent, "on");
    expect(readFileSync(`${path}.bak`, "utf8")).toBe(make(cwd));
    const after = parseSession(readFileSync(path, "utf8"))!;
    expect(after).toMatchObject({ problems: [], isOutdated: false, header: { version: 3, cwd } });
    expect(after.entries.at(-1)).toEqual(agent.transcript.get(agent.transcript.leafId!));
    expect(after.entries).toHaveLength(agent.transcript.size);
    expect(notices.at(-1)!.text).toContain(`${path}.bak`);
  });
});

describe("F112 results before their call, dropped entries, out-of-order writes", () => {
  const user = message("u", null);
  const asks = message("c", "u", "", { message: assistantMessage(SCRIPTED_MODEL, [toolCall("t", { name: "t" })]) });
  const result = (id: string, parentId: string, text: string) =>
    message(id, parentId, "", { message: toolResult("t", text, { toolName: "t" }) });
  test.each([
    [
      "the result's line precedes its call's",
      [user, result("r", "c", "yes"), asks],
      ["user", "assistant", "toolResult"],
    ],
    ["the call's line is missing", [user, result("r", "c", "yes")], ["user"]],
    [
      "two results for one call",
      [user, asks, result("r", "c", "yes"), result("r2", "r", "no")],
      ["user", "assistant", "toolResult"],
    ],
    ["the result is missing", [user, asks], ["user", "assistant", "toolResult"]],
    [
      "a user message came between the call and its result",
      [user, asks, message("u2", "c"), result("r", "u2", "yes")],
      ["user", "assistant", "toolResult", "user"],
    ],
  ])("%s", async (_name, entries, roles) => {
    const path = join(cwd, "s.jsonl");
    writeFileSync(path, lines(header({ cwd }), ...entries));
    const { agent, begin } = await startAgent({ cwd, flags: { session: path } });
    await begin();
    expect(agent.transcript.project().map(({ role }) => role)).toEqual(roles);
    expect(JSON.stringify(agent.transcript.project())).not.toContain('"no"');
    expect(readFileSync(path, "utf8")).toBe(lines(header({ cwd }), ...entries));
  });
});

test("without a loader the first message begins a session under the agent's own id", async () => {
  const { agent } = await startAgent({ cwd });
  await prompt(agent, "hello");
  const { current } = agent.service("sessions")!;
  expect(current).toMatchObject({ id: agent.sessionId, header: { cwd } });
  expect(readEntries(current!.file!)).toEqual(agent.transcript.path());
});

test("an agent that was opened with entries from elsewhere has them in its file", async () => {
  const { agent } = await startAgent({ cwd });
  agent.open({ id: "from-elsewhere", entries: [message("a", null), message("b", "a")] as Entry[] });
  await prompt(agent, "on");
  const { file } = agent.service("sessions")!.current!;
  expect(readEntries(file!)).toEqual(agent.transcript.path());
  expect(readEntries(file!)[0]).toMatchObject({ id: "a" });
});

test("an entry that comes between selecting and opening does not lose the selected session", async () => {
  const path = join(cwd, "s.jsonl");
  writeFileSync(path, lines(header({ cwd }), message("a", null)));
  const { agent } = await startAgent({ cwd });
  const selected = await agent.dispatch("session_select", { flags: new Map([["session", path]]) });
  agent.append([{ type: "custom", customType: "early" }]);
  agent.open(selected!);
  await prompt(agent, "on");
  expect(agent.service("sessions")!.current!.file).toBe(path);
  expect(readEntries(path)).toEqual(agent.transcript.path());
});

test("a session that is only read is not written", async () => {
  const { agent } = await startAgent({ cwd });
  agent.open({ id: "from-elsewhere", entries: [message("a", null)] as Entry[] });
  await agent.dispatch("session_start", { reason: "resume" });
  expect(agent.service("sessions")!.current).toMatchObject({ id: "from-elsewhere" });
  await agent.dispose();
  expect(existsSync(join(agentFolder, "sessions"))).toBe(false);
});

test("the service opens a session for the agent to go on with", async () => {
  const path = join(cwd, "other.jsonl");
  writeFileSync(path, lines(header({ id: "other", cwd }), message("a", null)));
  const { agent, begin } = await startAgent({ cwd });
  await begin();
  await prompt(agent, "first");
  const service = agent.service("sessions")!;
  const before = service.current!.file!;
  const opened = await service.open(path);
  expect(opened).toMatchObject({ id: "other", cwd, file: path, problems: [] });
  expect(service.current!.file).toBe(before);
  agent.open(opened);
  await prompt(agent, "second");
  expect(service.current).toMatchObject({ id: "other", file: path });
  expect(readEntries(path)).toEqual(agent.transcript.path());
  expect(JSON.stringify(readEntries(before))).not.toContain("second");
});
