import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { Database } from "../src/database.ts";
import { openEmbedded } from "../src/embedded.ts";
import { migrate } from "../src/migrations.ts";
import { SCHEMA_VERSION } from "../src/schema.ts";
import { openServer } from "../src/server.ts";
import { embeddedAgentDir } from "./embedded.ts";
import { NO_SERVER, sharedServer } from "./server.ts";

const open: Database[] = [];
afterEach(async () => {
  for (const db of open.splice(0)) await db.close();
});

async function connect(url: string): Promise<Database> {
  const db = await openServer(url);
  open.push(db);
  return db;
}
async function fresh(): Promise<{ db: Database; url: string }> {
  const url = await (await sharedServer()).freshDatabase();
  return { db: await connect(url), url };
}

const TABLES = ["entries", "removed_sessions", "runs", "schema_version", "sessions", "step_details", "steps"];

async function tablesOf(db: Database, schema: string): Promise<string[]> {
  const rows = await db.query<{ name: string }>(
    "select table_name::text as name from information_schema.tables where table_schema = $1 order by 1",
    [schema],
  );
  return rows.map(({ name }) => name);
}

test("F157 the embedded database is brought to this version, once", async () => {
  const { agentDir, remove } = await embeddedAgentDir();
  const db = await openEmbedded(join(agentDir, "postgres"));
  try {
    await migrate(db, "pi_agent");
    await migrate(db, "pi_agent");
    expect(await tablesOf(db, "pi_agent")).toEqual(TABLES);
  } finally {
    await db.close();
    await remove();
  }
}, 60_000);

describe.skipIf(NO_SERVER)("F157 a server's schema", () => {
  test("is made by ten processes at once, one of which is killed, and is there once", async () => {
    const { db, url } = await fresh();
    const children = Array.from({ length: 10 }, () => startMigration(url));
    children[3]!.kill("SIGKILL");
    const codes = await Promise.all(children.map(async (child) => (await once(child, "exit"))[0]));
    expect(codes.filter((code) => code === 0).length).toBeGreaterThanOrEqual(9);
    expect(await tablesOf(db, "pi_agent")).toEqual(TABLES);
    expect(await db.query("select version from pi_agent.schema_version")).toEqual([{ version: SCHEMA_VERSION }]);
  }, 60_000);

  test("is not half there when whoever makes it is cut off in the middle", async () => {
    const { db, url } = await fresh();
    const cut = await connect(url);
    const [own] = await cut.query<{ pid: number }>("select pg_backend_pid() as pid");
    const cutting: Database = {
      ...bind(cut),
      transaction: (fn) =>
        cut.transaction((tx) =>
          fn({
            async query(text, values) {
              if (text.includes("create table") && text.includes(".entries"))
                await db.query(
                  "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and $1::int > 0",
                  [own?.pid],
                );
              return tx.query(text, values);
            },
          }),
        ),
    };
    await expect(migrate(cutting, "pi_agent")).rejects.toMatchObject({ code: "database_unreachable" });
    expect(await tablesOf(db, "pi_agent")).toEqual([]);
    await migrate(db, "pi_agent");
    expect(await tablesOf(db, "pi_agent")).toEqual(TABLES);
  });

  test("of a newer version is refused, with what to do", async () => {
    const { db } = await fresh();
    await migrate(db, "pi_agent");
    await db.query("update pi_agent.schema_version set version = 99");
    await expect(migrate(db, "pi_agent")).rejects.toMatchObject({
      code: "database_newer",
      message: expect.stringContaining("99"),
      hint: expect.stringContaining("Update"),
    });
  });

  test("that a role may not make is refused by the name of the right", async () => {
    const { db, url } = await fresh();
    const role = `reader_${Date.now()}`;
    await db.query(`create role ${role} login`);
    const limited = await connect(url.replace("postgres@", `${role}@`));
    await expect(migrate(limited, "pi_agent")).rejects.toMatchObject({
      code: "database_refused",
      message: expect.stringContaining("right CREATE in the database"),
      hint: expect.stringContaining(`create schema "pi_agent" authorization "${role}"`),
    });
    await db.query("create schema pi_agent");
    await expect(migrate(limited, "pi_agent")).rejects.toMatchObject({
      hint: expect.stringContaining("grant usage, create"),
    });
    await db.query(`grant usage, create on schema pi_agent to ${role}`);
    await migrate(limited, "pi_agent");
    expect(await tablesOf(db, "pi_agent")).toEqual(TABLES);
  });

  test("is our own: another search_path and tables of the same names elsewhere do not matter and stay", async () => {
    const { db } = await fresh();
    await db.query("create schema theirs");
    for (const schema of ["public", "theirs"]) {
      for (const name of ["runs", "steps", "sessions", "entries", "schema_version"]) {
        await db.query(`create table ${schema}.${name} (theirs int)`);
      }
    }
    await db.query(
      "do $$ begin execute format('alter database %I set search_path to theirs', current_database()); end $$",
    );
    const again = await connectAgain(db);
    await migrate(again, `odd "name`);
    expect(await tablesOf(again, `odd "name`)).toEqual(TABLES);
    expect(await tablesOf(again, "theirs")).toEqual(["entries", "runs", "schema_version", "sessions", "steps"]);
    expect(
      await again.query("select count(*) as n from information_schema.columns where column_name = 'theirs'"),
    ).toEqual([{ n: 10 }]);
  });
});

async function connectAgain(db: Database): Promise<Database> {
  const [own] = await db.query<{ name: string }>("select current_database()::text as name");
  return connect((await sharedServer()).url(own?.name));
}

function bind(db: Database): Pick<Database, "query" | "close"> {
  return { query: (text, values) => db.query(text, values), close: () => db.close() };
}

function startMigration(url: string) {
  const source = (name: string) => JSON.stringify(join(import.meta.dirname, "../src", name));
  const code = `import { openServer } from ${source("server.ts")}; import { migrate } from ${source("migrations.ts")};
    const db = await openServer(process.argv[1]); await migrate(db, "pi_agent"); await db.close();`;
  return spawn(process.execPath, ["--input-type=module-typescript", "-e", code, url], {
    stdio: ["ignore", "inherit", "inherit"],
  });
}
