import { Writable } from "node:stream";
import type { Agent, AgentEvent, CliIo, Host, Mode } from "@pi-agent/kernel";
import { assertEventOrder } from "@pi-agent/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Database } from "../../src/database.ts";
import { createRunsCommand } from "../../src/runs/command.ts";
import { columnsOf } from "../../src/runs/words.ts";
import type { SpoolStatus } from "../../src/spool-folder.ts";
import { DATABASES, type TestDatabase } from "../databases.ts";
import { entriesOf, type SampleRun, SCHEMA, writeRuns } from "./sample-run.ts";

const MINUTE_MS = 60_000;
const idOf = (number: number) => `0192f0c1-7a2${number}-7000-8000-00000000000${number}`;

const RUNS: readonly SampleRun[] = [
  { id: idOf(1), session: "one", status: "done", agoMs: 30 * MINUTE_MS, task: "First of all, look around" },
  { id: idOf(2), session: "one", status: "error", agoMs: 20 * MINUTE_MS, parentId: "lost", model: "claude" },
  {
    id: idOf(3),
    agoMs: 2 * MINUTE_MS,
    task: "接下来请看一看这里有什么\u001b[31m\u202e and a text that is much too long for a column of a table",
  },
  { id: idOf(4), session: "live", task: "Still at it" },
];

