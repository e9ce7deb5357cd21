import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Agent, Entry, Extension } from "@pi-agent/kernel";
import { beforeEach, describe, expect, test } from "vitest";
import { keep } from "../src/conformance/play.ts";
import { said, sampleHeader } from "../src/conformance.ts";
import { MemoryStore } from "../src/memory-store.ts";
import { readSession } from "../src/read.ts";
import { Recorder } from "../src/recorder.ts";
import type { SessionStore } from "../src/store.ts";
import { prompt, startAgent, tempFolder } from "./support.ts";

let cwd: string;
let folder: string;

beforeEach(() => {
  cwd = tempFolder();
  folder = join(cwd, "sessions");
});

const keeping =
  (name: string, store: SessionStore): Extension =>
  (pi) =>
    void pi.register("session-store", name, store);

async function start(more: Partial<Parameters<typeof startAgent>[0]> = {}) {
  const started = await startAgent({ cwd, ...more, flags: { "session-dir": folder, ...more.flags } });
  return { ...started, sessions: started.agent.service("sessions")! };
}

async function entriesIn(store: SessionStore, { sessionId }: Agent): Promise<readonly Entry[] | undefined> {
  return (await store.read(sessionId))?.entries;
}

describe("stores of other packages", () => {
  test("receive what is appended, beside the files", async () => {
    const other = new MemoryStore();
    const { agent, begin, sessions } = await start({ extensions: [keeping("other", other)] });
    await begin();
    await prompt(agent, "hello");
    expect(await entriesIn(other, agent)).toEqual(agent.transcript.path());
    expect(readSession(sessions.current!.file!)!.entries).toEqual(agent.transcript.path());
    expect(await sessions.list(cwd)).toMatchObject([{ id: agent.sessionId, path: sessions.current!.file }]);
  });

  test("receive what is appended while nothing runs, too", async () => {
    const other = new MemoryStore();
    const { agent, begin } = await start({ extensions: [keeping("other", other)] });
    await begin();
    await prompt(agent, "hello");
    agent.append([{ type: "session_info", name: "Named while nothing runs" }]);
    await new Promise(setImmediate);
    expect(await other.list()).toMatchObject([{ name: "Named while nothing runs" }]);
    expect(await entriesIn(other, agent)).toEqual(agent.transcript.path());
  });

  test("are opened with a header and entries alone, and tell the file that they write to", async () => {
    const other = new MemoryStore();
    const opened: object[] = [];
    const sinkOf = other.open.bind(other);
    other.open = (session) => {
      opened.push(session);
      return { ...sinkOf(session), file: "/elsewhere/s.db" };
    };
    const { agent, begin, sessions } = await start({
      extensions: [keeping("other", other)],
      flags: { continue: true },
    });
    await begin();
    await prompt(agent, "hello");
    expect(opened.map((each) => Object.keys(each).sort())).toEqual([["entries", "header"]]);
    expect(sessions.current!.file).toMatch(/\.jsonl$/);
    const bare = new Recorder(
      { header: sampleHeader("s"), entries: [] },
      { stores: new Map([["other", { value: other }]]), receives: () => true, report: () => {} },
    );
    expect(bare.file).toBeUndefined();
    bare.append(said({ id: "a", parentId: null }));
    expect(bare.file).toBe("/elsewhere/s.db");
  });

  test("that load later get the entries so far, and one that is unloaded gets no more", async () => {
    const late = new MemoryStore();
    const { agent, begin } = await start();
    await begin();
    await prompt(agent, "first");
    const owner = { name: "late", scope: "package" as const };
    await agent.extend([{ extension: keeping("late", late), owner }]);
    await prompt(agent, "second");
    expect(await entriesIn(late, agent)).toEqual(agent.transcript.path());
    const before = agent.transcript.size;
    await agent.unload("late");
    await prompt(agent, "third");
    expect(await entriesIn(late, agent)).toHaveLength(before);
  });

  test("get the entries so far when a session begun elsewhere is gone on with, each once", async () => {
    const other = new MemoryStore();
    const first = await start();
    await first.begin();
    await prompt(first.agent, "hello");
    const { file } = first.sessions.current!;
    const before = first.agent.transcript.path();
    await keep(other, { header: sampleHeader(first.agent.sessionId, { cwd }), entries: before.slice(0, 3) });
    await first.agent.dispose();
    const { agent, begin } = await start({ extensions: [keeping("other", other)], flags: { session: file! } });
    await begin();
    await prompt(agent, "again");
    expect(await entriesIn(other, agent)).toEqual(agent.transcript.path());
    expect(agent.transcript.path().slice(0, before.length)).toEqual(before);
  });

  test("that fail are told once, and the files go on", async () => {
    const fail = () => {
      throw new Error("out of luck");
    };
    const broken = { open: () => ({ append: fail, flush: async () => fail(), close: async () => fail() }) };
    const { agent, begin, notices, sessions } = await start({
      extensions: [keeping("broken", broken as Partial<SessionStore> as SessionStore)],
    });
    await begin();
    await prompt(agent, "one");
    await prompt(agent, "two");
    await agent.dispose();
    expect(notices).toMatchObject([
      { level: "error", text: expect.stringMatching(/store broken failed: out of luck/) },
    ]);
    expect(readSession(sessions.current!.file!)!.entries).toEqual(agent.transcript.path());
  });
});

