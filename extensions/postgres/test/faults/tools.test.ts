import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { NO_SERVER, sharedServer, type TestServer } from "../server.ts";
import { type Pooler, startPooler } from "./pooler.ts";
import { type Proxy, startProxy } from "./proxy.ts";

describe.skipIf(NO_SERVER)(`the tools that make faults${NO_SERVER ? ` (${NO_SERVER})` : ""}`, () => {
  let server: TestServer;
  let proxy: Proxy;
  let pooler: Pooler;
  let url: string;
  beforeAll(async () => {
    server = await sharedServer();
    proxy = await startProxy(server);
    pooler = await startPooler(server);
  });
  afterAll(() => Promise.all([proxy.close(), pooler.close()]));
  beforeEach(async () => {
    url = await server.freshDatabase();
    await ask(url, "create table kept (x text primary key)");
  });

  const open = async (address: string) => {
    const client = new pg.Client({ connectionString: address });
    client.on("error", () => undefined);
    await client.connect();
    return client;
  };
  const ask = async (address: string, text: string, values?: string[]) => {
    const client = await open(address);
    try {
      return (await client.query(text, values)).rows as Record<string, unknown>[];
    } finally {
      await client.end().catch(() => undefined);
    }
  };
  const kept = async () => (await ask(url, "select x from kept order by x")).map(({ x }) => x);

  test("a blocked connection moves again, and nothing was lost", async () => {
    const client = await open(proxy.through(url));
    proxy.block();
    const written = client.query("insert into kept values ($1)", ["a"]);
    expect(await kept()).toEqual([]);
    proxy.unblock();
    await written;
    expect(await kept()).toEqual(["a"]);
    await client.end();
  });

  test("a cut inside a statement leaves nothing of it, a cut before the answer leaves all of it", async () => {
    const inside = proxy.cutInside(/insert into kept/);
    await expect(ask(proxy.through(url), "insert into kept values ($1)", ["half"])).rejects.toThrow();
    await inside;
    const before = proxy.cutAnswer(/insert into kept/);
    await expect(ask(proxy.through(url), "insert into kept values ($1)", ["whole"])).rejects.toThrow();
    await before;
    expect(await kept()).toEqual(["whole"]);
  });

  test("a refusal is the server's own to the client, also inside a transaction", async () => {
    const stop = proxy.fail(/insert into kept/, "53100", "No space left on device");
    const client = await open(proxy.through(url));
    await client.query("begin");
    await expect(client.query("insert into kept values ($1)", ["a"])).rejects.toMatchObject({ code: "53100" });
    await client.query("rollback");
    stop();
    await client.query("insert into kept values ($1)", ["b"]);
    await client.end();
    expect(await kept()).toEqual(["b"]);
  });

  test("F152 the pooler gives one client's transactions to both connections and forgets its session between", async () => {
    const client = await open(pooler.through(url));
    const pids = new Set<unknown>();
    for (let i = 0; i < 6; i++) {
      await client.query("begin");
      const { rows } = await client.query("select pg_backend_pid() as pid");
      await client.query("insert into kept values ($1)", [String(i)]);
      await client.query("commit");
      pids.add(rows[0]?.pid);
    }
    expect(pids.size).toBe(2);
    await client.query({ name: "named", text: "select 1" });
    await expect(client.query({ name: "named", text: "select 1" })).rejects.toMatchObject({ code: "26000" });
    await client.end();
    expect(await kept()).toHaveLength(6);
  });

  test("a client that goes in the middle of a transaction leaves the pooler usable", async () => {
    for (let i = 0; i < 3; i++) {
      const client = await open(pooler.through(url));
      await client.query("begin");
      await client.query("insert into kept values ($1)", [`gone ${i}`]);
      (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
    }
    await ask(pooler.through(url), "insert into kept values ($1)", ["stays"]);
    expect(await kept()).toEqual(["stays"]);
  });
});
