import type { Extension, ExtensionAPI } from "@pi-agent/kernel";
import { recordEvents } from "@pi-agent/testing";
import { expect, test } from "vitest";
import type { CompactionPreparation } from "../src/index.ts";
import { batches } from "./conversation.ts";
import { entriesOf, start } from "./start.ts";
import { strictModel } from "./strict-model.ts";

const OPTIONS = { keepRecentTokens: 500 };

async function startWith(extension: Extension) {
  const strict = strictModel({ window: 100_000 });
  const entries = entriesOf(batches(strict, 8));
  return { strict, ...(await start({ strict, entries, options: OPTIONS, extensions: [extension] })) };
}

test("compaction_start and compaction_end travel over the wire; what only extensions hear does not", async () => {
  const { agent, compactions } = await startWith(() => {});
  const recorded = recordEvents(agent);
  await agent.service("compaction")!.compact();
  const told = recorded.events.filter(({ type }) => type.includes("compact"));
  expect(told.map(({ type }) => type)).toEqual(["compaction_start", "compaction_end"]);
  const [{ summary, firstKeptEntryId, tokensBefore, usage, details }] = compactions() as [
    ReturnType<typeof compactions>[0],
  ];
  expect(told[1]).toMatchObject({
    reason: "manual",
    aborted: false,
    willRetry: false,
    result: { summary, firstKeptEntryId, tokensBefore, usage, details, estimatedTokensAfter: expect.any(Number) },
  });
});

test("an extension sees what is going to be summarised", async () => {
  let seen: CompactionPreparation | undefined;
  const { agent } = await startWith((pi: ExtensionAPI) => {
    pi.on("session_before_compact", ({ preparation, reason, willRetry, branchEntries, customInstructions, signal }) => {
      seen = preparation;
      expect([reason, willRetry, customInstructions, signal.aborted]).toEqual(["manual", false, "the focus", false]);
      expect(branchEntries).toHaveLength(64);
    });
  });
  await agent.service("compaction")!.compact({ customInstructions: "the focus" });
  expect(seen).toMatchObject({
    isSplitTurn: true,
    tokensBefore: expect.any(Number),
    settings: { enabled: true, reserveTokens: 16_384, keepRecentTokens: 500 },
  });
  expect(seen!.messagesToSummarize.length).toBeGreaterThan(10);
  expect(seen!.turnPrefixMessages.length).toBeGreaterThan(0);
  expect(agent.transcript.get(seen!.firstKeptEntryId!)).toBeDefined();
});

test("an extension brings the summary: no model is asked, and the entry says whose it is", async () => {
  const { agent, strict, compactions, events } = await startWith((pi: ExtensionAPI) => {
    pi.on("session_before_compact", ({ preparation: { firstKeptEntryId } }) => ({
      compaction: { summary: "Theirs.", firstKeptEntryId, details: { mine: 1 } },
    }));
  });
  await agent.service("compaction")!.compact();
  expect(strict.requests).toEqual([]);
  expect(compactions()).toMatchObject([{ summary: "Theirs.", fromHook: true, details: { mine: 1 } }]);
  expect(events.find(({ type }) => type === "session_compact")).toMatchObject({
    fromExtension: true,
    compactionEntry: { summary: "Theirs." },
  });
});

const UNFIT: [string, object][] = [
  ["an empty summary", { summary: " ", firstKeptEntryId: null }],
  ["a boundary that is nowhere", { summary: "Theirs.", firstKeptEntryId: "nowhere" }],
  ["a summary that is no text", { summary: 7, firstKeptEntryId: null }],
  ["one that is longer than the conversation", { summary: "long ".repeat(9_000), firstKeptEntryId: null }],
];
for (const [what, compaction] of UNFIT) {
  test(`an extension that brings ${what} is told so, and the history stays`, async () => {
    const { agent, compactions } = await startWith((pi: ExtensionAPI) => {
      pi.on("session_before_compact", () => ({ compaction: compaction as never }));
    });
    await expect(agent.service("compaction")!.compact()).rejects.toMatchObject({ code: "compaction_failed" });
    expect(compactions()).toEqual([]);
  });
}

test("an extension refuses it: nobody is asked, and that is told as an abort is", async () => {
  const { agent, strict, compactions, events } = await startWith((pi: ExtensionAPI) => {
    pi.on("session_before_compact", () => ({ cancel: true }));
  });
  await expect(agent.service("compaction")!.compact()).rejects.toMatchObject({ code: "compaction_cancelled" });
  expect(strict.requests).toEqual([]);
  expect(compactions()).toEqual([]);
  expect(events.slice(1)).toMatchObject([
    { type: "session_compact_failed", aborted: true },
    { type: "compaction_end", aborted: true },
  ]);
});

test("an extension that refuses it again and again is no failure: it is asked each time, and that is told once", async () => {
  let asked = 0;
  const strict = strictModel({ window: 100_000 });
  const { prompt, notices } = await start({
    strict,
    entries: entriesOf(batches(strict, 30)),
    options: { reserveTokens: 97_000 },
    extensions: [(pi) => void pi.on("session_before_compact", () => (asked++, { cancel: true }))],
  });
  for (let at = 0; at < 6; at++) await prompt("Go on.");
  expect(asked).toBe(6);
  expect(notices).toEqual([{ level: "warning", text: expect.stringContaining("refused") }]);
});

test("an extension that throws refuses nothing", async () => {
  const { agent, compactions } = await startWith((pi: ExtensionAPI) => {
    pi.on("session_before_compact", () => {
      throw new Error("broken");
    });
  });
  await agent.service("compaction")!.compact();
  expect(compactions()).toHaveLength(1);
});
