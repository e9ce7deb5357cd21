/** F157: many processes meet a database that is empty, foreign, forbidden or of another time. */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Database, DatabaseError } from "../../src/database.ts";
import { migrate } from "../../src/migrations.ts";
import { SCHEMA_VERSION } from "../../src/schema.ts";
import { openServer } from "../../src/server.ts";
import { DATABASES } from "../databases.ts";
import { NO_SERVER, sharedServer, type TestServer } from "../server.ts";
import { type Proxy, startProxy } from "./proxy.ts";

const SCRIPT = fileURLToPath(new URL("migrate-child.ts", import.meta.url));
const PROCESSES = 10;

const start = (url: string, ...more: string[]) =>
  spawn(process.execPath, ["--conditions", "@pi-agent/source", SCRIPT, url, ...more], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
  });
const ending = (child: ChildProcess) =>
  new Promise<{ code: number | null; said: string }>((resolve) => {
    let said = "";
    child.stderr?.on("data", (chunk) => (said += chunk));
    child.once("close", (code) => resolve({ code, said }));
  });

describe.skipIf(NO_SERVER)(`migrations on a server${NO_SERVER ? ` (${NO_SERVER})` : ""}`, () => {
  let server: TestServer;
  let proxy: Proxy;
  let url: string;
  let database: string;
  beforeAll(async () => {
    server = await sharedServer();
    proxy = await startProxy(server);
  });
  afterAll(() => proxy.close());
  beforeEach(async () => {
    url = await server.freshDatabase();
    database = new URL(url).pathname.slice(1);
  });

  const versions = (schema = "pi_agent") =>
    server.query<{ version: number }>(`select version from "${schema}".schema_version`, database);
  const withDatabase = async <T>(address: string, use: (db: Database) => Promise<T>) => {
    const db = await openServer(address);
    try {
      return await use(db);
    } finally {
      await db.close();
    }
  };
  /** An address for another role, which owns nothing. */
  const asGuest = async (name: string) => {
    await server.query(`create role ${name} login; grant connect on database ${database} to ${name}`, database);
    return Object.assign(new URL(url), { username: name }).href;
  };

  test("F157 ten processes that start at once all succeed, and the schema is made once", async () => {
    const all = await Promise.all(Array.from({ length: PROCESSES }, () => ending(start(url))));
    expect(all).toEqual(all.map(() => ({ code: 0, said: "" })));
    expect(await versions()).toEqual([{ version: SCHEMA_VERSION }]);
  }, 60_000);

  test("F157 a process that is killed in the middle of a migration leaves nothing half done", async () => {
    const through = proxy.through(url);
    const cut = proxy.cutInside(/create table "pi_agent"\.steps/);
    const killed = start(through);
    await cut;
    killed.kill("SIGKILL");
    await ending(killed);
    expect(await server.query("select from pg_namespace where nspname = 'pi_agent'", database)).toEqual([]);
    expect((await ending(start(url))).code).toBe(0);
    expect(await versions()).toEqual([{ version: SCHEMA_VERSION }]);
  }, 60_000);

  test("F157 a newer version is refused, and says so", async () => {
    await withDatabase(url, (db) => migrate(db, "pi_agent"));
    await server.query("update pi_agent.schema_version set version = 99", database);
    const failing = withDatabase(url, (db) => migrate(db, "pi_agent"));
    await expect(failing).rejects.toMatchObject({ code: "database_newer", message: expect.stringContaining("99") });
    await expect(failing).rejects.toBeInstanceOf(DatabaseError);
  });

  test("F157 a role that may create nothing is told which right is missing, and who can give it", async () => {
    const guest = await asGuest(`guest_${database}`);
    const failing = withDatabase(guest, (db) => migrate(db, "pi_agent"));
    await expect(failing).rejects.toMatchObject({
      code: "database_refused",
      message: expect.stringMatching(/role guest_\S+ lacks the right CREATE/),
      hint: expect.stringContaining("create schema"),
    });
  });

  test("F157 a role without CREATE works with a schema that somebody else has made", async () => {
    await withDatabase(url, (db) => migrate(db, "pi_agent"));
    const role = `writer_${database}`;
    const guest = await asGuest(role);
    await server.query(
      `grant usage on schema pi_agent to ${role}; grant all on all tables in schema pi_agent to ${role}`,
      database,
    );
    await withDatabase(guest, (db) => migrate(db, "pi_agent"));
  });

  test("F157 another schema, a foreign search_path and tables of the same names elsewhere are no concern of ours", async () => {
    await server.query(
      `create schema app; create table app.runs (x int); create table public.steps (x int); create table public.sessions (x int);
      create view public.entries as select 1 as x; alter database ${database} set search_path = app, public`,
      database,
    );
    const before = await server.query(
      "select * from pg_class where relnamespace in ('app'::regnamespace, 'public'::regnamespace) order by oid",
      database,
    );
    const schema = 'Odd "name" / x';
    await withDatabase(url, (db) => migrate(db, schema));
    const after = await server.query(
      "select * from pg_class where relnamespace in ('app'::regnamespace, 'public'::regnamespace) order by oid",
      database,
    );
    expect(after).toEqual(before);
    expect(await server.query(`select version from "Odd ""name"" / x".schema_version`, database)).toEqual([
      { version: SCHEMA_VERSION },
    ]);
  });
});

test.each(DATABASES.filter(({ isMissing }) => !isMissing))(
  "F157 a second migration of an $kind database changes nothing",
  async ({ create }) => {
    const place = await create();
    const db = await place.open();
    await migrate(db, "pi_agent");
    const shape = () =>
      db.query("select relname, oid::int from pg_class where relnamespace = 'pi_agent'::regnamespace order by oid");
    const before = await shape();
    await migrate(db, "pi_agent");
    expect(await shape()).toEqual(before);
    expect(before.length).toBeGreaterThan(5);
    await db.close();
    await place.dispose();
  },
  60_000,
);
