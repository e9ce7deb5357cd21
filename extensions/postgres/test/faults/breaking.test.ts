/** D2: whatever breaks while it is written to, everything goes in, once. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { assertRecorded, type Home, linesWaiting, openHome, type RecordedAgent, startAgent } from "../agents.ts";
import { create, DATABASES, type TestDatabase } from "../databases.ts";
import { NO_SERVER, startServer, type TestServer } from "../server.ts";
import { type Pooler, startPooler } from "./pooler.ts";
import { type Proxy, startProxy } from "./proxy.ts";

const isSoak = process.env.SOAK === "1";
const ROUNDS = isSoak ? 20 : 1;
const DRAIN_MS = 60_000;
const INSERT = /insert into "pi_agent"\.steps/;

interface Scene {
  server: TestServer;
  proxy: Proxy;
  database: string;
}

describe.skipIf(NO_SERVER)(`what breaks under a writer${NO_SERVER ? ` (${NO_SERVER})` : ""}`, () => {
  let server: TestServer;
  let proxy: Proxy;
  let place: TestDatabase;
  let home: Home;
  let recorded: RecordedAgent;

  beforeAll(async () => {
    server = await startServer();
  }, 30_000);
  afterAll(() => server.stop(), 30_000);
  beforeEach(async () => {
    place = await create(await server.freshDatabase());
    proxy = await startProxy(server);
    home = { agentDir: place.agentDir, url: proxy.through(place.url!) };
    recorded = await startAgent(home);
  });
  afterEach(async () => {
    await recorded.dispose();
    await proxy.close();
    await place.dispose();
  });

  const FAULTS: Record<string, (scene: Scene) => Promise<void>> = {
    "the server is killed in the middle of a statement": async ({ server: its, proxy: { cutInside } }) => {
      await cutInside(INSERT);
      await its.kill("SIGKILL");
      await its.restart();
    },
    "the server goes down at once while it writes": async ({ server: its, proxy: { cutAnswer } }) => {
      await cutAnswer(INSERT);
      await its.kill("SIGQUIT");
      await its.restart();
    },
    "F154 the server is restarted in the ordinary way": ({ server: its }) => its.restart(),
    "a connection is cut in the middle of a message": ({ proxy: { cutInside } }) => cutInside(INSERT),
    "a connection is cut after the commit, before its answer": ({ proxy: { cutAnswer } }) => cutAnswer(/^commit$/),
    "F154 all connections are ended by the server": async ({ server: its, database }) => {
      await its.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`);
    },
    "what the server does is cancelled, again and again": async ({ server: its, database }) => {
      for (let n = 0; n < 20; n++) {
        await its.query(`select pg_cancel_backend(pid) from pg_stat_activity where datname = '${database}'`);
      }
    },
    "the disk is full (53100)": async ({ proxy: { fail, count } }) => {
      const before = count(INSERT);
      const stop = fail(/^insert into/, "53100", 'could not extend file "base/1/2": No space left on device');
      await expect.poll(() => count(/^insert into/), { timeout: 20_000 }).toBeGreaterThan(before);
      stop();
    },
    "the server takes no more connections (53300)": async ({ server: its, proxy: { cut } }) => {
      await its.query("alter system set max_connections = 6");
      await its.restart();
      cut();
      await its.query("alter system reset max_connections");
      await its.restart();
    },
  };

  test.each(Object.entries(FAULTS))(
    "D2 nothing is lost and nothing is there twice when %s",
    async (_name, cause) => {
      const database = new URL(place.url!).pathname.slice(1);
      const { agent } = recorded;
      for (let round = 0; round < ROUNDS; round++) {
        const over = new AbortController();
        const happening = cause({ server, proxy, database }).finally(() => over.abort());
        // It is written to until it has broken, and once more.
        for (let n = 0; !over.signal.aborted || n === 0; n++) {
          await agent.run(`round ${round}, ${n}`);
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        await happening;
        await agent.run(`after round ${round}`);
      }
      await expect.poll(() => linesWaiting(home), { timeout: DRAIN_MS, interval: 100 }).toBe(0);
      const reader = await openHome(home);
      await assertRecorded(reader, recorded.made);
      expect(await reader.query("select from pi_agent.runs where status <> 'done' or ended_at is null")).toHaveLength(
        0,
      );
      await reader.close();
    },
    DRAIN_MS + 30_000,
  );

  test(
    "F154 an agent lives through the end of its idle connections, and its next run is recorded",
    async () => {
      const { agent, notices } = recorded;
      await agent.run("before");
      await expect.poll(() => linesWaiting(home), { timeout: DRAIN_MS }).toBe(0);
      await server.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'pi-agent'");
      await server.restart();
      await agent.run("after");
      await expect.poll(() => linesWaiting(home), { timeout: DRAIN_MS }).toBe(0);
      const reader = await openHome(home);
      await assertRecorded(reader, recorded.made);
      await reader.close();
      expect(notices).toEqual([]);
    },
    DRAIN_MS,
  );

  test(
    "F155 nothing is held while the model thinks, so that idle limits and one connection for two agents do no harm",
    async () => {
      await server.query("alter system set idle_in_transaction_session_timeout = '300ms'");
      await server.query("alter system set idle_session_timeout = '500ms'");
      await server.query("select pg_reload_conf()");
      const script = () => new Promise<{ text: string }>((resolve) => setTimeout(resolve, 1_500, { text: "Thought." }));
      const others = [await startAgent(home, { script }), await startAgent(home, { script })];
      const running = others.map(({ agent }) => agent.run("think"));
      const seen = new Set<string>();
      const over = new AbortController();
      const all = Promise.all(running).finally(() => over.abort());
      while (!over.signal.aborted) {
        const rows = await server.query<{ state: string; ms: number }>(
          `select state, extract(epoch from now() - state_change)::float8 * 1000 as ms from pg_stat_activity where application_name = 'pi-agent'`,
        );
        for (const { state, ms } of rows) if (ms > 250) seen.add(state);
      }
      await all;
      expect(seen).not.toContain("idle in transaction");
      await expect.poll(() => linesWaiting(home), { timeout: DRAIN_MS }).toBe(0);
      for (const each of others) await each.dispose();
      await server.query("alter system reset all");
      await server.query("select pg_reload_conf()");
      const reader = await openHome(home);
      await assertRecorded(reader, ...others.map(({ made }) => made));
      await reader.close();
    },
    DRAIN_MS,
  );

  describe("behind a pooler", () => {
    let pooler: Pooler;
    beforeAll(async () => {
      pooler = await startPooler(server);
    });
    afterAll(() => pooler.close());

    test(
      "F152 200 runs and reads go through one that gives each transaction another connection",
      async () => {
        const behind: Home = { agentDir: await place.anotherAgentDir(), url: pooler.through(place.url!) };
        const { agent, made, dispose } = await startAgent(behind);
        for (let n = 0; n < 50; n++) await agent.run(`run ${n}`);
        await expect.poll(() => linesWaiting(behind), { timeout: DRAIN_MS }).toBe(0);
        const reader = await openHome(behind);
        for (let n = 0; n < 150; n++) await reader.query("select $1::int as n", [n]);
        await assertRecorded(reader, made);
        await reader.close();
        await dispose();
        expect(pooler.used.every((count) => count > 50)).toBe(true);
      },
      DRAIN_MS,
    );
  });
});

test.each(DATABASES.filter(({ isMissing }) => !isMissing))(
  "D2 what two agents of one process write to an $kind database goes in apart",
  async ({ create: make }) => {
    const place = await make();
    const agents = [await startAgent(place), await startAgent(place)];
    await Promise.all(agents.map(({ agent }) => agent.run("at once")));
    for (const { dispose } of agents) await dispose();
    const reader = await openHome(place);
    await assertRecorded(reader, ...agents.map(({ made }) => made));
    await reader.close();
    await place.dispose();
  },
  60_000,
);
