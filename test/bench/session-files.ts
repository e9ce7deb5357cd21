/** Writes session files as a long day of work leaves them: a question, a call, its result and an answer, over and over. */
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";

const START = Date.UTC(2026, 0, 5, 9);
const RESULT = "0123456789 the quick brown fox jumps over the lazy dog\n".repeat(11);
const COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const FROM = {
  api: "openai-completions",
  provider: "wire-chat",
  model: "scripted",
  usage: { input: 90, output: 30, cacheRead: 0, cacheWrite: 0, totalTokens: 120, cost: COST },
};
// What a compaction near the end keeps.
const KEPT = 40;
const BATCH = 2_000;

/** `isCompacted`: near its end all but the last 40 entries were summarised. */
export function writeSession(
  path: string,
  { id, cwd, entries, isCompacted = false }: { id: string; cwd: string; entries: number; isCompacted?: boolean },
): void {
  mkdirSync(dirname(path), { recursive: true });
  const fd = openSync(path, "w");
  let lines: string[] = [];
  const put = (value: object) => {
    lines.push(`${JSON.stringify(value)}\n`);
    if (lines.length >= BATCH) write();
  };
  const write = () => {
    writeSync(fd, lines.join(""));
    lines = [];
  };
  put({ type: "session", version: 3, id, timestamp: timeOf(0), cwd });
  for (let n = 0; n < entries; n++) put(entryAt(n));
  if (isCompacted) {
    const summary = "A long conversation about files.";
    const firstKeptEntryId = idOf(entries - KEPT);
    const place = { id: idOf(entries), parentId: idOf(entries - 1), timestamp: timeOf(entries) };
    put({ type: "compaction", ...place, summary, firstKeptEntryId, tokensBefore: 150_000 });
  }
  write();
  closeSync(fd);
}

function entryAt(n: number): object {
  const place = { id: idOf(n), parentId: n === 0 ? null : idOf(n - 1), timestamp: timeOf(n) };
  return { type: "message", ...place, message: messageAt(n) };
}

function messageAt(n: number): object {
  const timestamp = START + n * 1_000;
  const text = (words: string) => ({ type: "text", text: words });
  if (n % 4 === 0) return { role: "user", content: [text(`Question ${n}: what is in that file?`)], timestamp };
  if (n % 4 === 1) {
    const call = { type: "toolCall", id: `call_${n}`, name: "read", arguments: { path: `src/file-${n}.ts` } };
    return { role: "assistant", content: [text("I read it."), call], ...FROM, stopReason: "toolUse", timestamp };
  }
  if (n % 4 === 3)
    return { role: "assistant", content: [text(`Answer ${n}: a fox.`)], ...FROM, stopReason: "stop", timestamp };
  const of = { toolCallId: `call_${n - 1}`, toolName: "read", isError: false };
  return { role: "toolResult", ...of, content: [text(RESULT)], timestamp };
}

/** Eight digits each, and no two alike: the multiplier is odd. */
function idOf(n: number): string {
  return (Math.imul(n + 1, 0x85_eb_ca_6b) >>> 0).toString(16).padStart(8, "0");
}

function timeOf(n: number): string {
  return new Date(START + n * 1_000).toISOString();
}
