import { type Database, DatabaseError, quoteName } from "./database.ts";
import { MIGRATIONS, SCHEMA_VERSION } from "./schema.ts";

/**
 * Brings our schema to the version of this program. Any number of processes may do so at once: one transaction, in
 * line behind a lock that ends with it, so that a killed process leaves nothing half done.
 * Fails with `database_newer`, `database_refused`.
 */
export async function migrate(db: Database, schema: string): Promise<void> {
  try {
    if ((await findVersion(db, schema)) === SCHEMA_VERSION) return;
    await db.transaction(async (tx) => {
      await tx.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [`pi-agent ${schema}`]);
      const version = await findVersion(tx, schema);
      if (version < SCHEMA_VERSION) await apply(tx, schema, version);
    });
  } catch (error) {
    throw (error as DatabaseError).sqlState === "42501" ? await missingRight(db, schema) : error;
  }
}

/** 0: nothing of ours is there yet. */
async function findVersion(tx: Pick<Database, "query">, schema: string): Promise<number> {
  // Looked up in the tables themselves: what the server remembers of a name may be older than the lock.
  const [found] = await tx.query(
    `select from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where n.nspname = $1 and c.relname = 'schema_version'`,
    [schema],
  );
  if (!found) return 0;
  const [row] = await tx.query<{ version: number }>(`select version from ${quoteName(schema)}.schema_version`);
  const version = row?.version ?? 0;
  if (version <= SCHEMA_VERSION) return version;
  throw new DatabaseError(
    "database_newer",
    `The schema ${schema} has version ${version}, and this program knows ${SCHEMA_VERSION} at most.`,
    { hint: "Update @pi-agent/postgres, or name another schema with the setting postgres.schema." },
  );
}

async function apply(tx: Pick<Database, "query">, schema: string, from: number): Promise<void> {
  const s = quoteName(schema);
  // "if not exists" asks for the right to create one even where it is there.
  const [there] = await tx.query("select from pg_catalog.pg_namespace where nspname = $1", [schema]);
  if (!there) await tx.query(`create schema ${s}`);
  if (from === 0) await tx.query(`create table ${s}.schema_version (version int not null)`);
  for (const statements of MIGRATIONS.slice(from)) {
    for (const statement of statements(s)) await tx.query(statement);
  }
  await tx.query(`delete from ${s}.schema_version`);
  await tx.query(`insert into ${s}.schema_version (version) values ($1)`, [SCHEMA_VERSION]);
}

async function missingRight(db: Database, schema: string): Promise<DatabaseError> {
  const [who] = await db.query<{ role: string; database: string; there: boolean; made: boolean }>(
    `select current_user::text as role, current_database()::text as database,
      exists (select from pg_catalog.pg_namespace where nspname = $1) as there,
      exists (select from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
        where n.nspname = $1 and c.relname = 'schema_version') as made`,
    [schema],
  );
  const { role = "", database = "", there = false, made = false } = who ?? {};
  const [s, r] = [quoteName(schema), quoteName(role)];
  const where = there ? `in the schema ${schema}` : `in the database ${database}`;
  const message = made
    ? `The role ${role} may not use the tables of pi-agent ${where}.`
    : `The role ${role} lacks the right CREATE ${where}, so the tables of pi-agent cannot be made.`;
  const todo = made
    ? `grant usage, create on schema ${s} to ${r}; grant select, insert, update, delete on all tables in schema ${s} to ${r};`
    : there
      ? `grant usage, create on schema ${s} to ${r};`
      : `create schema ${s} authorization ${r};`;
  return new DatabaseError("database_refused", message, { hint: `Let its owner run: ${todo}`, sqlState: "42501" });
}
