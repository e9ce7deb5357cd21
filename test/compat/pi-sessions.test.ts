/** Sessions that we write, opened by the published Pi: the same tree, labels and names, and the same for its model. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Agent, Entry, Message } from "@pi-agent/kernel";
import { load } from "@pi-agent/loader";
import sessions from "@pi-agent/sessions";
import { SCRIPTED_MODEL, scriptedProvider, tempProject } from "@pi-agent/testing";
import { expect, onTestFinished, test } from "vitest";
import { readSession } from "../../extensions/sessions/src/read.ts";
import { fetchRival } from "../bench/rivals.ts";

/** What of Pi's session manager is used here. */
interface PiSession {
  getEntries(): { id: string; parentId: string | null; type: string }[];
  getLeafId(): string | null;
  getLabel(id: string): string | undefined;
  getSessionName(): string | undefined;
  branch(id: string): void;
  buildSessionContext(): { messages: PiMessage[]; thinkingLevel: string };
  appendMessage(message: object): string;
  appendLabelChange(id: string, label: string | undefined): string;
}
type PiMessage = { role: string; content?: unknown; summary?: string; customType?: string };

const modules = await fetchRival("@earendil-works/pi-coding-agent");
const IMAGE = { type: "image" as const, data: "iVBORw0KGgo=", mimeType: "image/png" };
const SUMMARY = /<summary>\n([\s\S]*)\n<\/summary>$/;

async function openInPi(file: string): Promise<PiSession> {
  const path = join(modules!, "@earendil-works", "pi-coding-agent", "dist", "index.js");
  const { SessionManager } = (await import(pathToFileURL(path).href)) as {
    SessionManager: { open(file: string): PiSession };
  };
  return SessionManager.open(file);
}

/** Starts an agent in a project of its own, with sessions and a model that calls a tool where it is asked to. */
async function converse(): Promise<{
  agent: Agent;
  ask: (text: string, images?: (typeof IMAGE)[]) => Promise<string>;
}> {
  const project = await tempProject();
  const model = scriptedProvider(({ messages }) => {
    const last = messages.at(-1)!;
    return last.role === "user" && last.text.includes("tool")
      ? { thinking: "A tool?", text: "I look.", calls: [{ name: "read", arguments: { path: "a" } }] }
      : { text: `Answer ${messages.length}.` };
  });
  const loaded = await load({
    cwd: project.path,
    env: { PATH: process.env.PATH, HOME: project.home },
    agentDir: project.agentDir,
    official: [
      { owner: { name: "@pi-agent/sessions", scope: "official" }, extension: sessions },
      { owner: { name: "scripted", scope: "official" }, extension: model },
    ],
  });
  onTestFinished(async () => {
    await loaded.dispose();
    await project.cleanup();
  });
  const { agent } = loaded;
  await agent.setModel(SCRIPTED_MODEL);
  await agent.dispatch("session_start", { reason: "startup" });
  const ask = async (text: string, images: (typeof IMAGE)[] = []) => {
    await agent.input(text, { images });
    await agent.settled();
    return lastSaid(agent);
  };
  return { agent, ask };
}

function lastSaid({ transcript }: Agent): string {
  return transcript.path().findLast((entry) => entry.type === "message" && entry.message.role === "user")!.id;
}

/** A message as both say it; what a summary is wrapped in is each one's own. */
function same(message: PiMessage | Message): unknown {
  const { role, customType, summary } = message as PiMessage;
  if (summary !== undefined) return { role, summary };
  const { content } = message as { content: unknown };
  if (customType === "compactionSummary" || customType === "branchSummary") {
    return { role: customType, summary: SUMMARY.exec(String(content))?.[1] };
  }
  return { role, content: typeof content === "string" ? [{ type: "text", text: content }] : content };
}

async function fileOf(agent: Agent): Promise<string> {
  await agent.dispatch("transcript_flush", { reason: "settled" });
  return agent.service("sessions")!.current!.file!;
}

function seenBy(agent: Agent): unknown[] {
  return agent.transcript.project().map(same);
}

function seenByPi(session: PiSession): unknown[] {
  const { messages } = session.buildSessionContext();
  return messages.filter(({ role }) => role !== "system").map(same);
}

