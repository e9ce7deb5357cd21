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
  context: {
    messages: number;
    roles: Record<string, number>;
    firstRole: string;
    lastRole: string;
    thinkingLevel: string;
    model: { provider: string; modelId: string } | null;
  };
}

/** What a version of Pi makes of a file; the older one does not know all of them. */
function expectedOf(file: string, version = "1.6.0"): Expected | undefined {
  const all = JSON.parse(readFileSync(join(folder, `expected-by-pi-${version}.json`), "utf8"));
  return (all as Record<string, Expected>)[file];
}

function countTypes(entries: readonly Entry[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { type } of entries) counts[type] = (counts[type] ?? 0) + 1;
  return counts;
}

/** The roles of the messages that Pi makes of a branch: since its last compaction, edits applied. */
function rolesOf(path: readonly Entry[]): string[] {
  const at = path.findLastIndex(({ type }) => type === "compaction");
  const compaction = path[at] as Entry<"compaction"> | undefined;
  const first = path.findIndex(({ id }) => id === compaction?.firstKeptEntryId);
  const kept = compaction && first >= 0 && first < at ? path.slice(first, at) : [];
  const shown = [...kept, ...path.slice(at + 1)];
  const dropped = new Set(
    shown.flatMap((entry) => (entry.type === "context_edit" && !entry.replacement ? entry.targetId : [])),
  );
  const roles = shown.flatMap((entry, place): string[] => {
    if (dropped.has(entry.id)) return [];
    if (entry.type === "custom_message") return ["custom"];
    if (entry.type === "branch_summary") return entry.summary === "" ? [] : ["branchSummary"];
    if (entry.type !== "message" || (place < kept.length && entry.message.role === "system")) return [];
    return [entry.message.role];
  });
  const head = compaction ? [...(compaction.systemMessage ? ["system"] : []), "compactionSummary"] : [];
  return [...head, ...roles];
}

/** What the branch was held with last. */
function modelOf(path: readonly Entry[]): { provider: string; modelId: string } | null {
  for (const entry of path.toReversed()) {
    if (entry.type === "model_change") return { provider: entry.provider, modelId: entry.modelId };
    if (entry.type === "message" && entry.message.role === "assistant") {
      return { provider: entry.message.provider, modelId: entry.message.model };
    }
  }
  return null;
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
  const { entriesLoadedByPi, entryTypes, context } = expectedOf(file)!;
  const more = SALVAGED[file] ?? 0;
  // Pi counts the header.
  expect(entries).toHaveLength(entriesLoadedByPi - 1 + more);
  expect(countTypes(entries)).toEqual({ ...entryTypes, message: entryTypes.message! + more });

  const agent = createAgent({ entries });
  await agent.ready();
  const path = agent.transcript.path();
  const roles = rolesOf(path);
  expect(roles).toHaveLength(context.messages + more);
  if (more === 0) {
    const counted = Array.from(Map.groupBy(roles, String), ([role, all]) => [role, all.length]);
    expect(Object.fromEntries(counted)).toEqual(context.roles);
    expect([roles[0], roles.at(-1)]).toEqual([context.firstRole, context.lastRole]);
    expect(modelOf(path)).toEqual(context.model);
    const older = expectedOf(file, "0.73.1");
    if (older) expect(older.entryTypes).toEqual(countTypes(entries));
  }
  const level = path.findLast((entry) => entry.type === "thinking_level_change");
  expect(level?.thinkingLevel ?? "off").toBe(context.thinkingLevel);
  await agent.dispose();
});
