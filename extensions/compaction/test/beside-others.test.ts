import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent } from "@pi-agent/kernel";
import sessions from "@pi-agent/sessions";
import slidingWindow from "@pi-agent/sliding-window";
import { testExtension } from "@pi-agent/testing";
import { expect, onTestFinished, test } from "vitest";
import compaction from "../src/index.ts";
import { batches } from "./conversation.ts";
import { entriesOf, start, words } from "./start.ts";
import { strictModel } from "./strict-model.ts";

testExtension(compaction, { test });

test("beside a sliding window both do their part, and each request is well formed", async () => {
  const strict = strictModel({ window: 12_000, turn: (at) => ({ text: words(200, `a${at}`) }) });
  const { prompt, compactions } = await start({
    strict,
    entries: entriesOf(batches(strict, 40)),
    extensions: [(pi) => slidingWindow(pi, { tokens: 4_000 })],
  });
  for (let at = 0; at < 40; at++) await prompt(`Prompt ${at}: ${words(150)}`);
  expect(strict.problems).toEqual([]);
  expect(strict.turns()).toHaveLength(40);
  // What it sends is what counts: with a window that keeps it short, there is nothing to compact but the long beginning.
  expect(compactions().length).toBeLessThanOrEqual(1);
});

test("a session that was compacted is the same when it is read from its file, prompt and tools too", async () => {
  const folder = mkdtempSync(join(tmpdir(), "pi-compaction-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const strict = strictModel({ window: 12_000, turn: (at) => ({ text: words(500, `a${at}`) }) });
  const agent = createAgent({
    extensions: [sessions, strict.extension, compaction],
    model: strict.model,
    systemPrompt: "Be brief.",
    host: {
      cwd: folder,
      flags: new Map([["session-dir", folder]]),
      ui: { notify() {}, setStatus() {} } as never,
    },
  });
  await agent.ready();
  await agent.dispatch("session_select", { flags: new Map([["session-dir", folder]]) });
  await agent.dispatch("session_start", { reason: "startup" });
  for (let at = 0; at < 30; at++) {
    await agent.input(`Prompt ${at}: ${words(200)}`);
    await agent.settled();
  }
  const path = agent.transcript.path();
  const sent = agent.transcript.project();
  await agent.dispose();
  const file = readdirSync(folder, { recursive: true })
    .map(String)
    .find((name) => name.endsWith(".jsonl"))!;
  const lines = readFileSync(join(folder, file), "utf8").trimEnd().split("\n").slice(1);
  const entries = lines.map((line) => JSON.parse(line));
  expect(entries).toEqual(JSON.parse(JSON.stringify(path)));
  expect(entries.filter(({ type }) => type === "compaction").length).toBeGreaterThan(1);
  for (const entry of entries.filter(({ type }) => type === "compaction")) {
    expect(entry.systemMessage).toMatchObject({ role: "system", sections: { preamble: "Be brief." } });
  }
  const resumed = createAgent({ entries });
  await resumed.ready();
  expect(resumed.transcript.project()).toEqual(sent);
  await resumed.dispose();
});
