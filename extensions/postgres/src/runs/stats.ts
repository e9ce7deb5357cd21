import type { CliIo } from "@pi-agent/kernel";
import type { RunsArguments } from "./arguments.ts";
import { readStats, type StatKey, type StatRow } from "./queries.ts";
import type { RunsSource } from "./source.ts";
import { formatTable, widthOf } from "./table.ts";
import { wordWaiting } from "./waiting.ts";
import { toCost, toCount, toDuration } from "./words.ts";

const COUNTED: Record<StatKey, { key: string; count: string }> = {
  day: { key: "day (UTC)", count: "runs" },
  model: { key: "model", count: "answers" },
  tool: { key: "tool", count: "calls" },
};

/** Prints totals of each day, model or tool; answers the exit code. */
export async function stats(source: RunsSource, { flags }: RunsArguments, io: CliIo): Promise<number> {
  const by = (flags.get("by") ?? "day") as StatKey;
  const rows = await readStats(source, by);
  if (flags.has("json"))
    io.stdout.write(`${JSON.stringify({ by, rows, waiting: source.spoolStatus() }, undefined, 2)}\n`);
  else {
    io.stdout.write(rows.length === 0 ? "There is nothing to sum up yet.\n" : printStats(by, rows, widthOf(io.stdout)));
    io.stdout.write(wordWaiting(source.spoolStatus()));
  }
  return 0;
}

function printStats(by: StatKey, rows: readonly StatRow[], width: number): string {
  const figure = (title: string) => ({ title, isFigure: true });
  const { key, count } = COUNTED[by];
  const figures = [count, "failed", "tokens in", "out", "cached", "cost", "time"].map(figure);
  const sum = rows.reduce(add, { ...EMPTY });
  const lines = rows.length > 1 ? [...rows, sum] : rows;
  return formatTable([{ title: key, least: 8 }, ...figures], lines.map(toCells), width);
}

const EMPTY: StatRow = { key: "all", count: 0, failed: 0, input: 0, output: 0, cached: 0, cost: 0, duration: 0 };

function add(sum: StatRow, row: StatRow): StatRow {
  return {
    key: sum.key,
    count: sum.count + row.count,
    failed: sum.failed + row.failed,
    input: sum.input + row.input,
    output: sum.output + row.output,
    cached: sum.cached + row.cached,
    cost: sum.cost + row.cost,
    duration: sum.duration + row.duration,
  };
}

function toCells(row: StatRow): string[] {
  const counts = [row.input, row.output, row.cached].map(toCount);
  return [row.key, toCount(row.count), toCount(row.failed), ...counts, toCost(row.cost), toDuration(row.duration)];
}
