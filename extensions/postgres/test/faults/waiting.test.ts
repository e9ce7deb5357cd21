/** D1: a database that is away, slow or in somebody's hands is waited for by nobody. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { assertRecorded, type Home, linesWaiting, openHome, startAgent } from "../agents.ts";
import { create, DATABASES, type TestDatabase } from "../databases.ts";
import { NO_SERVER, sharedServer } from "../server.ts";
import { type Proxy, startProxy } from "./proxy.ts";

const isSoak = process.env.SOAK === "1";
const BLOCKED_MS = isSoak ? 30_000 : 1_500;
const RUNS = 10;

/** What is in the way, until it is taken out of it. */
interface Obstacle {
  home: Home;
  /** Resolves when the package has run into it. */
  met: () => Promise<void>;
  takeAway: () => Promise<void>;
}

const undos: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const undo of undos.splice(0).reverse()) await undo();
});

async function newPlace(kind: "embedded" | "server"): Promise<TestDatabase> {
  const place = await DATABASES.find((each) => each.kind === kind)!.create();
  undos.push(place.dispose);
  return place;
}

async function behindProxy(): Promise<{ place: TestDatabase; proxy: Proxy; home: Home }> {
  const place = await newPlace("server");
  const proxy = await startProxy(await sharedServer());
  undos.push(proxy.close);
  return { place, proxy, home: { agentDir: place.agentDir, url: proxy.through(place.url!) } };
}

const OBSTACLES: Record<string, { kind: "embedded" | "server"; setUp: () => Promise<Obstacle> }> = {
  "blocked, so that nothing it is sent is answered": {
    kind: "server",
    async setUp() {
      const { proxy, home } = await behindProxy();
      proxy.block();
      const met = () => expect.poll(() => proxy.open, { timeout: 10_000 }).toBeGreaterThan(0);
      return {
        home,
        met: () => met().then(() => new Promise((resolve) => setTimeout(resolve, BLOCKED_MS))),
        takeAway: async () => proxy.unblock(),
      };
    },
  },
  "refusing every connection": {
    kind: "server",
    async setUp() {
      const { proxy, home } = await behindProxy();
      proxy.refuse();
      return { home, met: async () => undefined, takeAway: async () => proxy.unblock() };
    },
  },
  "locked by somebody who holds our tables": {
    kind: "server",
    async setUp() {
      const place = await newPlace("server");
      const { agentDir, url } = place;
      await (await openHome({ agentDir, url })).close();
      const db = await place.open();
      const { promise: held, resolve: begin } = Promise.withResolvers<void>();
      const { promise: over, resolve: end } = Promise.withResolvers<void>();
      const holding = db.transaction(async (tx) => {
        await tx.query("lock table pi_agent.runs in access exclusive mode");
        begin();
        await over;
      });
      await held;
      const waits = () =>
        db.query("select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()");
      return {
        home: { agentDir, url },
        met: () => expect.poll(async () => (await waits()).length, { timeout: 10_000 }).toBeGreaterThan(0),
        takeAway: async () => {
          end();
          await holding;
          await db.close();
        },
      };
    },
  },
  "in another process's hands": {
    kind: "embedded",
    async setUp() {
      const place = await newPlace("embedded");
      const db = await place.open();
      return { home: place, met: async () => undefined, takeAway: () => db.close() };
    },
  },
};

for (const kind of ["embedded", "server"] as const) {
  const isMissing = kind === "server" && NO_SERVER !== undefined;
  describe.skipIf(isMissing)(`an obstacle before the ${kind} database${isMissing ? ` (${NO_SERVER})` : ""}`, () => {
    const obstacles = Object.entries(OBSTACLES).filter(([, each]) => each.kind === kind);
    test.each(obstacles)(
      "D1 D2 runs go on and end while it is %s, and go in afterwards",
      async (_name, { setUp }) => {
        const { home, met, takeAway } = await setUp();
        const { agent, made, dispose } = await startAgent(home);
        await agent.run("first");
        await met();
        for (let n = 1; n < RUNS; n++) expect((await agent.run(`again ${n}`)).outcome).toBe("done");
        await dispose();
        expect(linesWaiting(home)).toBeGreaterThan(RUNS);
        await takeAway();
        const reader = await openHome(home);
        await assertRecorded(reader, made);
        const runs = await reader.query("select id from pi_agent.runs where status = 'done' and ended_at is not null");
        expect(runs).toHaveLength(RUNS);
        await reader.close();
        expect(linesWaiting(home)).toBe(0);
      },
      20_000 + BLOCKED_MS,
    );
  });
}

test("D1 D3 an embedded database that cannot be opened is told once, and the run goes on", async () => {
  const place = await create(undefined);
  undos.push(place.dispose);
  await writeFile(join(place.agentDir, "postgres", "data", "PG_VERSION"), "nonsense");
  await writeFile(join(place.agentDir, "postgres", "data", "global", "pg_control"), "nonsense");
  const { agent, notices, dispose } = await startAgent(place);
  expect((await agent.run("first")).outcome).toBe("done");
  await expect.poll(() => notices.length, { timeout: 15_000 }).toBeGreaterThan(0);
  expect((await agent.run("second")).outcome).toBe("done");
  await dispose();
  expect(notices).toHaveLength(1);
  expect(notices[0]).toMatch(/database .* What is written waits in .*spool/s);
  expect(linesWaiting(place)).toBeGreaterThan(5);
}, 30_000);
