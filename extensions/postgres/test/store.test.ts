import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Entry } from "@pi-agent/kernel";
import type { SessionHeader, SessionStore } from "@pi-agent/sessions";
import {
  assertSameStores,
  copySession,
  keep,
  type OpenedStore,
  playOperations,
  randomOperations,
  said,
  sampleHeader,
  sessionStoreCases,
} from "@pi-agent/sessions/conformance";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { FileStore } from "../../sessions/src/file-store.ts";
import { MemoryStore } from "../../sessions/src/memory-store.ts";
import type { Hub } from "../src/hub.ts";
import { PostgresStore } from "../src/store.ts";
import { embeddedAgentDir } from "./embedded.ts";
import { openHub, tempFolder } from "./hubs.ts";
import { NO_SERVER, sharedServer } from "./server.ts";

// The embedded database takes some five times as long.
const OPERATIONS = process.env.SOAK ? { embedded: 10_000, server: 10_000 } : { embedded: 200, server: 1_000 };
const timeout = process.env.SOAK ? 600_000 : 60_000;
const undo: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const each of undo.splice(0).reverse()) await each();
});

function openStore(agentDir: string, url?: string): { store: PostgresStore; hub: Hub } {
  const { hub } = openHub(agentDir, url === undefined ? {} : { url });
  const store = new PostgresStore(() => hub);
  undo.push(async () => {
    await store.close();
    await hub.leave();
  });
  return { store, hub };
}

async function openFiles(): Promise<OpenedStore> {
  const { path: folder, remove } = await tempFolder();
  undo.push(remove);
  const placeOf = () => ({ folder, isShared: true, root: folder });
  const reopen = async () => new FileStore({ placeOf, durability: () => "flush", report: () => {} });
  return { store: await reopen(), reopen };
}

async function openMemory(): Promise<OpenedStore> {
  const store = new MemoryStore();
  return { store, reopen: async () => store };
}

/** What F160 asks of a database, whatever it runs on. */
function comparesWithOthers(open: () => Promise<OpenedStore>, operations: number): void {
  test("F160 the same operations leave files, memory and the database equal", { timeout }, async () => {
    const stores: SessionStore[] = [];
    for (const opener of [openFiles, openMemory, open]) {
      stores.push(await playOperations(await opener(), randomOperations(7, operations)));
    }
    const [files, memory, postgres] = stores;
    await assertSameStores(files!, memory!);
    await assertSameStores(files!, postgres!);
    expect((await postgres!.list()).length).toBeGreaterThan(1);
  });

  test("F160 a session that is exported from any store and imported into the others is equal in all", {
    timeout,
  }, async () => {
    const openers = [openFiles, openMemory, open];
    for (const [from, openSource] of openers.entries()) {
      const { store: source } = await openSource();
      await keep(source, { header: sampleHeader("s"), entries: sampleEntries() });
      const exported = await exportSession(source);
      for (const [to, openTarget] of openers.entries()) {
        // The database that a case opens is emptied before.
        if (from === to) continue;
        const { store: copy } = await openTarget();
        await importSession(copy, exported);
        const { store: memory } = await openMemory();
        await copySession(copy, memory, { id: "s" });
        expect(await exportSession(memory)).toBe(exported);
      }
    }
  });

  test("the error of a session that is in use names the process, and no flag of a command", { timeout }, async () => {
    const { store, reopen } = await open();
    await keep(store, { header: sampleHeader("s"), entries: sampleEntries() });
    await store.claim("s");
    const failure = (await reopen()).remove("s");
    await expect(failure).rejects.toMatchObject({
      code: "session_in_use",
      message: expect.stringContaining(String(process.pid)),
      hint: expect.not.stringContaining("--"),
    });
  });
}

function sampleEntries(): Entry[] {
  const odd = { z: 1, a: [1e21, -0.5], text: "nul \0 half \uD800 line\u2028" };
  return [
    said({ id: "a", parentId: null }, "hello"),
    { type: "custom", customType: "t", id: "b", parentId: "a", timestamp: "2026-01-02T03:04:05.678Z", data: odd },
    said({ id: "c", parentId: "a" }, "a branch"),
  ];
}

/** Writes a session to a file, as lines. */
async function exportSession(store: SessionStore): Promise<string> {
  const { header, entries } = (await store.read("s"))!;
  const { path, remove } = await tempFolder();
  undo.push(remove);
  const file = join(path, "export.jsonl");
  await writeFile(file, [header, ...entries].map((each) => `${JSON.stringify(each)}\n`).join(""));
  return readFile(file, "utf8");
}

async function importSession(store: SessionStore, text: string): Promise<void> {
  const [header, ...entries] = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
  await keep(store, { header: header as SessionHeader, entries: entries as Entry[] });
}

describe("F160 the embedded database keeps sessions as files do", () => {
  let agentDir = "";
  let hub: Hub;
  let remove = async () => {};
  beforeAll(async () => {
    ({ agentDir, remove } = await embeddedAgentDir());
    ({ hub } = openHub(agentDir));
    await hub.drain();
  }, 120_000);
  afterAll(async () => {
    await hub.leave();
    await remove();
  });

  const open = async () => {
    await hub.drain();
    await hub.client.query("truncate pi_agent.sessions, pi_agent.entries, pi_agent.removed_sessions");
    return { store: openStore(agentDir).store, reopen: async () => openStore(agentDir).store };
  };
  for (const { name, run } of sessionStoreCases({ operations: OPERATIONS.embedded }))
    test(name, { timeout }, () => run(open));
  comparesWithOthers(open, OPERATIONS.embedded);
});

describe.skipIf(NO_SERVER)("F160 a server keeps sessions as files do, for agents with directories of their own", () => {
  const open = async () => {
    const url = await (await sharedServer()).freshDatabase();
    const hubs: Hub[] = [];
    const elsewhere = async () => {
      // What another machine sees is what has arrived.
      for (const hub of hubs) await hub.drain();
      const { path, remove } = await tempFolder();
      undo.push(remove);
      const { store, hub } = openStore(path, url);
      hubs.push(hub);
      return store;
    };
    return { store: await elsewhere(), reopen: elsewhere };
  };
  for (const { name, run } of sessionStoreCases({ operations: OPERATIONS.server }))
    test(name, { timeout }, () => run(open));
  comparesWithOthers(open, OPERATIONS.server);
});
