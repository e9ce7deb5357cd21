import { existsSync, readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { ExtensionEntry } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { type LoadedAgent, loadAgent, logging, tool } from "./reload-agent.ts";

const UUID_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** An extension that writes down what the session hooks tell, and answers as a test wants. */
function watch(answers: Record<string, unknown> = {}): { entry: ExtensionEntry; seen: unknown[] } {
  const seen: unknown[] = [];
  const entry: ExtensionEntry = {
    owner: { name: "watch", scope: "official" },
    extension: (pi) => {
      for (const name of ["session_before_switch", "session_before_fork", "session_tree"] as const) {
        pi.on(name, ({ type, ...event }) => {
          seen.push([type, event]);
          return answers[type] as never;
        });
      }
      pi.on("session_before_tree", ({ type, preparation }) => {
        seen.push([type, preparation]);
        return answers[type] as never;
      });
      pi.on("session_start", ({ type, ...event }) => void seen.push([type, event]));
      pi.on("session_shutdown", ({ type, ...event }) => void seen.push([type, event]));
      pi.on("resources_changed", ({ reason }) => void seen.push(["resources_changed", reason]));
    },
  };
  return { entry, seen };
}

function nameOf(event: unknown): unknown {
  return (event as unknown[])[0];
}

async function withSessions(entry: ExtensionEntry, more: Parameters<typeof loadAgent>[0] = {}): Promise<LoadedAgent> {
  const { default: sessions } = await import("@pi-agent/sessions");
  const owner = { name: "@pi-agent/sessions", scope: "official" } as const;
  return loadAgent(more, { official: [{ owner, extension: sessions }, entry] });
}

function current({ agent }: LoadedAgent): { id: string; file: string } {
  const { id, file = "" } = agent.service("sessions")!.current!;
  return { id, file };
}

function said({ agent }: LoadedAgent): string[] {
  return agent.transcript.path().flatMap((entry) => {
    if (entry.type !== "message" || entry.message.role !== "user") return [];
    const { content } = entry.message;
    return typeof content === "string" ? [content] : [];
  });
}

/** The lines of a session file, parsed. */
function read(file: string): Record<string, unknown>[] {
  return readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test("a new session begins empty and keeps the extensions; the old one can be gone on with", async () => {
  const { entry, seen } = watch();
  const at = await withSessions(entry, { agentFiles: { "extensions/a.ts": logging("a") } });
  await at.ask("First.");
  const first = current(at);
  seen.length = 0;
  expect(await at.host.newSession()).toEqual({ cancelled: false });
  const second = current(at);
  expect(second.id).toMatch(UUID_7);
  expect(at.agent.sessionId).toBe(second.id);
  expect(said(at)).toEqual([]);
  await at.ask("Second.");
  expect(await at.host.switchSession(first.file)).toEqual({ cancelled: false });
  expect(said(at)).toEqual(["First."]);
  await at.ask("Third.");
  expect(seen).toEqual([
    ["session_before_switch", { reason: "new" }],
    ["session_shutdown", { reason: "new", targetSessionFile: second.file }],
    ["session_start", { reason: "new", previousSessionFile: first.file }],
    ["session_before_switch", { reason: "resume", targetSessionFile: first.file }],
    ["session_shutdown", { reason: "resume", targetSessionFile: first.file }],
    ["session_start", { reason: "resume", previousSessionFile: second.file }],
  ]);
  await at.dispose();
  expect(read(first.file).filter(({ type }) => type === "message")).toHaveLength(4);
  expect(read(second.file).filter(({ type }) => type === "message")).toHaveLength(2);
  expect(at.lines("log").filter((line) => line === "a made")).toHaveLength(1);
});

test("a handler may refuse: nothing is shut down then", async () => {
  const cancel = { cancel: true };
  const { entry, seen } = watch({
    session_before_switch: cancel,
    session_before_fork: cancel,
    session_before_tree: cancel,
  });
  const at = await withSessions(entry);
  await at.ask("First.");
  const before = current(at);
  const [{ id } = { id: "" }] = at.agent.transcript.path();
  seen.length = 0;
  expect(await at.host.newSession()).toEqual({ cancelled: true });
  expect(await at.host.switchSession(before.file)).toEqual({ cancelled: true });
  expect(await at.host.fork(id)).toEqual({ cancelled: true });
  expect(await at.host.navigateTree(id)).toEqual({ cancelled: true });
  expect(current(at)).toEqual(before);
  expect(seen.map(nameOf)).toEqual([
    "session_before_switch",
    "session_before_switch",
    "session_before_fork",
    "session_before_tree",
  ]);
});

test("a handler that fails refuses nothing", async () => {
  const entry: ExtensionEntry = {
    owner: { name: "faulty", scope: "official" },
    extension: (pi) =>
      void pi.on("session_before_switch", () => {
        throw new Error("no luck");
      }),
  };
  const at = await withSessions(entry);
  expect(await at.host.newSession()).toEqual({ cancelled: false });
  expect(at.errors).toEqual([expect.stringContaining("no luck")]);
});

test("a session that cannot be read is an error, and the present one goes on", async () => {
  const { entry, seen } = watch();
  const at = await withSessions(entry);
  await at.ask("First.");
  seen.length = 0;
  await expect(at.host.switchSession("missing.jsonl")).rejects.toMatchObject({ code: "session_unreadable" });
  expect(seen.map(nameOf)).toEqual(["session_before_switch"]);
  await at.ask("Second.");
  expect(said(at)).toEqual(["First.", "Second."]);
});

test("a fork is a session of its own with the way to an entry, its labels, and its parent; it is on disk at once", async () => {
  const { entry, seen } = watch();
  const at = await withSessions(entry);
  await at.ask("First.");
  const answer = at.agent.transcript.path().findLast(({ type }) => type === "message")!;
  at.agent.append([{ type: "label", targetId: answer.id, label: "kept" }]);
  await at.ask("Second.");
  const parent = current(at);
  const second = at.agent.transcript
    .path()
    .findLast((each) => each.type === "message" && each.message.role === "user")!;
  seen.length = 0;
  expect(await at.host.fork(second.id)).toEqual({ cancelled: false });
  expect(said(at)).toEqual(["First."]);
  expect(seen).toEqual([
    ["session_before_fork", { entryId: second.id, position: "before" }],
    ["session_shutdown", { reason: "fork", targetSessionFile: current(at).file }],
    ["session_start", { reason: "fork", previousSessionFile: parent.file }],
  ]);
  await new Promise(setImmediate);
  const [header, ...entries] = read(current(at).file);
  expect(header).toMatchObject({ id: current(at).id, parentSession: parent.file, cwd: at.path });
  expect(entries.at(-1)).toMatchObject({ type: "label", targetId: answer.id, label: "kept" });
  entries.forEach((each, index) => expect(each.parentId).toBe(entries[index - 1]?.id ?? null));
  await at.ask("Third.");
  await at.host.switchSession(parent.file);
  expect(said(at)).toEqual(["First.", "Second."]);
  const last = at.agent.transcript.path().at(-1)!;
  await at.host.fork(last.id, { position: "at" });
  expect(said(at)).toEqual(["First.", "Second."]);
  await expect(at.host.fork("nowhere")).rejects.toMatchObject({ code: "unknown_entry" });
});

test("going to another entry moves the leaf, sets the label, and tells; what a person said is said anew", async () => {
  const { entry, seen } = watch();
  const at = await withSessions(entry);
  await at.ask("First.");
  const afterFirst = at.agent.transcript.leafId;
  await at.ask("Second.");
  const oldLeafId = at.agent.transcript.leafId;
  const second = at.agent.transcript
    .path()
    .findLast((each) => each.type === "message" && each.message.role === "user")!;
  seen.length = 0;
  expect(await at.host.navigateTree(second.id, { label: "turn back" })).toEqual({ cancelled: false });
  expect(said(at)).toEqual(["First."]);
  const newLeafId = at.agent.transcript.leafId;
  expect(seen).toMatchObject([
    ["session_before_tree", { targetId: second.id, oldLeafId, commonAncestorId: afterFirst, label: "turn back" }],
    ["session_tree", { newLeafId, oldLeafId }],
  ]);
  expect(at.agent.transcript.get(newLeafId!)).toMatchObject({ type: "label", targetId: second.id, label: "turn back" });
  await at.ask("Other.");
  expect(said(at)).toEqual(["First.", "Other."]);
  await at.host.navigateTree(oldLeafId!);
  expect(said(at)).toEqual(["First.", "Second."]);
});

test("a summary that nobody can make is an error, and nothing moves", async () => {
  const { entry } = watch();
  const at = await withSessions(entry);
  await at.ask("First.");
  const [root] = at.agent.transcript.path();
  const { leafId } = at.agent.transcript;
  const asked = at.host.navigateTree(root!.id, { summarize: true });
  await expect(asked).rejects.toMatchObject({ code: "no_service", hint: expect.stringContaining("compaction") });
  expect(at.agent.transcript.leafId).toBe(leafId);
});

test("a handler's summary, or that of the service `compaction`, is put where the conversation goes on", async () => {
  const { entry, seen } = watch();
  const compaction: ExtensionEntry = {
    owner: { name: "compaction", scope: "official" },
    extension: (pi) =>
      void pi.register("service", "compaction", {
        summarize: async (entries: unknown[], { customInstructions }: { customInstructions?: string }) => ({
          summary: `${entries.length} entries, ${customInstructions}`,
          details: { readFiles: ["a.ts"] },
        }),
      }),
  };
  const { default: sessions } = await import("@pi-agent/sessions");
  const owner = { name: "@pi-agent/sessions", scope: "official" } as const;
  const at = await loadAgent({}, { official: [{ owner, extension: sessions }, entry, compaction] });
  await at.ask("First.");
  const afterFirst = at.agent.transcript.leafId!;
  await at.ask("Second.");
  seen.length = 0;
  await at.host.navigateTree(afterFirst, { summarize: true, customInstructions: "short" });
  const summary = at.agent.transcript.path().at(-1);
  expect(summary).toMatchObject({ type: "branch_summary", parentId: afterFirst, summary: "2 entries, short" });
  expect(summary).toMatchObject({ details: { readFiles: ["a.ts"] } });
  expect(seen.at(-1)).toMatchObject(["session_tree", { summaryEntry: summary }]);
});

test("without a package that keeps sessions they are begun, forked and moved in, in memory", async () => {
  const at = await loadAgent({}, { official: [] });
  await at.ask("First.");
  const [user] = at.agent.transcript.path().filter(({ type }) => type === "message");
  expect(await at.host.navigateTree(user!.id)).toEqual({ cancelled: false });
  await at.ask("Other.");
  expect(await at.host.fork(at.agent.transcript.leafId!, { position: "at" })).toEqual({ cancelled: false });
  expect(said(at)).toEqual(["Other."]);
  expect(await at.host.newSession()).toEqual({ cancelled: false });
  expect(at.agent.sessionId).toMatch(UUID_7);
  expect(said(at)).toEqual([]);
  await expect(at.host.switchSession("x.jsonl")).rejects.toMatchObject({ code: "no_service" });
});

/** Two projects; a session is held in the second one, whose extension is there. */
async function twoProjects(answers: (plan: { project: string }) => unknown) {
  const { entry, seen } = watch();
  const { default: sessions } = await import("@pi-agent/sessions");
  const owner = { name: "@pi-agent/sessions", scope: "official" } as const;
  const asked: string[] = [];
  const files = {
    ".git": "",
    ".pi/extensions/here.ts": logging("here"),
    ".pi/settings.json": '{ "theme": "here" }',
    ".pi/prompts/here.md": "here",
  };
  const at = await loadAgent(
    { files, agentFiles: { "extensions/own.ts": logging("own") } },
    {
      official: [{ owner, extension: sessions }, entry],
      options: {
        trust: (plan) => {
          asked.push(plan.project);
          return answers(plan);
        },
      },
    },
  );
  const other = join(at.home, "other");
  await mkdir(join(other, ".git"), { recursive: true });
  await at.write(join(other, ".pi/extensions/there.ts"), logging("there"));
  await at.write(join(other, ".pi/settings.json"), '{ "theme": "there" }');
  const header = { type: "session", version: 3, id: "held-there", timestamp: "2026-01-01T00:00:00.000Z", cwd: other };
  const file = await at.write(join(at.home, "there.jsonl"), `${JSON.stringify(header)}\n`);
  return { at, other, file, seen, asked };
}

test("a session of another boundary: the project that is left is disposed of, the new one is asked about, the person's own lives on", async () => {
  const { at, other, file, seen, asked } = await twoProjects(() => "content");
  expect([at.host.settings.get("theme"), at.host.resources.list("prompt").length]).toEqual(["here", 1]);
  seen.length = 0;
  await at.host.switchSession(file);
  expect(asked).toEqual([at.path, other]);
  expect(at.host.cwd).toBe(other);
  expect([at.report.boundary, at.report.plan.project]).toEqual([other, other]);
  expect([at.host.settings.get("theme"), at.host.resources.list("prompt").length]).toEqual(["there", 0]);
  expect(at.notices).toContainEqual(expect.stringContaining(`The session belongs to ${other}`));
  expect(seen).toEqual([
    ["session_before_switch", { reason: "resume", targetSessionFile: file }],
    ["session_shutdown", { reason: "resume", targetSessionFile: file }],
    ["resources_changed", "revocation"],
    ["resources_changed", "grant"],
    ["session_start", { reason: "resume", previousSessionFile: expect.any(String) }],
  ]);
  expect(at.lines("log").slice(4)).toEqual([
    "own shutdown resume",
    "here shutdown resume",
    "here disposed",
    "there made",
    "own start resume",
    "there start resume",
  ]);
});

test("F032: what was said about one project is not said about the next one", async () => {
  const { at, other, file } = await twoProjects(({ project }) => (project.endsWith("other") ? "not-now" : "content"));
  await at.host.switchSession(file);
  expect(at.host.isProjectTrusted()).toBe(false);
  expect(at.host.settings.get("theme")).toBe("system");
  expect(at.lines("log").filter((line) => line.startsWith("there"))).toEqual([]);
  expect(at.notices).toContainEqual(expect.stringMatching(/^2 project resources held back/));
  expect(at.report.boundary).toBe(other);
});

test("a session of another folder of the same project: what is read there counts, and --approve still speaks", async () => {
  const at = await loadAgent(
    {
      files: {
        ".git": "",
        ".pi/extensions/top.ts": tool("top", "top"),
        "sub/.pi/extensions/sub.ts": tool("sub", "sub"),
      },
    },
    { options: { flags: { approve: true } } },
  );
  const cwd = join(at.path, "sub");
  const header = { type: "session", version: 3, id: "held-below", timestamp: "2026-01-01T00:00:00.000Z", cwd };
  const file = await at.write(join(at.home, "below.jsonl"), `${JSON.stringify(header)}\n`);
  expect(at.agent.state.activeTools).toEqual(["top"]);
  await at.host.switchSession(file);
  expect([at.host.cwd, at.report.boundary]).toEqual([cwd, at.path]);
  expect(at.agent.state.activeTools).toEqual(["sub"]);
});

test("`agentDir` moves the sessions too, and so does the environment that is given", async () => {
  const at = await loadAgent({});
  const { default: sessions } = await import("@pi-agent/sessions");
  const owner = { name: "@pi-agent/sessions", scope: "official" } as const;
  const agentDir = join(at.home, "elsewhere");
  const moved = await loadAgent({}, { official: [{ owner, extension: sessions }], options: { agentDir } });
  await moved.ask("First.");
  expect(current(moved).file.startsWith(join(agentDir, "sessions"))).toBe(true);
  await at.ask("First.");
  expect(current(at).file.startsWith(join(at.agentDir, "sessions"))).toBe(true);
  expect(existsSync(current(at).file)).toBe(true);
});

test("a tool of the person's own is still there in a new session", async () => {
  const at = await loadAgent({ agentFiles: { "extensions/t.ts": tool("mine", "mine") } });
  await at.host.newSession();
  expect(at.agent.state.activeTools).toEqual(["mine"]);
});

test("a tool of the project is on again where its session is gone on with", async () => {
  const flags = { approve: true };
  const at = await loadAgent({ files: { ".pi/extensions/t.ts": tool("theirs", "theirs") } }, { options: { flags } });
  await at.ask("First.");
  await at.dispose();
  const values = new Map([["continue", true]]);
  const env = { PATH: process.env.PATH, HOME: at.home };
  const again = await loadAgent({}, { options: { cwd: at.path, env, flags: { ...flags, values } } });
  expect(said(again)).toEqual(["First."]);
  expect(again.agent.state.activeTools).toEqual(["theirs"]);
});
