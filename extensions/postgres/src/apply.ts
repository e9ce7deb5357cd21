/** Writes a batch in one transaction. What is there already stays as it is, so that a batch can be sent again. */
import { type Database, quoteName } from "./database.ts";
import type { Batch, EntryRow, HeaderRow, RunChange } from "./rows.ts";

type Tx = Pick<Database, "query">;

type Aged = Pick<EntryRow, "session_id" | "age">;
type Sum = Aged & Pick<EntryRow, "name" | "first"> & { messages: number };

/** When a row was written, in the database's own time: `$2` is how long ago the ages were taken. */
const AT = (row: string) => `now() - (${row}.age + $2::float8) * interval '1 millisecond'`;

const DOUBT_MS = 2;

interface Sending {
  tx: Tx;
  /** The quoted name of the schema. */
  s: string;
  /** Milliseconds since the ages were taken. */
  late: number;
}

/** A batch whose bulk is text already: nobody waits for that inside of a transaction. */
export type Prepared = Batch & { json: { steps: string; entries: string } };

export function prepare(batch: Batch): Prepared {
  return { ...batch, json: { steps: JSON.stringify(batch.steps), entries: toColumns(batch.entries) } };
}

export function applyBatch(db: Database, schema: string, batch: Prepared): Promise<void> {
  const s = quoteName(schema);
  return db.transaction(async (tx) => {
    const sending = { tx, s, late: Math.max(0, Date.now() - batch.takenMs) };
    if (batch.runs.length > 0) await addRuns(sending, batch);
    if (batch.steps.length > 0) await addSteps(sending, batch);
    if (batch.changes.length > 0) await changeRuns(sending, batch);
    if (batch.headers.length + batch.entries.length > 0) await addToSessions(sending, batch);
    for (const { session_id, token } of batch.releases) await freeSession(tx, s, { key: session_id, token });
  });
}

async function addToSessions(sending: Sending, batch: Prepared): Promise<void> {
  const ids = [...new Set([...batch.headers, ...batch.entries].map(({ session_id }) => session_id))].sort();
  await lockSessions(sending, ids);
  const isKept = await findRemoved(sending, ids);
  const [headers, entries] = [batch.headers.filter(isKept), batch.entries.filter(isKept)];
  if (headers.length > 0) await addHeaders(sending, headers);
  const json = entries.length === batch.entries.length ? batch.json.entries : toColumns(entries);
  if (entries.length > 0) await addEntries(sending, entries, json);
  if (headers.length + entries.length < batch.headers.length + batch.entries.length) await dropEmpty(sending, ids);
}

function toColumns(entries: readonly EntryRow[]): string {
  return JSON.stringify(entries.map(({ name: _name, first: _first, is_message: _is, age: _age, ...row }) => row));
}

async function addRuns({ tx, s, late }: Sending, { runs }: Batch): Promise<void> {
  await tx.query(
    `insert into ${s}.runs (id, session_id, cwd, host, status, config, created_at, heartbeat_at)
    select r.id, r.session_id, r.cwd, r.host, 'running', r.config, ${AT("r")}, ${AT("r")}
    from json_to_recordset($1::json) as r(id uuid, session_id text, cwd text, host text, config json, age float8)
    on conflict (id) do nothing`,
    [runs, late],
  );
}

async function addSteps({ tx, s }: Sending, { steps, json }: Prepared): Promise<void> {
  // A run whose first line was lost has its steps all the same.
  await tx.query(
    `insert into ${s}.runs (id, session_id, status)
    select distinct r.run_id, '', 'running' from json_to_recordset($1::json) as r(run_id uuid)
    on conflict (id) do nothing`,
    [steps.map(({ run_id }) => ({ run_id }))],
  );
  await tx.query(
    `insert into ${s}.steps (run_id, seq, iteration, role, payload, search, tool_names, "timestamp")
    select r.run_id, r.seq, r.iteration, r.role, r.payload, r.search,
      array(select json_array_elements_text(r.tool_names)), r."timestamp"
    from json_to_recordset($1::json) as r(run_id uuid, seq int, iteration int, role text, payload text, search jsonb,
      tool_names json, "timestamp" timestamptz)
    on conflict (run_id, seq) do nothing`,
    [json.steps],
  );
}

/** A run that has ended stays ended, whatever comes late or again. */
async function changeRuns({ tx, s, late }: Sending, { changes }: Batch): Promise<void> {
  await tx.query(
    `update ${s}.runs set
      heartbeat_at = greatest(heartbeat_at, ${AT("r")}),
      usage = coalesce(r.usage, runs.usage), cost = coalesce(r.cost, runs.cost), status = coalesce(r.status, runs.status),
      error = r.error, ended_at = case when r.status is null then null else ${AT("r")} end
    from json_to_recordset($1::json) as r(id uuid, age float8, status text, usage json, cost float8, error json)
    where runs.id = r.id and runs.ended_at is null`,
    [lastOfEach(changes), late],
  );
}

