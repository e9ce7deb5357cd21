/** From lines to the rows of a batch, in the order of the lines. Ages are milliseconds before now: the database has the clock. */
import type { Entry } from "@pi-agent/kernel";
import { cleanCopy, cleanText, toKey, toTime } from "./clean.ts";
import type { BeatLine, EndLine, EntryLine, Head, Line, RunLine } from "./lines.ts";

export interface RunRow {
  id: string;
  session_id: string;
  cwd: string;
  host: string;
  config: unknown;
  age: number;
}
export interface RunChange {
  id: string;
  age: number;
  status: string | null;
  usage: unknown;
  cost: number | null;
  error: unknown;
}
export interface StepRow {
  run_id: string;
  seq: number;
  iteration: number;
  role: string;
  payload: string;
  search: unknown;
  tool_names: string[];
  timestamp: string;
}
export interface EntryRow {
  n: number;
  session_id: string;
  id: string;
  parent_id: string | null;
  type: string;
  payload: string;
  timestamp: string | null;
  age: number;
  /** What a list shows of it. */
  name: string | null;
  first: string | null;
  is_message: boolean;
}
export interface HeaderRow {
  session_id: string;
  header: string;
  cwd: string;
  created_at: string | null;
  age: number;
}
export interface Batch {
  /** When the ages were taken. */
  takenMs: number;
  runs: RunRow[];
  changes: RunChange[];
  steps: StepRow[];
  headers: HeaderRow[];
  entries: EntryRow[];
  releases: { session_id: string; token: string }[];
}

const FIRST_MESSAGE_CHARS = 200;

/** Makes rows of lines. `nowMs` is this machine's clock, which wrote the lines. */
export function toBatch(lines: readonly Line[], nowMs = Date.now()): Batch {
  const batch: Batch = { takenMs: nowMs, runs: [], changes: [], steps: [], headers: [], entries: [], releases: [] };
  for (const { head, payload } of lines) addLine(batch, head, { payload, age: Math.max(0, nowMs - head.at) });
  return batch;
}

function addLine(batch: Batch, head: Head, { payload, age }: { payload: string; age: number }): void {
  switch (head.t) {
    case "run":
      batch.runs.push(toRun(head, age));
      break;
    case "beat":
    case "end":
      batch.changes.push(toChange(head, age));
      break;
    case "entry":
      addEntry(batch, head, { payload, age });
      break;
    case "header":
      batch.headers.push(toHeader(head.session, payload, age));
      break;
    case "release":
      batch.releases.push({ session_id: toKey(head.session), token: head.token });
      break;
  }
}

function toRun({ id, session, cwd, host, config }: RunLine, age: number): RunRow {
  return { id, session_id: toKey(session), cwd: cleanText(cwd), host: cleanText(host), config: cleanCopy(config), age };
}

function toChange(head: BeatLine | EndLine, age: number): RunChange {
  const { id, usage = null, cost = null } = head;
  const ended = head.t === "end" ? head : undefined;
  return { id, age, usage, cost, status: ended?.status ?? null, error: cleanCopy(ended?.error ?? null) };
}

function toHeader(session: string, payload: string, age: number): HeaderRow {
  const { cwd, timestamp } = JSON.parse(payload) as { cwd?: unknown; timestamp?: unknown };
  const folder = typeof cwd === "string" ? cleanText(cwd) : "";
  return { session_id: toKey(session), header: payload, cwd: folder, created_at: toTime(timestamp), age };
}

function addEntry(
  batch: Batch,
  { step, session }: EntryLine,
  { payload, age }: { payload: string; age: number },
): void {
  const entry = JSON.parse(payload) as Entry;
  const message = entry.type === "message" ? entry.message : undefined;
  if (step) {
    batch.steps.push({
      run_id: step.run,
      seq: step.seq,
      iteration: step.iteration,
      role: cleanText(message?.role ?? entry.type),
      payload,
      search: cleanCopy(entry),
      tool_names: toolNames(message),
      timestamp: toTime(entry.timestamp) ?? new Date(Date.now() - age).toISOString(),
    });
  }
  if (session === undefined) return;
  batch.entries.push({
    n: batch.entries.length,
    session_id: toKey(session),
    id: toKey(entry.id),
    parent_id: typeof entry.parentId === "string" ? toKey(entry.parentId) : null,
    type: cleanText(entry.type),
    payload,
    timestamp: toTime(entry.timestamp),
    age,
    name: entry.type === "session_info" ? cleanText(entry.name ?? "") : null,
    first: message?.role === "user" ? inOneLine(message.content) : null,
    is_message: message !== undefined,
  });
}

function toolNames(message: unknown): string[] {
  const { role, content, toolName } = (message ?? {}) as { role?: string; content?: unknown; toolName?: unknown };
  if (role === "toolResult") return typeof toolName === "string" ? [cleanText(toolName)] : [];
  if (role !== "assistant" || !Array.isArray(content)) return [];
  return content.flatMap((block: { type?: string; name?: unknown } | null) =>
    block?.type === "toolCall" && typeof block.name === "string" ? cleanText(block.name) : [],
  );
}

/** Puts what was said into one line of 200 characters at most, as lists of sessions show it. */
function inOneLine(content: unknown): string {
  const blocks: unknown[] = Array.isArray(content) ? content : [{ text: content }];
  const texts = blocks.flatMap((block) => {
    const text = (block as { text?: unknown } | null)?.text;
    return typeof text === "string" ? text : [];
  });
  return cleanText(texts.join(" ").replaceAll(/\s+/g, " ").trim().slice(0, FIRST_MESSAGE_CHARS));
}
