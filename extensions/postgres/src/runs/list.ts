import type { CliIo } from "@pi-agent/kernel";
import type { RunsArguments } from "./arguments.ts";
import { listRuns, type RunRow } from "./queries.ts";
import type { RunsSource } from "./source.ts";
import { formatTable, widthOf } from "./table.ts";
import { wordWaiting } from "./waiting.ts";
import { toCost, toCount, toDuration, toMoment } from "./words.ts";

const USUAL_LIMIT = 20;
// The time in it, to the millisecond: shorter ones begin alike for a minute.
const SHORT_ID_CHARS = 13;

const COLUMNS = [
  { title: "run" },
  { title: "status" },
  { title: "begun" },
  { title: "took", isFigure: true },
  { title: "tokens", isFigure: true },
  { title: "cost", isFigure: true },
  { title: "task", least: 8 },
];

/** Prints the newest runs; answers the exit code. */
export async function list(source: RunsSource, { flags }: RunsArguments, io: CliIo): Promise<number> {
  const limit = Number(flags.get("limit") ?? USUAL_LIMIT);
  const runs = await listRuns(source, { limit, status: flags.get("status") });
  if (flags.has("json")) io.stdout.write(`${JSON.stringify({ runs, waiting: source.spoolStatus() }, undefined, 2)}\n`);
  else {
    io.stdout.write(runs.length === 0 ? "There are no such runs.\n" : printRuns(runs, widthOf(io.stdout)));
    io.stdout.write(wordWaiting(source.spoolStatus()));
  }
  return 0;
}

/** Prints runs as a table that fits. */
function printRuns(runs: readonly RunRow[], width: number): string {
  const chars = shortIdChars(runs.map(({ id }) => id));
  return formatTable(
    COLUMNS,
    runs.map((run) => [
      run.id.slice(0, chars),
      run.status,
      toMoment(run.created_at),
      toDuration(durationOf(run)),
      toCount(run.usage?.totalTokens ?? 0),
      toCost(run.cost),
      run.task ?? "",
    ]),
    width,
  );
}

/** Until its end, or until it was last heard of. */
export function durationOf({ created_at, ended_at, heartbeat_at }: RunRow): number {
  return (ended_at ?? heartbeat_at).getTime() - created_at.getTime();
}

/** How much of the ids tells them apart. */
function shortIdChars(ids: readonly string[]): number {
  for (let chars = SHORT_ID_CHARS; chars < 36; chars++) {
    if (new Set(ids.map((id) => id.slice(0, chars))).size === ids.length) return chars;
  }
  return 36;
}