/** Beats of one batch come to the last of them. */
function lastOfEach(changes: readonly RunChange[]): RunChange[] {
  const last = new Map<string, RunChange>();
  for (const change of changes) {
    if (last.get(change.id)?.status == null) last.set(change.id, change);
  }
  return [...last.values()];
}

/**
 * Locks the rows of a batch's sessions, in one order for everybody, until the transaction ends: numbers are given under
 * this lock.
 */
async function lockSessions({ tx, s }: Sending, ids: readonly string[]): Promise<void> {
  await tx.query(
    `insert into ${s}.sessions (id) select json_array_elements_text($1::json) on conflict (id) do nothing`,
    [ids],
  );
  await tx.query(
    `select from ${s}.sessions where id in (select json_array_elements_text($1::json)) order by id for update`,
    [ids],
  );
}

/** Answers what tells the rows that were written after their session was removed, if it was. */
async function findRemoved({ tx, s, late }: Sending, ids: readonly string[]): Promise<(row: Aged) => boolean> {
  const removed = await tx.query<Aged>(
    `select session_id, extract(epoch from clock_timestamp() - removed_at)::float8 * 1000 as age from ${s}.removed_sessions
    where session_id in (select json_array_elements_text($1::json))`,
    [ids],
  );
  const ages = new Map(removed.map(({ session_id, age }) => [session_id, age]));
  // Both sides count whole milliseconds, and what is in doubt is kept.
  return ({ session_id, age }) => age + late <= (ages.get(session_id) ?? Number.POSITIVE_INFINITY) + DOUBT_MS;
}

async function dropEmpty({ tx, s }: Sending, ids: readonly string[]): Promise<void> {
  await tx.query(
    `delete from ${s}.sessions where id in (select json_array_elements_text($1::json)) and header is null
      and holder is null and not exists (select from ${s}.entries where session_id = sessions.id)`,
    [ids],
  );
}

async function addHeaders({ tx, s, late }: Sending, headers: readonly HeaderRow[]): Promise<void> {
  await tx.query(
    `update ${s}.sessions set header = r.header, cwd = r.cwd, created_at = r.created_at,
      modified_at = coalesce(modified_at, ${AT("r")})
    from json_to_recordset($1::json) as r(session_id text, header text, cwd text, created_at timestamptz, age float8)
    where sessions.id = r.session_id and sessions.header is null`,
    [headers, late],
  );
}

async function addEntries(sending: Sending, entries: readonly EntryRow[], json: string): Promise<void> {
  const { tx, s } = sending;
  const added = await tx.query<{ session_id: string; id: string }>(
    `insert into ${s}.entries (session_id, id, seq, parent_id, type, payload, "timestamp")
    select r.session_id, r.id, last.seq + row_number() over (partition by r.session_id order by r.n),
      r.parent_id, r.type, r.payload, r."timestamp"
    from json_to_recordset($1::json) as r(n int, session_id text, id text, parent_id text, type text, payload text,
      "timestamp" timestamptz)
    cross join lateral (select coalesce(max(seq), 0) as seq from ${s}.entries where session_id = r.session_id) as last
    where not exists (select from ${s}.entries where session_id = r.session_id and id = r.id)
    order by r.n
    on conflict (session_id, id) do nothing
    returning session_id, id`,
    [json],
  );
  if (added.length > 0) await sumUp(sending, entries, added);
}

/** Brings what a list shows of the sessions up to what was added. */
async function sumUp(
  { tx, s, late }: Sending,
  entries: readonly EntryRow[],
  added: readonly { session_id: string; id: string }[],
): Promise<void> {
  const isNew = new Set(added.map(({ session_id, id }) => `${session_id}\n${id}`));
  const sums = new Map<string, Sum>();
  for (const { session_id, id, name, first, is_message, age } of entries) {
    if (!isNew.delete(`${session_id}\n${id}`)) continue;
    const sum = sums.get(session_id) ?? { session_id, name: null, first: null, messages: 0, age };
    sums.set(session_id, sum);
    sum.name = name ?? sum.name;
    sum.first ??= first;
    sum.messages += is_message ? 1 : 0;
    sum.age = Math.min(sum.age, age);
  }
  await tx.query(
    `update ${s}.sessions set name = coalesce(r.name, sessions.name), message_count = message_count + r.messages,
      first_message = coalesce(first_message, r.first), modified_at = greatest(modified_at, ${AT("r")})
    from json_to_recordset($1::json) as r(session_id text, name text, first text, messages int, age float8)
    where sessions.id = r.session_id`,
    [[...sums.values()], late],
  );
}

/** Gives a session free that was claimed with this token; what was never written to leaves nothing. */
export async function freeSession(tx: Tx, s: string, { key, token }: { key: string; token: string }): Promise<void> {
  await tx.query(
    `update ${s}.sessions set holder = null, lease_until = null where id = $1 and holder ->> 'token' = $2`,
    [key, token],
  );
  await dropEmpty({ tx, s, late: 0 }, [key]);
}
