import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { PGlite } from "@electric-sql/pglite";
import { type Database, DatabaseError, NUMBER_OIDS, toParameter } from "./database.ts";
import { toDatabaseError } from "./failure.ts";
import { type Lock, takeLock, wantLock } from "./lock.ts";
import { pidOf } from "./process-name.ts";

export interface EmbeddedOptions {
  /** How long to wait for a holder to give way. Default 15,000; 0 does not ask it. */
  waitMs?: number;
}

export interface EmbeddedDatabase extends Database {
  /** Whether another process waits for it. */
  isWanted(): boolean;
}

const WAIT_MS = 15_000;
const LOOK_MS = 50;
const DATA = "data";
// Times, booleans and json are text already.
const TEXT_OIDS = [16, 114, 1082, 1114, 1184, 3802] as const;

/**
 * Opens the database in a folder, in this thread; the first time makes it, which takes seconds. One process has it at a
 * time: a holder that lives is asked to give way. Fails with `database_in_use`, `database_failed`.
 */
export async function openEmbedded(dir: string, { waitMs = WAIT_MS }: EmbeddedOptions = {}): Promise<EmbeddedDatabase> {
  const lock = await waitForLock(dir, waitMs);
  try {
    return wrap(await start(dir), lock, dir);
  } catch (error) {
    lock.release();
    throw toDatabaseError(error, nameOf(dir));
  }
}

async function waitForLock(dir: string, waitMs: number): Promise<Lock> {
  let taken = takeLock(dir);
  if ("release" in taken) return taken;
  const giveUpAt = Date.now() + waitMs;
  const unwant = waitMs > 0 ? wantLock(dir) : undefined;
  try {
    while (Date.now() < giveUpAt) {
      await sleep(LOOK_MS);
      taken = takeLock(dir);
      if ("release" in taken) return taken;
    }
  } finally {
    unwant?.();
  }
  const message = `The database in ${dir} is in use by the process ${pidOf(taken.holder)}, which did not give way within ${waitMs / 1_000} s.`;
  throw new DatabaseError("database_in_use", message, {
    hint: "Try again, or end that process. To share a database between many processes, set DATABASE_URL to a server's.",
  });
}

/** A database that was not made to its end is not there: it is made beside its place. */
async function start(dir: string): Promise<PGlite> {
  const data = join(dir, DATA);
  for (const name of readdirSync(dir)) {
    if (name.startsWith("draft-")) rmSync(join(dir, name), { recursive: true, force: true });
  }
  if (!existsSync(data)) {
    const draft = join(dir, `draft-${randomUUID()}`);
    mkdirSync(draft, { mode: 0o700 });
    await (await open(draft)).close();
    renameSync(draft, data);
  }
  return open(data);
}

async function open(dataDir: string): Promise<PGlite> {
  const { PGlite } = await import("@electric-sql/pglite");
  return PGlite.create({
    dataDir,
    parsers: Object.fromEntries(NUMBER_OIDS.map((oid) => [oid, Number])),
    serializers: Object.fromEntries(TEXT_OIDS.map((oid) => [oid, String])),
  });
}

function wrap(pglite: PGlite, lock: Lock, dir: string): EmbeddedDatabase {
  const name = nameOf(dir);
  const asking =
    (ask: Pick<PGlite, "query">) =>
    async (text: string, values: readonly unknown[] = []) => {
      try {
        return (await ask.query(text, values.map(toParameter))).rows as never[];
      } catch (error) {
        throw toDatabaseError(error, name);
      }
    };
  return {
    query: asking(pglite),
    transaction: (fn) => pglite.transaction((tx) => fn({ query: asking(tx as never) })),
    isWanted: () => lock.isWanted(),
    async close() {
      try {
        if (!pglite.closed) await pglite.close();
      } finally {
        lock.release();
      }
    },
  };
}

function nameOf(dir: string): { name: string; user: string } {
  return { name: dir, user: "postgres" };
}