/** Branches with summaries, labels, a name, images, tool calls, an edit, entries of extensions, and a compaction. */
async function growTree({ agent, ask }: Awaited<ReturnType<typeof converse>>): Promise<void> {
  const first = await ask("look at this", [IMAGE]);
  await ask("use a tool");
  const third = await ask("third");
  agent.append([
    { type: "label", targetId: first, label: "begin" },
    { type: "session_info", name: "Ours: ünï" },
    { type: "custom", customType: "mine", data: { n: 1 } },
    { type: "custom_message", customType: "note", content: "a note", display: true },
  ]);
  agent.moveTo(agent.transcript.get(third)!.parentId);
  agent.append([{ type: "branch_summary", fromId: third, summary: "What was left." }]);
  await ask("another third");
  agent.append([{ type: "context_edit", targetId: lastSaid(agent), replacement: { content: "edited" } }]);
  agent.append([{ type: "label", targetId: third, label: "left" }]);
}

test("a session with branches, images, calls, labels, edits and a name opens in Pi with the same tree, for each leaf with the same messages", async (context) => {
  if (!modules) return context.skip("needs the npm registry");
  const talk = await converse();
  await growTree(talk);
  const { agent } = talk;
  const file = await fileOf(agent);
  const before = readFileSync(file, "utf8");
  const pi = await openInPi(file);
  const { entries } = readSession(file)!;
  const places = (all: readonly { id: string; parentId: string | null; type: string }[]) =>
    all.map(({ id, parentId, type }) => [id, parentId, type]);
  expect(places(pi.getEntries())).toEqual(places(entries));
  expect(pi.getSessionName()).toBe("Ours: ünï");
  for (const entry of entries) if (entry.type === "label") expect(pi.getLabel(entry.targetId)).toBe(entry.label);
  expect(seenByPi(pi)).toEqual(seenBy(agent));
  for (const { id } of leavesOf(entries)) {
    agent.moveTo(id);
    pi.branch(id);
    expect(seenByPi(pi)).toEqual(seenBy(agent));
  }
  expect(readFileSync(file, "utf8")).toBe(before);
});

test("a session that was compacted opens in Pi with the summary and what it kept", async (context) => {
  if (!modules) return context.skip("needs the npm registry");
  const talk = await converse();
  await growTree(talk);
  const { agent, ask } = talk;
  const kept = await ask("kept");
  agent.append([{ type: "compaction", summary: "## Goal\nAll so far.", firstKeptEntryId: kept, tokensBefore: 1_000 }]);
  await ask("after it");
  const pi = await openInPi(await fileOf(agent));
  expect(seenByPi(pi)).toEqual(seenBy(agent));
  expect(seenByPi(pi)[0]).toEqual({ role: "compactionSummary", summary: "## Goal\nAll so far." });
});

test("what Pi appends to our session is read by us", async (context) => {
  if (!modules) return context.skip("needs the npm registry");
  const { agent, ask } = await converse();
  const first = await ask("ours");
  const file = await fileOf(agent);
  await agent.dispose();
  const pi = await openInPi(file);
  pi.appendMessage({ role: "user", content: [{ type: "text", text: "theirs" }], timestamp: 1 });
  pi.appendLabelChange(first, "by Pi");
  const { entries, problems } = readSession(file)!;
  expect(problems).toEqual([]);
  expect(entries.map(({ id }) => id)).toEqual(pi.getEntries().map(({ id }) => id));
  expect(entries.at(-1)).toMatchObject({ type: "label", label: "by Pi" });
});

test("a fork and an exported branch open in Pi with the same messages", async (context) => {
  if (!modules) return context.skip("needs the npm registry");
  const talk = await converse();
  await growTree(talk);
  const { agent, ask } = talk;
  await ask("/export branch.jsonl");
  const exported = await openInPi(join(agent.service("sessions")!.current!.header.cwd, "branch.jsonl"));
  expect(seenByPi(exported)).toEqual(seenBy(agent));
  expect(exported.getSessionName()).toBe("Ours: ünï");
  await ask("/clone");
  await ask("in the copy");
  const fork = await openInPi(await fileOf(agent));
  expect(seenByPi(fork)).toEqual(seenBy(agent));
});

function leavesOf(entries: readonly Entry[]): Entry[] {
  const parents = new Set(entries.map(({ parentId }) => parentId));
  return entries.filter(({ id }) => !parents.has(id));
}
