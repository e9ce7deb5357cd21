import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createAgent, type Entry } from "@pi-agent/kernel";
import { hasRecordings, NO_RECORDINGS, RECORDINGS } from "@pi-agent/testing/house";
import { expect, test } from "vitest";
import { readSession } from "../src/read.ts";

const folder = join(RECORDINGS, "sessions");

interface Expected {
  entriesLoadedByPi: number;
  entryTypes: Record<string, number>;
  context: { messages: number; thinkingLevel: string; model: { provider: string; modelId: string } };
}

function expectedOf(file: string): Expected {
  const all = JSON.parse(readFileSync(join(folder, "expected-by-pi-1.6.0.json"), "utf8")) as Record<string, Expected>;
  return all[file]!;
}

function countTypes(entries: readonly Entry[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { type } of entries) counts[type] = (counts[type] ?? 0) + 1;
  return counts;
}

/** How many messages Pi makes of a branch: since its last compaction, edits applied. */
function countContext(path: readonly Entry[]): number {
  const at = path.findLastIndex(({ type }) => type === "compaction");
  const compaction = path[at] as Entry<"compaction"> | undefined;
  const first = path.findIndex(({ id }) => id === compaction?.firstKeptEntryId);
  const kept = compaction && first >= 0 && first < at ? path.slice(first, at) : [];
  const shown = [...kept, ...path.slice(at + 1)];
  const dropped = new Set(
    shown.flatMap((entry) => (entry.type === "context_edit" && !entry.replacement ? entry.targetId : [])),
  );
  const messages = shown.filter((entry, place) => {
    if (dropped.has(entry.id)) return false;
    if (entry.type === "message") return place >= kept.length || entry.message.role !== "system";
    return entry.type === "custom_message" || (entry.type === "branch_summary" && entry.summary !== "");
  });
  return messages.length + (compaction ? 1 : 0) + (compaction?.systemMessage ? 1 : 0);
}

// Messages that are salvaged here from a line on which Pi gives up.
const SALVAGED: Record<string, number> = {
  "v1-real-compaction-and-two-entries-on-one-line.jsonl": 2,
  "v1-real-compaction-last-line-corrupt.jsonl": 1,
};

const files = hasRecordings() ? readdirSync(folder).filter((name) => name.endsWith(".jsonl")) : [];
test("there are recordings of real sessions", ({ skip }) => {
  skip(!hasRecordings(), NO_RECORDINGS);
  expect(files.length).toBeGreaterThan(10);
});
test.each(files)("what Pi loads from %s is loaded here", async (file) => {
  const { entries } = readSession(join(folder, file))!;
  const { entriesLoadedByPi, entryTypes, context } = expectedOf(file);
  const more = SALVAGED[file] ?? 0;
  // Pi counts the header.
  expect(entries).toHaveLength(entriesLoadedByPi - 1 + more);
  expect(countTypes(entries)).toEqual({ ...entryTypes, message: entryTypes.message! + more });

  const agent = createAgent({ entries });
  await agent.ready();
  const path = agent.transcript.path();
  expect(countContext(path)).toBe(context.messages + more);
  const level = path.findLast((entry) => entry.type === "thinking_level_change");
  expect(level?.thinkingLevel ?? "off").toBe(context.thinkingLevel);
  await agent.dispose();
});
