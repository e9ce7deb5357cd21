/**
 * What each version of the schema adds, in order; a version that was given out is never changed. All names are
 * qualified: `s` is the quoted name of our own schema, and nothing outside of it is touched.
 *
 *   runs 1─n steps            what agents did
 *   sessions 1─n entries      conversations to go on with
 *
 * `payload` and `header` are the exact JSON text. `search` is a cleaned copy for queries: jsonb takes no NUL and no half
 * of a surrogate pair, orders keys and rewrites numbers. `entries.seq` counts the entries of a session in the order in
 * which they came, and is given while the session's row is locked, so that a reader who follows it misses none.
 */
export const MIGRATIONS: readonly ((s: string) => readonly string[])[] = [
  (s) => [
    `create table ${s}.runs (
      id uuid primary key,
      session_id text not null,
      cwd text,
      host text,
      status text not null,
      config json,
      created_at timestamptz not null default now(),
      ended_at timestamptz,
      heartbeat_at timestamptz not null default now(),
      usage json,
      cost double precision,
      error json
    )`,
    `create index runs_by_time on ${s}.runs (created_at)`,
    `create index runs_by_session on ${s}.runs (session_id)`,
    `create table ${s}.steps (
      run_id uuid not null references ${s}.runs on delete cascade,
      seq int not null,
      iteration int not null,
      role text not null,
      payload text not null,
      search jsonb,
      tool_names text[] not null default '{}',
      "timestamp" timestamptz not null,
      primary key (run_id, seq)
    )`,
    `create table ${s}.sessions (
      id text primary key,
      header text,
      cwd text,
      name text,
      created_at timestamptz,
      modified_at timestamptz,
      message_count int not null default 0,
      first_message text,
      holder json,
      lease_until timestamptz
    )`,
    `create index sessions_by_cwd on ${s}.sessions (cwd, modified_at)`,
    `create table ${s}.entries (
      session_id text not null references ${s}.sessions on delete cascade,
      id text not null,
      seq bigint not null,
      parent_id text,
      type text not null,
      payload text not null,
      "timestamp" timestamptz,
      primary key (session_id, id)
    )`,
    `create table ${s}.removed_sessions (
      session_id text primary key,
      removed_at timestamptz not null default now()
    )`,
    `create unique index entries_in_order on ${s}.entries (session_id, seq)`,
    STEP_DETAILS(s),
  ],
];

/** The version that this program works with. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** The steps with plain columns: `content`, `tool_calls`, `tool_results`. */
function STEP_DETAILS(s: string): string {
  const blocks = `case jsonb_typeof(m -> 'content') when 'array' then m -> 'content' else '[]'::jsonb end`;
  const ofType = (type: string) =>
    `jsonb_array_elements(${blocks}) with ordinality b(block, n) where block ->> 'type' = '${type}'`;
  return `create view ${s}.step_details as
    select run_id, seq, iteration, role, tool_names, "timestamp",
      case jsonb_typeof(m -> 'content')
        when 'string' then m ->> 'content'
        when 'array' then (select string_agg(block ->> 'text', E'\\n' order by n) from ${ofType("text")})
        else coalesce(m ->> 'summary', m ->> 'output')
      end as content,
      (select jsonb_agg(block - 'type' order by n) from ${ofType("toolCall")}) as tool_calls,
      case when role = 'toolResult' then m - 'role' - 'timestamp' end as tool_results
    from (select *, coalesce(search -> 'message', search) as m from ${s}.steps) as steps`;
}
