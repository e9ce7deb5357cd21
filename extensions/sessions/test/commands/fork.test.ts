import { copyFileSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createAgent, type Entry } from "@pi-agent/kernel";
import { hasRecordings, NO_RECORDINGS, RECORDINGS } from "@pi-agent/testing/house";
import { expect, test } from "vitest";
import { everyEntry } from "../../src/export/tree.ts";
import { readSession } from "../../src/read.ts";
import { readLines, sessionFiles, type Talk, talk } from "./talk.ts";

/** Makes a tree with all that a session may hold, and answers it when all is written. */
async function growTree({ agent, type, said }: Talk): Promise<Entry[]> {
  await type("one");
  const [one] = said();
  await type(`/label ${one!.id} begin`);
  agent.append([
    { type: "model_change", provider: "other", modelId: "large" },
    { type: "custom", customType: "mine", data: { kept: true } },
    { type: "custom_message", customType: "note", content: "a note", display: true },
  ]);
  await type("two");
  agent.append([{ type: "compaction", summary: "So far.", firstKeptEntryId: one!.id, tokensBefore: 10 }]);
  await type("three");
  await type(`/tree ${said().at(-1)!.id}`);
  agent.append([{ type: "branch_summary", fromId: one!.id, summary: "What was left." }]);
  await type("four");
  return [...everyEntry(agent.transcript)];
}

function fileOf({ agent }: Talk): string {
  return agent.service("sessions")!.current!.file!;
}

test("/fork begins a session before one of the person's messages, which is offered again; the other stays as it is", async () => {
  const one = await talk();
  await one.type("first");
  await one.type("second");
  const source = fileOf(one);
  const before = readFileSync(source, "utf8");
  one.told();
  await one.type("/fork", "second");
  expect(one.asked.at(-1)![0]).toBe("Fork before which of your messages?");
  expect(one.said().map(({ text }) => text)).toEqual(["first"]);
  expect(one.offered()).toBe("second");
  expect(one.told()).toMatch(/^A session of its own, up to before "second"\./);
  const fork = fileOf(one);
  expect(fork).not.toBe(source);
  await one.type("another second");
  expect(readLines(fork)[0]).toMatchObject({ type: "session", parentSession: source });
  expect(readFileSync(source, "utf8")).toBe(before);
});

test("a fork before the first message is an empty session that knows where it comes from", async () => {
  const one = await talk();
  await one.type("first");
  const source = fileOf(one);
  await one.type(`/fork ${one.said()[0]!.id}`);
  expect(one.said()).toEqual([]);
  expect(one.agent.service("sessions")!.current!.header.parentSession).toBe(source);
});

test("/clone takes the whole branch into a session of its own", async () => {
  const one = await talk();
  await one.type("first");
  await one.type("second");
  await one.type("/name Mine");
  const source = fileOf(one);
  await one.type("/clone");
  expect(one.agent.service("sessions")!.current!.name).toBe("Mine");
  expect(one.said().map(({ text }) => text)).toEqual(["first", "second"]);
  expect(fileOf(one)).not.toBe(source);
});

test("in an empty session, and without a user interface, both say in three parts what to do", async () => {
  const one = await talk({ hasUI: false });
  for (const command of ["/fork", "/clone"]) {
    await one.type(command);
    expect(one.told()).toMatch(/^error: There is nothing to fork.+\n {2}try: Send a message first\.$/);
  }
  await one.type("first");
  await one.type("/fork");
  expect(one.told()).toMatch(/^error: .+\n {2}why: in mode print .+\n {2}try: \/fork \w{8},/);
  expect(sessionFiles(one.folder)).toHaveLength(1);
});

test("what an extension refuses is not done", async () => {
  const one = await talk();
  await one.type("first");
  const source = fileOf(one);
  one.agent.on("session_before_fork", () => ({ cancel: true }));
  one.told();
  await one.type("/clone");
  expect(one.told()).toBe("Cancelled: the session stays as it is.");
  expect(fileOf(one)).toBe(source);
});

