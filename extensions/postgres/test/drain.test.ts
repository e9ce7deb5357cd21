import { appendFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Entry } from "@pi-agent/kernel";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { Database } from "../src/database.ts";
import { Drainer, type DrainScope } from "../src/drain.ts";
import { openEmbedded } from "../src/embedded.ts";
import { migrate } from "../src/migrations.ts";
import { ownProcessName } from "../src/process-name.ts";
import { openServer } from "../src/server.ts";
import { Spool } from "../src/spool.ts";
import { listFiles, listFolders, NOBODY } from "../src/spool-folder.ts";
import { embeddedAgentDir } from "./embedded.ts";
import { tempFolder } from "./hubs.ts";
import { NO_SERVER, sharedServer } from "./server.ts";

const RUN = "01a22f92-3408-7f67-9594-19608cd60caa";
const ALL: DrainScope = { includesOthers: true, isStopped: () => false };
const OWN: DrainScope = { includesOthers: false, isStopped: () => false };

interface Opened {
  db: Database;
  close: () => Promise<void>;
}

const PLACES: [string, boolean, () => Promise<Opened>][] = [
  [
    "the embedded database",
    false,
    async () => {
      const { agentDir, remove } = await embeddedAgentDir();
      const db = await openEmbedded(join(agentDir, "postgres"));
      return { db, close: () => db.close().then(remove) };
    },
  ],
  [
    "a server",
    NO_SERVER !== undefined,
    async () => {
      const db = await openServer(await (await sharedServer()).freshDatabase());
      return { db, close: () => db.close() };
    },
  ],
];

