import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Entry } from "@pi-agent/kernel";
import { beforeEach, describe, expect, test } from "vitest";
import { assertTree } from "../src/conformance/play.ts";
import { chain, SAMPLES, sampleHeader } from "../src/conformance/samples.ts";
import { FileStore } from "../src/file-store.ts";
import { listSessions } from "../src/list.ts";
import { findPlace } from "../src/location.ts";
import { readSession } from "../src/read.ts";
import { header, lines, prompt, startAgent, tempFolder } from "./support.ts";

let cwd: string;
let folder: string;

beforeEach(() => {
  cwd = tempFolder();
  folder = join(cwd, "sessions");
});

/** Goes on with a copy of a file's entries, as a fork does; answers the file of the copy. */
async function copy(source: string, entries: readonly Entry[]): Promise<string> {
  const { agent, begin } = await startAgent({ cwd, flags: { "session-dir": folder } });
  await begin();
  agent.open(await agent.service("sessions")!.create({ cwd, parentSession: source, entries }));
  await agent.dispatch("session_start", { reason: "fork" });
  await new Promise(setImmediate);
  const { file } = agent.service("sessions")!.current!;
  await agent.dispose();
  return file!;
}

describe("F107 copies of a session", () => {
  test("a tree with labels, compaction, model change and entries of extensions is copied whole; its source stays", async () => {
    const source = join(cwd, "source.jsonl");
    const entries: Entry[] = chain(["u1", "u2", "u3"]);
    for (const make of Object.values(SAMPLES)) {
      const parentId = entries.at(-1)!.id;
      entries.push(make({ id: `e${entries.length}`, parentId }, "u2"));
    }
    writeFileSync(source, lines(header({ cwd }), ...entries));
    const before = readFileSync(source);
    for (const [at] of entries.entries()) {
      const made = readSession(await copy(source, readSession(source)!.entries.slice(0, at + 1)))!;
      expect(made).toMatchObject({ problems: [], header: { parentSession: source, cwd, version: 3 } });
      expect(made.entries).toEqual(entries.slice(0, at + 1));
      assertTree(made.entries);
    }
    expect(readFileSync(source)).toEqual(before);
  });

  test("of the oldest version, the copy is of the present one", async () => {
    const source = join(cwd, "old.jsonl");
    const { version: _, ...old } = header({ cwd }) as { version: number };
    const said = (text: string) => ({ role: "user", content: text, timestamp: 1 });
    writeFileSync(
      source,
      lines(old, ...["a", "b"].map((text) => ({ type: "message", timestamp: "t", message: said(text) }))),
    );
    const before = readFileSync(source);
    const { entries } = readSession(source)!;
    const made = readSession(await copy(source, entries))!;
    expect(made).toMatchObject({ problems: [], isOutdated: false, entries });
    assertTree(made.entries);
    expect(readFileSync(source)).toEqual(before);
  });

  test("of an empty session nothing is made until something is said", async () => {
    const { agent, begin } = await startAgent({ cwd, flags: { "session-dir": folder } });
    await begin();
    agent.open(await agent.service("sessions")!.create({ cwd, parentSession: "/p.jsonl" }));
    await agent.dispatch("session_start", { reason: "fork" });
    await new Promise(setImmediate);
    expect(existsSync(folder)).toBe(false);
    await prompt(agent, "hello");
    expect(listSessions(findPlace(cwd, folder), cwd)).toMatchObject([{ parentSession: "/p.jsonl" }]);
  });

  test("a half of a copy is never listed, and one that could not be made leaves nothing behind", () => {
    const place = findPlace("/project", folder);
    const notices: string[] = [];
    const report = (text: string) => void notices.push(text);
    const store = new FileStore({ placeOf: () => place, durability: () => "flush", report });
    const entries = chain(["a", "b", "c"]);
    const poison: Entry = Object.assign({ ...entries[1]! }, { toJSON: (): Entry => expect.fail("the disk is full") });
    const sink = store.open({ header: sampleHeader("s"), entries: [entries[0]!, poison] });
    sink.append(entries[2]!);
    void sink.flush();
    expect(notices).toEqual([expect.stringContaining("the disk is full")]);
    expect(readdirSync(folder)).toEqual([]);
    // It is a folder's worth of files again when it can be.
    Object.assign(poison, { toJSON: () => entries[1] });
    mkdirSync(folder, { recursive: true });
    sink.append({ ...entries[2]!, id: "d", parentId: "c" });
    void sink.flush();
    expect(listSessions(place)).toHaveLength(1);
    expect(readdirSync(folder)).toHaveLength(1);
    expect(readSession(join(folder, readdirSync(folder)[0]!))!.entries.map(({ id }) => id)).toEqual([
      "a",
      "b",
      "c",
      "d",
    ]);
    rmSync(folder, { recursive: true });
  });
});
