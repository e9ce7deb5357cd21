import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Entry } from "@pi-agent/kernel";
import { afterEach, describe, expect, test } from "vitest";
import { openReader } from "../src/reader.ts";
import { assertRecorded, openHome, startAgent } from "./agents.ts";
import { embeddedAgentDir } from "./embedded.ts";
import { fakeHost, openHub, tempFolder } from "./hubs.ts";
import { NO_SERVER, sharedServer } from "./server.ts";

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const each of undo.splice(0).reverse()) await each();
});

function entry(id: string): Entry {
  return { type: "custom", id, parentId: null, timestamp: "2026-01-02T03:04:05.678Z", customType: "t", data: "x" };
}

async function tempAgent(): Promise<string> {
  const { path, remove } = await tempFolder();
  undo.push(remove);
  return path;
}

describe.skipIf(NO_SERVER)("with a server", () => {
  test("D2 what is written goes in by itself, and leaves no file once it is quiet", async () => {
    const agentDir = await tempAgent();
    const { hub } = openHub(agentDir, { url: await (await sharedServer()).freshDatabase() });
    undo.push(() => hub.leave());
    hub.spool.entry(entry("a"), { session: "s" });
    hub.spool.flush();
    const inside = () =>
      readdirSync(join(agentDir, "spool")).flatMap((name) => readdirSync(join(agentDir, "spool", name)));
    expect(inside()).toEqual(["1.jsonl"]);
    await expect.poll(inside, { timeout: 15_000 }).toEqual([]);
    expect(await hub.client.query("select id from pi_agent.entries")).toEqual([{ id: "a" }]);
  }, 30_000);

  test("D2 a short run leaves its lines, and the next start on that machine takes them in", async () => {
    const agentDir = await tempAgent();
    const url = await (await sharedServer()).freshDatabase();
    const first = openHub(agentDir, { url });
    first.hub.spool.entry(entry("a"), { session: "s" });
    await first.hub.leave();
    expect(readdirSync(join(agentDir, "spool"))).toHaveLength(1);
    const second = openHub(agentDir, { url });
    undo.push(() => second.hub.leave());
    await expect.poll(() => readdirSync(join(agentDir, "spool")), { timeout: 15_000 }).toEqual([]);
  }, 30_000);

  test("an exit waits for the database where the person wants that", async () => {
    const agentDir = await tempAgent();
    const url = await (await sharedServer()).freshDatabase();
    const { hub } = openHub(agentDir, { url, settings: { "postgres.exitWaitMs": 10_000 } });
    hub.spool.entry(entry("a"), { session: "s" });
    await hub.leave();
    expect(readdirSync(join(agentDir, "spool"))).toEqual([]);
  }, 30_000);

  test("F154 F155 a transaction that fails is taken back, and one more goes on after the connections were cut", async () => {
    const agentDir = await tempAgent();
    const { hub } = openHub(agentDir, { url: await (await sharedServer()).freshDatabase() });
    undo.push(() => hub.leave());
    await hub.drain();
    const insert = "insert into pi_agent.sessions (id) values ($1)";
    const failing = hub.client.transaction(async (tx) => {
      await tx.query(insert, ["x"]);
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    const server = await sharedServer();
    await server.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'pi-agent'");
    await hub.client.transaction((tx) => tx.query(insert, ["y"]));
    expect(await hub.client.query("select id from pi_agent.sessions")).toEqual([{ id: "y" }]);
  }, 30_000);

  test("of agents that share a database any one may go first: the address comes from one that is still there", async () => {
    const agentDir = await tempAgent();
    const url = await (await sharedServer()).freshDatabase();
    const home = { agentDir, url, settings: { "postgres.url": "$DATABASE_URL" } };
    const [first, second] = [await startAgent(home), await startAgent(home)];
    undo.push(second.dispose);
    await first.dispose();
    await second.agent.input("go");
    await second.agent.settled();
    const reader = await openHome(home);
    undo.push(() => reader.close());
    await assertRecorded(reader, second.made);
    expect(second.notices).toEqual([]);
  }, 30_000);

  test("pi runs reads what waited, and says what waits all the same", async () => {
    const agentDir = await tempAgent();
    const url = await (await sharedServer()).freshDatabase();
    const { hub } = openHub(agentDir, { url });
    hub.spool.entry(entry("a"), { session: "s" });
    await hub.leave();
    const reader = await openReader(fakeHost(agentDir, { url }));
    undo.push(() => reader.close());
    expect(await reader.query("select id from pi_agent.entries")).toEqual([{ id: "a" }]);
    expect(reader.spoolStatus()).toEqual({ files: 0, lines: 0, bytes: 0 });
  }, 30_000);
});

describe("with the embedded database", () => {
  test("D3 the process that has it gives way to a reader, and drains for those that have not", async () => {
    const { agentDir, remove } = await embeddedAgentDir();
    undo.push(remove);
    const holder = startHolder(agentDir);
    undo.push(() => stop(holder));
    await said(holder, "open");
    const { hub } = openHub(agentDir);
    undo.push(() => hub.leave());
    hub.spool.entry(entry("mine"), { session: "s" });
    hub.spool.flush();
    await hub.drain();
    const ids = await hub.client.query("select id from pi_agent.entries order by seq");
    expect(ids).toEqual([{ id: "theirs" }, { id: "mine" }]);
  }, 120_000);

  test("D3 what a killed holder left is taken over with the database", async () => {
    const { agentDir, remove } = await embeddedAgentDir();
    undo.push(remove);
    const holder = startHolder(agentDir);
    await said(holder, "open");
    await stop(holder);
    const { hub } = openHub(agentDir);
    undo.push(() => hub.leave());
    await hub.drain();
    expect(await hub.client.query("select id from pi_agent.entries")).toEqual([{ id: "theirs" }]);
  }, 120_000);

  test("a process that only waits for the database to be quiet ends by itself", async () => {
    const { agentDir, remove } = await embeddedAgentDir();
    undo.push(remove);
    const child = startHolder(agentDir, "");
    const [code] = await once(child, "exit");
    expect(code).toBe(0);
  }, 120_000);
});

/** A process that opens the database, and then does what it is told. */
function startHolder(agentDir: string, then = "setInterval(() => {}, 1000)"): ChildProcess {
  const source = (name: string) => JSON.stringify(join(import.meta.dirname, name));
  const code = `import { openHub } from ${source("hubs.ts")};
    const { hub } = openHub(process.argv[1]);
    hub.spool.entry(${JSON.stringify(entry("theirs"))}, { session: "s" });
    await hub.drain();
    console.log("open");
    ${then}`;
  return spawn(process.execPath, ["--input-type=module-typescript", "-e", code, agentDir], {
    stdio: ["ignore", "pipe", "inherit"],
  });
}

async function said(child: ChildProcess, word: string): Promise<void> {
  for await (const text of child.stdout!) if (String(text).includes(word)) return;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}