describe("the setting session.store", () => {
  const settings = { "session.store": "other" };
  let other: MemoryStore;
  let extensions: Extension[];

  beforeEach(async () => {
    other = new MemoryStore();
    extensions = [keeping("other", other)];
    for (const id of ["here-1", "here-2"])
      await keep(other, { header: sampleHeader(id, { cwd }), entries: [said({ id: "a", parentId: null })] });
    await keep(other, {
      header: sampleHeader("away", { cwd: "/of/another/machine" }),
      entries: [said({ id: "b", parentId: null })],
    });
  });

  test("names the store that lists and reads, and the files receive", async () => {
    const { agent, begin, sessions } = await start({ settings, extensions, flags: { session: "here-1" } });
    await begin();
    expect(agent.sessionId).toBe("here-1");
    expect(agent.transcript.path().map(({ id }) => id)).toContain("a");
    expect((await sessions.list(cwd)).map(({ id }) => id).sort()).toEqual(["here-1", "here-2"]);
    await prompt(agent, "go on");
    expect(await entriesIn(other, agent)).toEqual(agent.transcript.path());
    expect(readSession(sessions.current!.file!)!.entries).toEqual(agent.transcript.path());
    expect(sessions.current!.file!.startsWith(folder)).toBe(true);
  });

  test("with --continue, --session-id and the beginning of an id too", async () => {
    const newest = (await other.list({ cwd }))[0]!.id;
    const idOf = async (flags: Record<string, string | boolean>) => {
      const { agent, begin } = await start({ settings, extensions, flags });
      await begin();
      await agent.dispose();
      return agent.sessionId;
    };
    expect(await idOf({ continue: true })).toBe(newest);
    expect(await idOf({ "session-id": "here-2" })).toBe("here-2");
    expect(await idOf({ "session-id": "new-one" })).toBe("new-one");
    expect(await idOf({ session: "aw" })).toBe("away");
  });

  test("a session that was held on another machine goes on where the person is", async () => {
    const { agent } = await start({ settings, extensions });
    const flags = new Map([["session", "away"]]);
    expect(await agent.dispatch("session_select", { flags })).toMatchObject({ id: "away", cwd });
    expect(await agent.service("sessions")!.read("away")).toMatchObject({ id: "away", cwd });
  });

  test.each([
    ["nobody", "session_not_found"],
    ["here", "session_ambiguous"],
  ])("what cannot be told apart or found is an error: %s", async (session, code) => {
    const { agent } = await start({ settings, extensions });
    const codes: string[] = [];
    agent.on("fault", ({ error }) => void codes.push(error.code));
    await agent.dispatch("session_select", { flags: new Map([["session", session]]) });
    expect(codes).toEqual([code]);
  });

  test("S3 F106 a session that is held there is in use; when it is given back it is not", async () => {
    const claim = await other.claim("here-1");
    const { agent, sessions } = await start({ settings, extensions });
    const codes: string[] = [];
    agent.on("fault", ({ error }) => void codes.push(error.code));
    const flags = new Map([["session", "here-1"]]);
    expect(await agent.dispatch("session_select", { flags })).toBeUndefined();
    await expect(sessions.open("here-1")).rejects.toMatchObject({ code: "session_in_use" });
    expect(codes).toEqual(["session_in_use"]);
    if ("release" in claim) await claim.release();
    expect(await agent.dispatch("session_select", { flags })).toMatchObject({ id: "here-1" });
    expect(await other.claim("here-1")).toMatchObject({ holder: { pid: process.pid } });
  });

  test("a store that cannot lease keeps nobody from writing, and that is told", async () => {
    const unsure = new MemoryStore();
    unsure.claim = async () => {
      throw new Error("no connection");
    };
    const { agent, begin, notices, sessions } = await start({ settings, extensions: [keeping("other", unsure)] });
    await begin();
    await prompt(agent, "hello");
    expect(await entriesIn(unsure, agent)).toEqual(agent.transcript.path());
    expect(notices).toMatchObject([{ level: "warning", text: expect.stringContaining("no connection") }]);
    expect(sessions.current!.isClaimed).toBe(false);
  });

  const isFree = async (id: string) => {
    const claim = await other.claim(id);
    if ("release" in claim) await claim.release();
    return "release" in claim;
  };

  test("S3 an id that is not there, or cannot be read, leaves no claim behind", async () => {
    const { sessions } = await start({ settings, extensions });
    await expect(sessions.open("nobody")).rejects.toMatchObject({ code: "session_not_found" });
    expect(await isFree("nobody")).toBe(true);
    other.read = async () => {
      throw new Error("no connection");
    };
    await expect(sessions.open("here-1")).rejects.toThrow("no connection");
    expect(await isFree("here-1")).toBe(true);
  });

  describe("S3 a session that was opened, and not gone on with, is given back", () => {
    async function opened() {
      const started = await start({ settings, extensions });
      await started.begin();
      await prompt(started.agent, "hello");
      await started.sessions.open("here-1");
      expect(await isFree("here-1")).toBe(false);
      return started;
    }

    test("when another one is opened", async () => {
      const { sessions } = await opened();
      await sessions.open("here-2");
      expect(await isFree("here-1")).toBe(true);
      expect(await isFree("here-2")).toBe(false);
    });

    test("when another one is begun", async () => {
      const { sessions } = await opened();
      await sessions.create({ cwd });
      await expect.poll(() => isFree("here-1")).toBe(true);
    });

    test("when the switch to it failed, and the one before starts again", async () => {
      const { agent, sessions } = await opened();
      await agent.dispatch("session_start", { reason: "resume" });
      await expect.poll(() => isFree("here-1")).toBe(true);
      expect(await isFree(agent.sessionId)).toBe(false);
      await sessions.open("here-1");
      agent.open(await sessions.open("here-1"));
      await agent.dispatch("session_start", { reason: "resume" });
      expect(await isFree("here-1")).toBe(false);
    });

    test("when the one before is gone on with", async () => {
      const { agent } = await opened();
      await prompt(agent, "on with this one");
      await expect.poll(() => isFree("here-1")).toBe(true);
      expect(await isFree(agent.sessionId)).toBe(false);
    });

    test("when it is to be deleted", async () => {
      const { sessions } = await opened();
      expect(await sessions.remove("here-1")).toBe(true);
    });
  });

  describe("S3 a claim that is lost", () => {
    /** Counts claims; `lose` takes what is held away, and gives it to somebody else where one is named. */
    function losing() {
      let holder: { pid: number; host: string; since: string } | undefined;
      let claims = 0;
      let lost = 0;
      other.claim = async () => {
        if (holder) return { holder };
        const mine = ++claims;
        return { isHeld: () => mine > lost, release: async () => {} };
      };
      const lose = (to?: string) => {
        lost = claims;
        if (to !== undefined) holder = { pid: 4242, host: to, since: "2026-01-01T00:00:00.000Z" };
      };
      return { lose, count: () => claims };
    }

    test("to somebody else is told once, and the session is not said to be claimed", async () => {
      const { lose } = losing();
      const { agent, begin, notices, sessions } = await start({ settings, extensions });
      await begin();
      await prompt(agent, "one");
      expect(sessions.current!.isClaimed).toBe(true);
      lose("elsewhere");
      expect(sessions.current!.isClaimed).toBe(false);
      await prompt(agent, "two");
      await prompt(agent, "three");
      expect(notices).toMatchObject([{ level: "warning", text: expect.stringContaining("Process 4242 on elsewhere") }]);
      expect(sessions.current!.isClaimed).toBe(false);
      expect(await entriesIn(other, agent)).toEqual(agent.transcript.path());
    });

    test("to nobody is taken again, and nothing is told", async () => {
      const { lose, count } = losing();
      const { agent, begin, notices, sessions } = await start({ settings, extensions });
      await begin();
      await prompt(agent, "one");
      lose();
      await prompt(agent, "two");
      expect(count()).toBe(2);
      expect(sessions.current!.isClaimed).toBe(true);
      expect(notices).toEqual([]);
    });
  });

  test("that nothing is registered under is an error that names those there are", async () => {
    const { agent, sessions } = await start({ settings: { "session.store": "postgres" }, extensions });
    const faults: { code: string; message: string; hint?: string }[] = [];
    agent.on("fault", ({ error }) => void faults.push(error));
    expect(await agent.dispatch("session_select", { flags: new Map() })).toBeUndefined();
    expect(faults).toMatchObject([{ code: "unknown_session_store", message: expect.stringContaining('"postgres"') }]);
    expect(faults[0]!.hint).toContain("files, memory, other");
    await expect(sessions.list()).rejects.toMatchObject({ code: "unknown_session_store" });
  });
});

test("--no-session keeps a session in memory, and no other store hears of it", async () => {
  const other = new MemoryStore();
  const { agent, begin, sessions } = await start({
    extensions: [keeping("other", other)],
    flags: { "no-session": true },
  });
  await begin();
  await prompt(agent, "hello");
  expect(await entriesIn(other, agent)).toBeUndefined();
  expect(existsSync(folder)).toBe(false);
  expect(sessions.current).toMatchObject({ id: agent.sessionId, file: undefined, firstMessage: "hello" });
});
