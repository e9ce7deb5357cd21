import type { CliIo, Entry } from "@pi-agent/kernel";
import type { RunsArguments } from "./arguments.ts";
import { durationOf } from "./list.ts";
import { findRun, type RunRow, readSteps, type Step } from "./queries.ts";
import type { RunsSource } from "./source.ts";
import { formatTable, widthOf } from "./table.ts";
import { wordWaiting } from "./waiting.ts";
import { cutText, toCost, toCount, toDuration, toLineText, toMoment } from "./words.ts";

const COLUMNS = [
  { title: "step", isFigure: true },
  { title: "turn", isFigure: true },
  { title: "after", isFigure: true },
  { title: "role" },
  { title: "content", least: 8 },
];
const LABEL_COLUMNS = 9;

/** Prints one run with its steps; answers the exit code. */
export async function show(source: RunsSource, { id, flags }: RunsArguments, io: CliIo): Promise<number> {
  const run = await findRun(source, id);
  const steps = await readSteps(source, run.id);
  if (flags.has("json")) {
    const data = {
      ...run,
      steps: steps.map(({ entry, ...step }) => ({ ...step, entry })),
      waiting: source.spoolStatus(),
    };
    io.stdout.write(`${JSON.stringify(data, undefined, 2)}\n`);
    return 0;
  }
  const width = widthOf(io.stdout);
  io.stdout.write(`${printHead(run, width)}\n${printSteps(run, steps, width)}${wordWaiting(source.spoolStatus())}`);
  return 0;
}

function printHead(run: RunRow, width: number): string {
  const { usage, error } = run;
  const said = (error as { message?: unknown } | null)?.message ?? error;
  const lines: [string, string][] = [
    ["run", run.id],
    ["status", run.status],
    ["task", run.task ?? ""],
    ["session", run.session_id],
    ["folder", [run.cwd, run.host && `(on ${run.host})`].filter(Boolean).join(" ")],
    ["begun", `${toMoment(run.created_at)}, took ${toDuration(durationOf(run))}`],
    [
      "tokens",
      `${toCount(usage?.input ?? 0)} in, ${toCount(usage?.output ?? 0)} out, ${toCount(usage?.cacheRead ?? 0)} from cache`,
    ],
    ["cost", toCost(run.cost)],
    ["error", said ? (typeof said === "string" ? said : JSON.stringify(said)) : ""],
  ];
  return lines
    .filter(([, text]) => text !== "")
    .map(([label, text]) => `${label.padEnd(LABEL_COLUMNS)}${cutText(toLineText(text), width - LABEL_COLUMNS)}\n`)
    .join("");
}

function printSteps({ created_at }: RunRow, steps: readonly Step[], width: number): string {
  const rows = steps.map(({ seq, iteration, role, timestamp, entry }) => [
    String(seq),
    String(iteration),
    toDuration(timestamp.getTime() - created_at.getTime()),
    role,
    describe(entry),
  ]);
  return rows.length === 0 ? "It has no steps.\n" : formatTable(COLUMNS, rows, width);
}

/** One step in one line. */
function describe(entry: Entry): string {
  switch (entry.type) {
    case "message":
      return describeMessage(entry.message as unknown as Record<string, unknown>);
    case "compaction":
    case "branch_summary":
      return entry.summary;
    case "model_change":
      return `${entry.provider}/${entry.modelId}`;
    case "thinking_level_change":
      return entry.thinkingLevel;
    case "custom_message":
      return `${entry.customType}: ${describeContent(entry.content)}`;
    case "custom":
      return entry.customType;
    case "session_info":
      return entry.name;
    case "label":
      return entry.label ?? "";
    default:
      return "";
  }
}

function describeMessage(message: Record<string, unknown>): string {
  const { role, toolName, isError, errorMessage, command } = message;
  const text = describeContent(message.content);
  if (role === "toolResult") return `${String(toolName)}${isError ? " failed" : ""}: ${text}`;
  if (role === "bashExecution") return String(command);
  return [text, errorMessage].filter(Boolean).join(" ");
}

function describeContent(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((block: Record<string, unknown> | null) => describeBlock(block ?? {})).join(" ");
}

function describeBlock({ type, text, name, arguments: given }: Record<string, unknown>): string {
  if (type === "text") return String(text);
  if (type === "toolCall") return `→ ${String(name)} ${JSON.stringify(given)}`;
  return type === "thinking" ? "" : `[${String(type)}]`;
}
