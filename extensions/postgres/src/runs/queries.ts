/** What the command reads. All values are parameters; `s` is the quoted name of our schema. */
import type { Entry, Json, Usage } from "@pi-agent/kernel";
import { quoteName } from "../database.ts";
import { runsError } from "./problem.ts";
import type { RunsSource } from "./source.ts";

export interface RunRow {
  id: string;
  session_id: string;
  cwd: string | null;
  host: string | null;
  /** `interrupted` when its heart has not beaten for a minute. */
  status: string;
  config: Json;
  created_at: Date;
  ended_at: Date | null;
  heartbeat_at: Date;
  usage: Partial<Usage> | null;
  cost: number | null;
  error: Json;
  steps: number;
  /** What it was asked to do. */
  task: string | null;
}

/** A run that has not been heard of for so long has lost its process. */
const SILENT = "interval '60 seconds'";
const TASK_CHARS = 300;
const UUID_DIGITS = 32;

const COLUMNS = (s: string) => `r.id, r.session_id, r.cwd, r.host, r.config, r.created_at, r.ended_at, r.heartbeat_at,
  r.usage, r.cost, r.error, ${STATUS} as status,
  (select count(*) from ${s}.steps where run_id = r.id) as steps,
  (select left(content, ${TASK_CHARS}) from ${s}.step_details
    where run_id = r.id and role = 'user' order by seq limit 1) as task`;
const STATUS = `case when r.status = 'running' and r.heartbeat_at < now() - ${SILENT} then 'interrupted' else r.status end`;

/** Reads the newest runs first. */
export function listRuns(source: RunsSource, { limit, status }: { limit: number; status?: string }): Promise<RunRow[]> {
  const s = quoteName(source.schema);
  return source.query<RunRow>(
    `select ${COLUMNS(s)} from ${s}.runs r where ($2::text is null or ${STATUS} = $2)
    order by r.created_at desc, r.id desc limit $1::int`,
    [limit, status ?? null],
  );
}

/** Finds the one run whose id begins so. Fails with `unknown_run`, `ambiguous_run`. */
export async function findRun(source: RunsSource, beginning: string): Promise<RunRow> {
  const s = quoteName(source.schema);
  const found = await source.query<RunRow>(
    `select ${COLUMNS(s)} from ${s}.runs r where r.id between $1::uuid and $2::uuid order by r.created_at desc limit 3`,
    ["0", "f"].map((digit) => beginning.replaceAll("-", "").padEnd(UUID_DIGITS, digit)),
  );
  const [run, ...others] = found;
  if (!run)
    throw runsError("unknown_run", `No run has an id that begins with ${beginning}.`, "pi runs list shows the ids.");
  if (others.length === 0) return run;
  const ids = found.map(({ id }) => id).join(", ");
  throw runsError(
    "ambiguous_run",
    `More than one run begins with ${beginning}: ${ids}${found.length === 3 ? " …" : ""}.`,
    "Give more of the id.",
  );
}

export interface Step {
  seq: number;
  iteration: number;
  role: string;
  timestamp: Date;
  entry: Entry;
}

/** Reads all steps of a run, in order. Fails with `run_unreadable`. */
export async function readSteps(source: RunsSource, runId: string): Promise<Step[]> {
  const rows = await source.query<Omit<Step, "entry"> & { payload: string }>(
    `select seq, iteration, role, "timestamp", payload from ${quoteName(source.schema)}.steps where run_id = $1 order by seq`,
    [runId],
  );
  return rows.map(({ payload, ...step }) => ({ ...step, entry: parseEntry(payload, runId) }));
}

/** Reads the steps of all runs of a session up to one of them, in the order in which they were made. */
export async function readStepsUpTo(source: RunsSource, run: RunRow): Promise<Entry[]> {
  const s = quoteName(source.schema);
  const rows = await source.query<{ payload: string }>(
    `select steps.payload from ${s}.steps join ${s}.runs on runs.id = steps.run_id
    where runs.id = $2 or (runs.session_id = $1 and runs.created_at < (select created_at from ${s}.runs where id = $2))
    order by runs.created_at, runs.id, steps.seq`,
    [run.session_id, run.id],
  );
  return rows.map(({ payload }) => parseEntry(payload, run.id));
}

/** Reads the session as its store has it; empty where no store of ours keeps it. */
export async function readSession(source: RunsSource, run: RunRow): Promise<Entry[]> {
  const rows = await source.query<{ payload: string }>(
    `select payload from ${quoteName(source.schema)}.entries where session_id = $1 order by seq`,
    [run.session_id],
  );
  return rows.map(({ payload }) => parseEntry(payload, run.id));
}

export interface StatRow {
  key: string;
  /** Runs, answers or calls. */
  count: number;
  failed: number;
  input: number;
  output: number;
  cached: number;
  cost: number;
  /** Milliseconds, of all together. */
  duration: number;
}

export type StatKey = "day" | "model" | "tool";

const TOKENS = (usage: string) => `coalesce(sum((${usage} ->> 'input')::numeric), 0) as input,
  coalesce(sum((${usage} ->> 'output')::numeric), 0) as output,
  coalesce(sum((${usage} ->> 'cacheRead')::numeric), 0) as cached`;

/** Sums the runs of each day (UTC), the answers of each model, or the calls of each tool. */
export function readStats(source: RunsSource, by: StatKey): Promise<StatRow[]> {
  return source.query<StatRow>(STATS[by](quoteName(source.schema)));
}

const STATS: Record<StatKey, (s: string) => string> = {
  day: (s) => `select to_char(r.created_at at time zone 'UTC', 'YYYY-MM-DD') as key, count(*) as count,
    count(*) filter (where ${STATUS} in ('error', 'interrupted')) as failed, ${TOKENS("r.usage")},
    coalesce(sum(r.cost), 0) as cost,
    coalesce(sum(extract(epoch from coalesce(r.ended_at, r.heartbeat_at) - r.created_at) * 1000), 0) as duration
    from ${s}.runs r group by 1 order by 1 desc`,
  model: (
    s,
  ) => `select coalesce(m ->> 'provider', '?') || '/' || coalesce(m ->> 'model', '?') as key, count(*) as count,
    count(*) filter (where m ->> 'stopReason' = 'error') as failed, ${TOKENS("(m -> 'usage')")},
    coalesce(sum((m -> 'usage' -> 'cost' ->> 'total')::float8), 0) as cost,
    coalesce(sum((m ->> 'durationMs')::float8), 0) as duration
    from (select search -> 'message' as m from ${s}.steps where role = 'assistant') answers group by 1 order by cost desc, count desc`,
  tool: (s) => `select coalesce(m ->> 'toolName', '?') as key, count(*) as count,
    count(*) filter (where m ->> 'isError' = 'true') as failed, ${TOKENS("(m -> 'usage')")},
    coalesce(sum((m -> 'usage' -> 'cost' ->> 'total')::float8), 0) as cost,
    coalesce(sum((m ->> 'durationMs')::float8), 0) as duration
    from (select search -> 'message' as m from ${s}.steps where role = 'toolResult') results group by 1 order by count desc, key`,
};

function parseEntry(payload: string, runId: string): Entry {
  try {
    return JSON.parse(payload) as Entry;
  } catch {
    throw runsError(
      "run_unreadable",
      `A step of the run ${runId} is not JSON.`,
      "Look at its payload in the table steps.",
    );
  }
}
