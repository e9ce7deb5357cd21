/** F158: what is numbered first is seen first. */
import type { Entry } from "@pi-agent/kernel";
import { describe, expect, test } from "vitest";
import { applyBatch, prepare } from "../../src/apply.ts";
import type { Database } from "../../src/database.ts";
import type { Line } from "../../src/lines.ts";
import { migrate } from "../../src/migrations.ts";
import { toBatch } from "../../src/rows.ts";
import { openServer } from "../../src/server.ts";
import { NO_SERVER, sharedServer } from "../server.ts";

const SCHEMA = "pi_agent";
const entry = (id: string): Entry => ({
  type: "message",
  id,
  parentId: null,
  timestamp: "2026-01-01T00:00:00.000Z",
  message: { role: "user", content: id, timestamp: 0 },
});
const batchOf = (session: string, ...ids: string[]) =>
  prepare(
    toBatch(
      ids.map((id): Line => ({ head: { t: "entry", at: Date.now(), session }, payload: JSON.stringify(entry(id)) })),
    ),
  );

/** A database whose transactions stay open until they are let go. */
function held(db: Database): { db: Database; written: Promise<void>; letGo(): void } {
  const { promise: written, resolve: tell } = Promise.withResolvers<void>();
  const { promise: over, resolve: letGo } = Promise.withResolvers<void>();
  const transaction: Database["transaction"] = (fn) =>
    db.transaction(async (tx) => {
      const result = await fn(tx);
      tell();
      await over;
      return result;
    });
  return { db: { ...db, query: db.query.bind(db), close: async () => undefined, transaction }, written, letGo };
}

describe.skipIf(NO_SERVER)(`two writers of one session${NO_SERVER ? ` (${NO_SERVER})` : ""}`, () => {
  test("F158 a reader that follows by sequence misses no entry that was numbered before and committed late", async () => {
    const url = await (await sharedServer()).freshDatabase();
    const [one, two, reader] = await Promise.all([openServer(url), openServer(url), openServer(url)]);
    await migrate(reader, SCHEMA);
    let last = 0;
    const seen: string[] = [];
    const poll = async () => {
      const rows = await reader.query<{ id: string; seq: number }>(
        "select id, seq from pi_agent.entries where session_id = 's' and seq > $1 order by seq",
        [last],
      );
      for (const { id, seq } of rows) {
        seen.push(id);
        last = seq;
      }
    };
    const late = held(one);
    const first = applyBatch(late.db, SCHEMA, batchOf("s", "a", "b"));
    await late.written;
    const second = applyBatch(two, SCHEMA, batchOf("s", "c"));
    const waits = () =>
      reader.query("select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'");
    await expect.poll(async () => (await waits()).length, { timeout: 10_000 }).toBe(1);
    // Another session has nothing to wait for.
    await applyBatch(reader, SCHEMA, batchOf("other", "x"));
    await poll();
    late.letGo();
    await Promise.all([first, second]);
    await poll();
    expect(seen).toEqual(["a", "b", "c"]);
    await Promise.all([one, two, reader].map((db) => db.close()));
  }, 30_000);
});
