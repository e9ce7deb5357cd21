/** A run as the recorder writes it down, for the tests of what reads it. */
import type { AssistantMessage, Entry, Usage } from "@pi-agent/kernel";
import { applyBatch, prepare } from "../../src/apply.ts";
import type { Database } from "../../src/database.ts";
import type { Line } from "../../src/lines.ts";
import { migrate } from "../../src/migrations.ts";
import { toBatch } from "../../src/rows.ts";

export const SCHEMA = "pi_agent";
const RUN_COST = 0.0123;

function usageOf(input: number, output: number): Usage {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: RUN_COST };
  return { input, output, cacheRead: 10, cacheWrite: 0, totalTokens: input + output + 10, cost };
}

export interface SampleRun {
  id: string;
  session?: string;
  cwd?: string;
  task?: string;
  /** Left out: it has not ended. */
  status?: string;
  /** How long ago it was last heard of. */
  agoMs?: number;
  /** The entry that it goes on from. */
  parentId?: string | null;
  model?: string;
}

/** Writes runs; each has a question, a call of `look` with its result, and an answer. */
export async function writeRuns(db: Database, runs: readonly SampleRun[]): Promise<void> {
  await migrate(db, SCHEMA);
  for (const run of runs) await applyBatch(db, SCHEMA, prepare(toBatch(linesOf(run))));
}

export function entriesOf({
  id,
  task = "What is there?",
  agoMs = 0,
  parentId = null,
  model = "gpt",
}: SampleRun): Entry[] {
  const beganMs = Date.now() - agoMs - 4_000;
  const answer = (content: AssistantMessage["content"], ms: number): AssistantMessage => ({
    role: "assistant",
    content,
    api: "a",
    provider: "open",
    model,
    usage: usageOf(100, 20),
    stopReason: content.some(({ type }) => type === "toolCall") ? "toolUse" : "stop",
    timestamp: beganMs + ms,
    durationMs: 500,
  });
  const messages: Extract<Entry, { type: "message" }>["message"][] = [
    { role: "user", content: task, timestamp: beganMs },
    answer(
      [
        { type: "thinking", thinking: "I should look." },
        { type: "toolCall", id: `call-${id}`, name: "look", arguments: { at: "here" } },
      ],
      100,
    ),
    {
      role: "toolResult",
      toolCallId: `call-${id}`,
      toolName: "look",
      content: [{ type: "text", text: "a lamp" }],
      isError: false,
      timestamp: beganMs + 1_600,
      durationMs: 1_000,
    },
    answer([{ type: "text", text: "There is a lamp, and nothing else that could be seen." }], 1_700),
  ];
  return messages.map((message, at) => ({
    type: "message",
    id: `${id.slice(-4)}-${at}`,
    parentId: at === 0 ? parentId : `${id.slice(-4)}-${at - 1}`,
    timestamp: new Date(message.timestamp + (message.role === "assistant" ? 500 : 0)).toISOString(),
    message,
  }));
}

function linesOf(run: SampleRun): Line[] {
  const { id, session = `session-${id}`, cwd = "/tmp", status, agoMs = 0 } = run;
  const at = Date.now() - agoMs;
  const steps = entriesOf(run).map((entry, seq): Line => {
    const step = { run: id, seq, iteration: seq < 3 ? 0 : 1 };
    return { head: { t: "entry", at, step }, payload: JSON.stringify(entry) };
  });
  const usage = JSON.parse(JSON.stringify(usageOf(200, 40)));
  const end: Line[] =
    status === undefined ? [] : [{ head: { t: "end", at, id, status, usage, cost: RUN_COST }, payload: "" }];
  const begin: Line = { head: { t: "run", at: at - 4_000, id, session, cwd, host: "box", config: {} }, payload: "" };
  return [begin, ...steps, { head: { t: "beat", at, id }, payload: "" }, ...end];
}
