import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent, type Entry } from "@pi-agent/kernel";
import sessions from "@pi-agent/sessions";
import { listStrictProblems } from "@pi-agent/testing";
import { hasRecordings, NO_RECORDINGS, RECORDINGS } from "@pi-agent/testing/house";
import { expect, onTestFinished, test } from "vitest";
import { start } from "./start.ts";
import { askedIn, strictModel } from "./strict-model.ts";

const folder = join(RECORDINGS, "sessions");
const files = hasRecordings() ? readdirSync(folder).filter((name) => name.endsWith(".jsonl")) : [];

function tempFolder(): string {
  const path = mkdtempSync(join(tmpdir(), "pi-compaction-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

async function read(path: string): Promise<readonly Entry[]> {
  const agent = createAgent({ extensions: [sessions] });
  await agent.ready();
  const { entries } = await agent.service("sessions")!.open(path);
  await agent.dispose();
  return entries;
}

test("there are recordings of real sessions", ({ skip }) => {
  skip(!hasRecordings(), NO_RECORDINGS);
  expect(files.length).toBeGreaterThan(10);
});

test.each(files)("the session %s of Pi is gone on with, and compacted again and again", async (file) => {
  const copy = join(tempFolder(), file);
  cpSync(join(folder, file), copy);
  const entries = await read(copy);
  const strict = strictModel({ window: 20_000, takesAll: true, turn: () => ({ text: "On we go. ".repeat(200) }) });
  const { agent, prompt, compactions } = await start({ strict, entries, options: { keepRecentTokens: 2_000 } });
  const before = compactions().length;
  for (let at = 0; at < 12; at++) {
    await prompt(`Go on, part ${at}. ${"More to do. ".repeat(300)}`);
    expect(listStrictProblems(agent.transcript.project())).toEqual([]);
  }
  expect(strict.problems).toEqual([]);
  expect(compactions().length).toBeGreaterThan(before);
  const made = compactions().slice(before);
  for (const { firstKeptEntryId } of made) expect(agent.transcript.get(firstKeptEntryId!)).toBeDefined();
  // Stored entries are untouched.
  expect(agent.transcript.path().slice(0, 3)).toEqual(entries.slice(0, 3));
});

test("files that Pi's summary lists are carried on, and its summary is brought up to date", async ({ skip }) => {
  skip(!hasRecordings(), NO_RECORDINGS);
  const name = "v3-migrated-by-pi0.73.1-real-two-compactions.jsonl";
  const copy = join(tempFolder(), name);
  cpSync(join(folder, name), copy);
  const entries = (await read(copy)).map((entry) =>
    entry.type === "compaction"
      ? { ...entry, details: { readFiles: ["/old/read.ts"], modifiedFiles: ["/old/changed.ts"] } }
      : entry,
  );
  const strict = strictModel({ window: 200_000 });
  const { agent, compactions } = await start({ strict, entries, options: { keepRecentTokens: 2_000 } });
  const before = compactions().at(-1)!;
  await agent.service("compaction")!.compact();
  const made = compactions().at(-1)!;
  expect(made.details).toMatchObject({ readFiles: expect.arrayContaining(["/old/read.ts"]) });
  expect(made.summary).toContain("<modified-files>");
  expect(made.summary).toContain("/old/changed.ts\n");
  const asked = askedIn(strict.summaries()[0]!);
  expect(asked).toContain(before.summary.slice(0, 40));
  expect(asked).toContain("goes on from what the previous summary tells");
});
