import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ExtensionEntry } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { MemoryStore } from "../../src/memory-store.ts";
import { readSession } from "../../src/read.ts";
import { header, lines, message } from "../support.ts";
import { talk } from "./talk.ts";

/** A conversation whose sessions are listed and read by a store that has no files. */
function elsewhere() {
  const store = new MemoryStore();
  const official: ExtensionEntry[] = [
    {
      owner: { name: "store", scope: "official" },
      extension: (pi) => void pi.register("session-store", "elsewhere", store),
    },
  ];
  return { store, official, settings: { session: { store: "elsewhere" } } };
}

test("commands work on any store: resume by name, fork, and what is exported there is imported here", async () => {
  const { store, ...given } = elsewhere();
  const one = await talk(given);
  await one.type("about apples");
  await one.type("/name Apples");
  const apples = one.agent.sessionId;
  await one.type("/fork", "about apples");
  await one.type("about pears");
  await one.type("/resume Apples");
  expect(one.agent.sessionId).toBe(apples);
  expect((await store.list()).map(({ id }) => id)).toContain(apples);
  await one.type("/export apples.jsonl");
  const exported = readSession(join(one.path, "apples.jsonl"))!;
  expect(exported.entries.filter(({ type }) => type === "message")).not.toEqual([]);
  await one.type("/import apples.jsonl");
  expect(one.agent.sessionId).toBe(exported.header.id);
  const { entries } = (await store.read(exported.header.id))!;
  expect(entries.slice(0, exported.entries.length)).toEqual(exported.entries);
});

test("S4 a store that is full takes nothing in, and that is told: the conversation stays where it is", async () => {
  const { store, ...given } = elsewhere();
  const one = await talk(given);
  await one.type("here");
  const { sessionId } = one.agent;
  const file = join(one.path, "theirs.jsonl");
  store.open = () => ({ append: () => {}, flush: () => {}, close: async () => {} });
  for (const what of [message("a", null), { ...message("a", null), type: "custom", customType: "x" }]) {
    writeFileSync(file, lines(header({ cwd: one.path, id: "theirs" }), what));
    one.told();
    await one.type("/import theirs.jsonl");
    expect(one.told()).toMatch(/^error: .+ was not taken in: .+\n {2}try: .+$/);
    expect(one.agent.sessionId).toBe(sessionId);
  }
});

test("an import into another store keeps its id and leaves the file as it is; an id that could be a path is refused (S6)", async () => {
  const { store, ...given } = elsewhere();
  const one = await talk(given);
  const file = join(one.path, "theirs.jsonl");
  const text = lines(header({ cwd: one.path, id: "theirs" }), message("a", null), message("b", "a"));
  writeFileSync(file, text);
  await one.type("/import theirs.jsonl");
  expect(one.agent.sessionId).toBe("theirs");
  expect((await store.read("theirs"))!.entries).toHaveLength(2);
  await one.type("goes on");
  expect(readFileSync(file, "utf8")).toBe(text);
  writeFileSync(file, lines(header({ cwd: one.path, id: "../theirs" }), message("a", null)));
  one.told();
  await one.type("/import theirs.jsonl");
  expect(one.told()).toMatch(/^error: .+cannot name a session\.\n {2}try: .+--fork /);
  expect(one.agent.sessionId).toBe("theirs");
});