describe.each(DATABASES)("pi runs on $name", ({ create, isMissing }) => {
  if (isMissing) return test.skip("needs PostgreSQL", () => undefined);

  let place: TestDatabase;
  let db: Database;
  beforeAll(async () => {
    place = await create();
    db = await place.open();
    await writeRuns(db, RUNS);
  }, 60_000);
  afterAll(async () => {
    await db?.close();
    await place?.dispose();
  });

  const nothing: SpoolStatus = { files: 0, lines: 0, bytes: 0 };
  const run = async (
    args: string[],
    more: { columns?: number; modes?: [string, Mode][]; mode?: string; waiting?: SpoolStatus } = {},
  ) => {
    const written = { stdout: "", stderr: "" };
    const collect = (name: keyof typeof written) =>
      new Writable({
        write(chunk, _encoding, done) {
          written[name] += String(chunk);
          done();
        },
      });
    const stdout = Object.assign(collect("stdout"), more.columns !== undefined && { columns: more.columns });
    const modes = new Map(
      (more.modes ?? []).map(([name, value]) => [name, { name, value, owner: { name: "test", scope: "host" } }]),
    );
    const io = {
      cwd: "/tmp",
      stdout,
      stderr: collect("stderr"),
      signal: new AbortController().signal,
      agent: { registry: () => modes } as unknown as Agent,
      host: { mode: more.mode ?? "print" } as Host,
    } as unknown as CliIo;
    const source = {
      query: db.query.bind(db),
      close: async () => undefined,
      schema: SCHEMA,
      spoolStatus: () => more.waiting ?? nothing,
    };
    const result = await createRunsCommand(async () => source as never).run(args, io);
    return { result, ...written };
  };

  test("the list shows the newest first, their status, cost and task, and tells who was not heard of for a minute", async () => {
    const { stdout, result } = await run(["list"]);
    expect(result).toBe(0);
    const [head, ...rows] = stdout.trimEnd().split("\n");
    expect(head).toMatch(/^run +status +begun +took +tokens +cost +task$/);
    expect(rows.map((row) => row.split(/\s+/)[1])).toEqual(["running", "interrupted", "error", "done"]);
    expect(rows.at(-1)).toMatch(/4 s +250 +\$0\.0123 +First of all/);
  });

  test("every line of a table fits, and nothing in a task moves or turns text", async () => {
    for (const columns of [60, 80, 133]) {
      const shown = [
        await run(["list"], { columns }),
        await run(["show", idOf(3)], { columns }),
        await run(["stats"], { columns }),
      ];
      for (const line of shown.flatMap(({ stdout }) => stdout.split("\n"))) {
        expect(columnsOf(line), line).toBeLessThanOrEqual(columns);
        expect(line).not.toMatch(/[\p{Cc}\u202e]/u);
      }
    }
    expect((await run(["list"])).stdout.split("\n").every((line) => columnsOf(line) <= 80)).toBe(true);
  });

  test("limit and status choose, and JSON has everything", async () => {
    const { stdout } = await run(["list", "--limit", "1", "--status=done", "--json"]);
    const { runs } = JSON.parse(stdout) as { runs: Record<string, unknown>[] };
    expect(runs).toHaveLength(1);
    expect(runs[0]).toMatchObject({
      id: idOf(1),
      status: "done",
      session_id: "one",
      steps: 4,
      cost: 0.0123,
      host: "box",
    });
    expect((await run(["list", "--status", "max_turns"])).stdout).toBe("There are no such runs.\n");
  });

  test("what waits in the spool is told", async () => {
    const waiting = { files: 1, lines: 12, bytes: 3_400 };
    expect((await run(["list"], { waiting })).stdout).toMatch(
      /12 lines \(3\.4kB\) of what was done here are not in the database yet/,
    );
    expect(JSON.parse((await run(["list", "--json"], { waiting })).stdout)).toMatchObject({ waiting });
  });

  test("show tells of one run and each of its steps, by the beginning of its id", async () => {
    const { stdout } = await run(["show", idOf(1)]);
    expect(stdout).toMatch(/^status +done$/m);
    expect(stdout).toMatch(/^tokens +200 in, 40 out, 10 from cache$/m);
    expect(stdout).toMatch(/1 +0 +6\d\d ms +assistant +→ look \{"at":"here"\}/);
    expect(stdout).toMatch(/toolResult +look: a lamp/);
    const { steps } = JSON.parse(
      (await run(["show", idOf(1).slice(0, 13).replaceAll("-", "").toUpperCase(), "--json"])).stdout,
    );
    expect(steps.map(({ role }: { role: string }) => role)).toEqual(["user", "assistant", "toolResult", "assistant"]);
    expect(steps[3].entry).toEqual(expect.objectContaining({ type: "message", parentId: "0001-2" }));
  });

  test("stats sum up by day, model and tool", async () => {
    expect((await run(["stats"])).stdout).toMatch(/\d{4}-\d\d-\d\d +4 +2 /);
    const { rows } = JSON.parse((await run(["stats", "--by", "model", "--json"])).stdout);
    expect(rows).toEqual([
      expect.objectContaining({ key: "open/gpt", count: 6, input: 600, output: 120, cached: 60 }),
      expect.objectContaining({ key: "open/claude", count: 2, failed: 0 }),
    ]);
    expect((await run(["stats", "--by", "tool"])).stdout).toMatch(/^look +4 +0 .* 4 s$/m);
  });

  test.each([
    [["what"], /cannot "what"/],
    [["constructor"], /cannot "constructor"/],
    [["show"], /needs the id/],
    [["show", "%'; drop table"], /not the beginning of a run's id/],
    [["show", idOf(1), "more"], /no more words/],
    [["list", "--limit", "0"], /--limit cannot be "0": it takes a whole number/],
    [["list", "--status", "odd"], /one of running, interrupted/],
    [["list", "--odd"], /no flag --odd/],
    [["show", "ffff"], /No run has an id/],
    [["show", "0192f0c1"], /More than one run begins with 0192f0c1/],
    [["resume", idOf(4), "go on"], /still going on on box/],
    [["replay", idOf(1), "--mode", "json"], /mode json cannot replay/],
  ] as const)("%j fails in words that say what to do", async (args, message) => {
    const error = await run([...args]).then(
      () => undefined,
      (thrown: unknown) => thrown as Error & { code?: string; hint?: string },
    );
    expect(error?.message).toMatch(message);
    expect(error?.code).toBeTruthy();
    expect(error?.hint).toBeTruthy();
  });

  test("resume goes on at the last step of a run, with what was before it in its session", async () => {
    const { result } = await run(["resume", idOf(2), "and", "now?"]);
    const start = (result as { start: { entries: { id: string; parentId: string | null }[]; sessionId: string } })
      .start;
    expect(start).toMatchObject({ cwd: "/tmp", prompt: "and now?", sessionId: "one" });
    const ids = [...entriesOf(RUNS[0]!), ...entriesOf(RUNS[1]!)].map(({ id }) => id);
    expect(start.entries.map(({ id }) => id)).toEqual(ids);
    expect(start.entries.map(({ parentId }) => parentId)).toEqual([null, ...ids.slice(0, -1)]);
  });

  test("a replay tells the events in the order of the loop, at once or in their own time", async () => {
    const events: AgentEvent[] = [];
    const mode: Mode = {
      name: "text",
      hasUI: false,
      ui: () => undefined as never,
      run: async () => 0,
      async replay(given) {
        for await (const event of given) events.push(structuredClone(event));
      },
    };
    await run(["replay", idOf(1), "--speed", "0"], { modes: [["text", mode]], mode: "conversation" });
    expect(() => assertEventOrder(events as never)).not.toThrow();
    expect(events.map(({ type }) => type).filter((type) => type !== "message_update")).toEqual([
      "agent_start",
      "turn_start",
      "message_start",
      "message_end",
      "message_start",
      "message_end",
      "tool_execution_start",
      "tool_execution_end",
      "message_start",
      "message_end",
      "turn_end",
      "turn_start",
      "message_start",
      "message_end",
      "turn_end",
      "agent_end",
      "agent_settled",
    ]);
    const updates = events.flatMap((event) => (event.type === "message_update" ? [event] : []));
    expect(updates.at(-1)?.message.content).toEqual(
      (entriesOf(RUNS[0]!)[3] as { message: { content: unknown } }).message.content,
    );
  });
});