test("F107 a fork at each node, of every kind, loads: every parent is there, the model sees the same, the source is untouched", async () => {
  const one = await talk({
    script: ({ messages }) =>
      messages.at(-1)?.text === "two" ? { calls: [{ name: "nothing", arguments: {} }] } : { text: "Done." },
  });
  const entries = await growTree(one);
  expect(new Set(entries.map(({ type }) => type)).size).toBeGreaterThan(7);
  expect(entries.some((entry) => entry.type === "message" && entry.message.role === "toolResult")).toBe(true);
  const source = fileOf(one);
  const before = readFileSync(source, "utf8");
  for (const entry of entries) {
    const isSaid = entry.type === "message" && entry.message.role === "user";
    const at = isSaid ? entry.parentId : entry.id;
    const seen = await projectAt(entries, at);
    await one.type(`/fork ${entry.id}`);
    const fork = fileOf(one);
    expect(fork).not.toBe(source);
    expect(withoutTimes(one.agent.transcript.project())).toEqual(seen);
    await one.agent.dispatch("transcript_flush", { reason: "settled" });
    const stored = sessionFiles(one.folder).includes(fork) ? readSession(fork)! : undefined;
    expect(stored?.problems ?? []).toEqual([]);
    await one.type(`/resume ${source}`);
    expect(fileOf(one)).toBe(source);
  }
  expect(readFileSync(source, "utf8")).toBe(before);
});

async function projectAt(entries: readonly Entry[], leaf: string | null): Promise<unknown> {
  const agent = createAgent({ entries: [...entries] });
  await agent.ready();
  const messages = leaf === null ? [] : agent.transcript.project(leaf);
  await agent.dispose();
  return withoutTimes(messages);
}

/** What is made of an open call tells the time at which it was made. */
function withoutTimes(messages: readonly object[]): unknown {
  return messages.map((message) => ({ ...message, timestamp: 0 }));
}

test("F107 a source of the oldest version is copied as what it is read as, and stays as it is", async ({ skip }) => {
  skip(!hasRecordings(), NO_RECORDINGS);
  const name = "v1-real-two-compactions.jsonl";
  const one = await talk();
  const source = join(one.path, name);
  copyFileSync(join(RECORDINGS, "sessions", name), source);
  const before = readFileSync(source);
  const read = readSession(source)!;
  const two = await talk({ project: one, flags: new Map([["fork", source]]) });
  expect(two.agent.transcript.path()).toEqual(read.entries);
  const { current } = two.agent.service("sessions")!;
  expect(current!.header).toMatchObject({ version: 3, cwd: one.path, parentSession: source });
  await two.agent.dispatch("transcript_flush", { reason: "settled" });
  expect(readSession(current!.file!)!.problems).toEqual([]);
  expect(readFileSync(source)).toEqual(before);
});

test("F107 a disk that is full during a fork leaves no half-written copy in the list, and the run goes on", async () => {
  const one = await talk();
  await one.type("first");
  const source = fileOf(one);
  const folder = join(source, "..");
  const before = readdirSync(folder);
  // A folder in the place of the file: it can neither be made nor replaced.
  const service = one.agent.service("sessions")!;
  const create = service.create.bind(service);
  Object.assign(service, {
    create: async (given: Parameters<typeof create>[0]) => {
      const made = await create(given);
      mkdirSync(made.file!, { recursive: true });
      return made;
    },
  });
  one.told();
  await one.type("/clone");
  await one.type("goes on");
  expect(one.told()).toMatch(/error: .*could not be written/i);
  expect(one.said().map(({ text }) => text)).toEqual(["first", "goes on"]);
  expect((await service.list()).map(({ path }) => path)).toEqual([source]);
  expect(readdirSync(folder).filter((name) => !before.includes(name) && name.endsWith(".tmp"))).toEqual([]);
});