for (const [name, isSkipped, open] of PLACES) {
  describe.skipIf(isSkipped)(`the spool goes into ${name}`, () => {
    let db: Database;
    let close = async () => {};
    let folder = "";
    let remove = async () => {};
    let refused: string[] = [];

    beforeAll(async () => {
      ({ db, close } = await open());
      await migrate(db, "pi_agent");
    }, 60_000);
    afterAll(() => close());
    beforeEach(async () => {
      const temp = await tempFolder();
      folder = join(temp.path, "spool");
      remove = temp.remove;
      refused = [];
      await db.query(
        "truncate pi_agent.runs, pi_agent.steps, pi_agent.sessions, pi_agent.entries, pi_agent.removed_sessions",
      );
    });
    afterEach(() => remove());

    const drainer = () =>
      new Drainer({ spool: folder, target: "here", schema: "pi_agent", onRefused: (file) => void refused.push(file) });
    const spool = () => new Spool({ spool: folder, target: "here" });
    const ids = async () =>
      (await db.query<{ id: string }>("select id from pi_agent.entries order by session_id, seq")).map(({ id }) => id);

    function fill(names: readonly string[], session = "s"): Spool {
      const filled = spool();
      filled.line(
        { t: "header", at: Date.now(), session },
        JSON.stringify({ type: "session", version: 3, id: session, timestamp: "2026-01-02T03:04:05.678Z", cwd: "/p" }),
      );
      for (const id of names) filled.entry(entry(id), { session });
      filled.flush();
      return filled;
    }

    test("D2 what a closed spool holds goes in, in order and once, and no file stays", async () => {
      fill(["a", "b", "c"]).close();
      expect(await drainer().drain(db, OWN)).toBe(4);
      expect(await ids()).toEqual(["a", "b", "c"]);
      expect(readdirSync(folder)).toEqual([]);
    });

    test("D2 killed between the commit and the mark, it goes in once all the same", async () => {
      fill(["a", "b"]).close();
      cpSync(folder, `${folder}-copy`, { recursive: true });
      await drainer().drain(db, OWN);
      renameSync(folder, `${folder}-gone`);
      renameSync(`${folder}-copy`, folder);
      await drainer().drain(db, OWN);
      expect(await ids()).toEqual(["a", "b"]);
    });

    test("D2 what a dead process left is taken over, one of a living one is only read", async () => {
      const living = fill(["a"]);
      expect(await drainer().drain(db, OWN)).toBe(0);
      await drainer().drain(db, ALL);
      expect(await ids()).toEqual(["a"]);
      expect(listFiles(listFolders(folder)[0]!.path)).toHaveLength(1);
      living.entry(entry("b"), { session: "s" });
      living.flush();
      const [{ path, random } = { path: "", random: "" }] = listFolders(folder);
      const [, start, host] = ownProcessName().split("-");
      renameSync(path, join(folder, `999999-${start}-${host}.${random}.here`));
      await drainer().drain(db, OWN);
      expect(await ids()).toEqual(["a", "b"]);
      expect(readdirSync(folder)).toEqual([]);
    });

    test("two that drain side by side do not fight, and each line is there once", async () => {
      for (const session of ["s", "t", "u", "v"])
        fill(
          Array.from({ length: 50 }, (_, at) => `${session}${at}`),
          session,
        ).close();
      await Promise.all([drainer().drain(db, ALL), drainer().drain(db, ALL)]);
      const all = await ids();
      expect(all).toHaveLength(200);
      expect(all.slice(0, 50)).toEqual(Array.from({ length: 50 }, (_, at) => `s${at}`));
    });

    test("what is meant for another database stays", async () => {
      fill(["a"]).close();
      const other = new Drainer({ spool: folder, target: "elsewhere", schema: "pi_agent" });
      expect(await other.drain(db, ALL)).toBe(0);
      expect(listFolders(folder)).toHaveLength(1);
    });

    test("S2 torn and NUL-filled tails, and garbage between lines, take nothing along", async () => {
      fill(["a", "b"]).close();
      const [{ path } = { path: "" }] = listFolders(folder);
      const file = listFiles(path)[0]!.path;
      appendFileSync(file, "garbage\n\0\0\0\0\n");
      const more = spool();
      more.entry(entry("c"), { session: "s" });
      more.close();
      const late = listFolders(folder).find((each) => each.path !== path)!;
      appendFileSync(file, readFileSync(listFiles(late.path)[0]!.path));
      rmSync(late.path, { recursive: true });
      appendFileSync(file, '{"t":"entry","at":1,"session":"s"}\t{"type":"cus');
      await drainer().drain(db, OWN);
      expect(await ids()).toEqual(["a", "b", "c"]);
      expect(readdirSync(folder)).toEqual(["refused.here.jsonl"]);
    });

    test("S2 lines that cannot be read are set aside and told of once; a torn end is not", async () => {
      fill(["a", "b"]).close();
      const file = listFiles(listFolders(folder)[0]!.path)[0]!.path;
      appendFileSync(file, 'garbage\n\0\0\0\0\n{"t":"entry","at":1,"session":"s"}\t{"type":"cus');
      const one = drainer();
      await expect(one.drain({ query: lost, transaction: lost, close: lost }, OWN)).rejects.toThrow("lost");
      await one.drain(db, OWN);
      expect(await ids()).toEqual(["a", "b"]);
      expect(refused).toEqual([join(folder, "refused.here.jsonl")]);
      expect(readFileSync(refused[0]!, "utf8")).toBe("garbage\n\0\0\0\0\n");
      expect(readdirSync(folder)).toEqual(["refused.here.jsonl"]);
    });

    test("a line that the database refuses is set aside, and the ones behind it go on", async () => {
      const filled = fill(["a"]);
      // No index takes an id of this length.
      filled.entry(entry(randomText(20_000)), { session: "s" });
      filled.entry(entry("b"), { session: "s" });
      filled.close();
      await drainer().drain(db, OWN);
      expect(await ids()).toEqual(["a", "b"]);
      expect(refused).toHaveLength(1);
      expect(readFileSync(refused[0]!, "utf8").split("\n")).toHaveLength(2);
    });

    test("F158 numbers of a session follow the order of the commits, and none comes late", async () => {
      const first = fill(["a", "b"]);
      await drainer().drain(db, ALL);
      const second = fill(["c"]);
      await drainer().drain(db, ALL);
      first.entry(entry("d"), { session: "s" });
      first.flush();
      await drainer().drain(db, ALL);
      const rows = await db.query<{ id: string; seq: number }>("select id, seq from pi_agent.entries order by seq");
      expect(rows).toEqual([
        { id: "a", seq: 1 },
        { id: "b", seq: 2 },
        { id: "c", seq: 3 },
        { id: "d", seq: 4 },
      ]);
      first.close();
      second.close();
    });

    test("F160 a session that was removed does not come back with what a killed process sends again", async () => {
      asIfAt(Date.now() - 60_000, () => fill(["a"]).close());
      cpSync(folder, `${folder}-copy`, { recursive: true });
      await drainer().drain(db, OWN);
      await db.query("delete from pi_agent.sessions");
      await db.query(
        "insert into pi_agent.removed_sessions (session_id, removed_at) values ('s', clock_timestamp() - interval '30 seconds')",
      );
      renameSync(folder, `${folder}-gone`);
      renameSync(`${folder}-copy`, folder);
      await drainer().drain(db, OWN);
      expect(await db.query("select id from pi_agent.sessions")).toEqual([]);
      fill(["z"]).close();
      await drainer().drain(db, OWN);
      expect(await ids()).toEqual(["z"]);
    });

    test("D4 F149 steps keep the exact text, and have a clean copy for queries", async () => {
      const content = [{ type: "text", text: "nul \0 half \uD800 literal \\u0000" }];
      const message = {
        role: "toolResult",
        toolCallId: "c\0",
        toolName: "re\0ad",
        content,
        isError: false,
        timestamp: 1,
        "k\0": 1,
      };
      const odd = { type: "message", id: "a", parentId: null, timestamp: "not a time", message } as unknown as Entry;
      const filled = spool();
      filled.line({
        t: "run",
        at: Date.now(),
        id: RUN,
        session: "s\0",
        cwd: "/p\0",
        host: "h",
        config: { "k\0": "\uD800" },
      });
      filled.entry(odd, { step: { run: RUN, seq: 0, iteration: 3 } });
      filled.close();
      await drainer().drain(db, OWN);
      const [step] = await db.query("select payload, tool_names, iteration, role from pi_agent.steps");
      expect(step).toEqual({
        payload: JSON.stringify(odd),
        tool_names: ["re\uFFFDad"],
        iteration: 3,
        role: "toolResult",
      });
      const [details] = await db.query("select content, tool_calls, tool_results from pi_agent.step_details");
      expect(details).toMatchObject({
        content: "nul \uFFFD half \uFFFD literal \\u0000",
        tool_calls: null,
        tool_results: { toolName: "re\uFFFDad", isError: false },
      });
    });

    test("D4 fifty megabytes come back equal", async () => {
      const big = entry("a", "é😀x".repeat(7_500_000));
      const filled = spool();
      filled.entry(big, { session: "s", step: { run: RUN, seq: 0, iteration: 0 } });
      filled.close();
      await drainer().drain(db, OWN);
      const [row] = await db.query<{ payload: string }>("select payload from pi_agent.entries");
      expect(row!.payload === JSON.stringify(big)).toBe(true);
    }, 120_000);

    test("D4 the clock of a run is the database's, whatever this machine's says", async () => {
      const wrong = Date.now() - 5 * 3_600_000;
      const filled = spool();
      filled.line({ t: "run", at: wrong, id: RUN, session: "s", cwd: "/p", host: "h", config: {} });
      filled.close();
      await drainer().drain(db, OWN);
      const [row] = await db.query<{ age: number }>(
        "select extract(epoch from now() - created_at)::float8 as age from pi_agent.runs",
      );
      expect(row!.age).toBeGreaterThan(5 * 3_600 - 10);
      expect(row!.age).toBeLessThan(5 * 3_600 + 60);
    });

    test("a run that has ended stays so, whatever comes late or again", async () => {
      const filled = spool();
      const usage = { input: 5 };
      filled.line({ t: "run", at: Date.now(), id: RUN, session: "s", cwd: "/p", host: "h", config: {} });
      filled.line({ t: "beat", at: Date.now(), id: RUN, usage: { input: 1 }, cost: 0.1 });
      filled.line({ t: "end", at: Date.now(), id: RUN, status: "done", usage, cost: 0.5 });
      filled.line({ t: "beat", at: Date.now(), id: RUN, usage: { input: 9 }, cost: 9 });
      filled.close();
      await drainer().drain(db, OWN);
      const [row] = await db.query("select status, usage, cost, ended_at is not null as ended from pi_agent.runs");
      expect(row).toEqual({ status: "done", usage, cost: 0.5, ended: true });
    });

    test("a thousand lines and their files go in while nothing is left behind", async () => {
      const filled = fill(Array.from({ length: 1_000 }, (_, at) => `e${at}`));
      expect(existsSync(folder)).toBe(true);
      filled.close();
      await drainer().drain(db, OWN);
      expect(await ids()).toHaveLength(1_000);
      expect(listFolders(folder)).toEqual([]);
    });

    test("D2 what several short runs have left goes in in the order in which they ran", async () => {
      const now = Date.now();
      for (const [ms, id] of ["a", "b", "c", "d"].entries()) asIfAt(now - 10 + ms, () => fill([id]).close());
      await drainer().drain(db, OWN);
      expect(await ids()).toEqual(["a", "b", "c", "d"]);
    });

    test("a folder of nobody with nothing in it goes away", async () => {
      mkdirSync(join(folder, `${NOBODY}.abc.here`), { recursive: true });
      await drainer().drain(db, OWN);
      expect(readdirSync(folder)).toEqual([]);
    });
  });
}

function entry(id: string, data = "x"): Entry {
  return { type: "custom", id, parentId: null, timestamp: "2026-01-02T03:04:05.678Z", customType: "t", data };
}

/** Does something as if it were another time. */
function asIfAt(ms: number, fn: () => void): void {
  vi.useFakeTimers({ toFake: ["Date"], now: ms });
  try {
    fn();
  } finally {
    vi.useRealTimers();
  }
}

function lost(): Promise<never> {
  return Promise.reject(new Error("lost"));
}

function randomText(length: number): string {
  return Array.from({ length }, () => Math.random().toString(36)[2] ?? "0").join("");
}
