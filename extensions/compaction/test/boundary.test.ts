import type { Entry } from "@pi-agent/kernel";
import { listStrictProblems } from "@pi-agent/testing";
import { expect, test } from "vitest";
import { batches } from "./conversation.ts";
import { entriesOf, start } from "./start.ts";
import { askedIn, strictModel } from "./strict-model.ts";

const OPTIONS = { keepRecentTokens: 500 };

test("F089 compacting again at once does nothing, and says why", async () => {
  const strict = strictModel({ window: 100_000 });
  const { agent, compactions, events } = await start({
    strict,
    entries: entriesOf(batches(strict, 8)),
    options: OPTIONS,
  });
  const compact = () => agent.service("compaction")!.compact();
  await compact();
  const { size } = agent.transcript;
  const told = events.length;
  await expect(compact()).rejects.toMatchObject({
    code: "nothing_to_compact",
    message: expect.stringContaining("just"),
  });
  agent.append([{ type: "label", targetId: compactions()[0]!.id, label: "here" }]);
  await expect(compact()).rejects.toMatchObject({ code: "nothing_to_compact" });
  expect([agent.transcript.size, events.length]).toEqual([size + 1, told]);
});

test("F089 a second compaction brings the first summary up to date, and keeps what came after its own boundary", async () => {
  const strict = strictModel({ window: 100_000, summary: (at) => ({ text: `## Goal\nNumber ${at}.` }) });
  const { agent, prompt, compactions } = await start({
    strict,
    entries: entriesOf(batches(strict, 8)),
    options: OPTIONS,
  });
  await agent.service("compaction")!.compact();
  for (let at = 0; at < 4; at++) await prompt(`Later ${at}. ${"and more ".repeat(80)}`);
  await agent.service("compaction")!.compact();
  const [first, second] = compactions();
  expect(askedIn(strict.summaries().at(-1)!)).toContain("<previous-summary>");
  expect(second!.summary).not.toContain("Number 0");
  const messages = agent.transcript.project();
  expect(JSON.stringify(messages)).not.toContain(first!.summary.slice(0, 17));
  expect(listStrictProblems(messages)).toEqual([]);
  expect(JSON.stringify(messages)).toContain("Later 3.");
  expect(agent.transcript.path().findIndex(({ id }) => id === second!.firstKeptEntryId)).toBeGreaterThan(0);
});

test("F089 on a branch from before a compaction, that compaction counts for nothing", async () => {
  const strict = strictModel({ window: 100_000, summary: (at) => ({ text: `## Goal\nNumber ${at}.` }) });
  const { agent, prompt, compactions } = await start({
    strict,
    entries: entriesOf(batches(strict, 8)),
    options: OPTIONS,
  });
  await agent.service("compaction")!.compact();
  const asked = strict.summaries().length;
  agent.moveTo("e39");
  await prompt("Another way.");
  await agent.service("compaction")!.compact();
  expect(compactions()).toHaveLength(1);
  expect(askedIn(strict.summaries()[asked]!)).not.toContain("<previous-summary>");
  const path = agent.transcript.path();
  expect(path.some(({ id }) => id === compactions()[0]!.firstKeptEntryId)).toBe(true);
  expect(listStrictProblems(agent.transcript.project())).toEqual([]);
  expect(JSON.stringify(agent.transcript.project())).toContain("Another way.");
});

test("F089 a boundary that is not on the branch keeps nothing before it, is told, and does not stand in the way", async () => {
  const strict = strictModel({ window: 100_000 });
  const entries = entriesOf(batches(strict, 4));
  const lost: Entry = {
    type: "compaction",
    id: "lost",
    parentId: entries.at(-1)!.id,
    timestamp: "2026-01-01T00:00:00.000Z",
    summary: "What was before.",
    firstKeptEntryId: "gone",
    tokensBefore: 9,
  };
  const later = entriesOf(batches(strict, 8), "l").map((entry, at) =>
    at === 0 ? { ...entry, parentId: "lost" } : entry,
  );
  const { agent, compactions, notices } = await start({
    strict,
    entries: [...entries, lost, ...later],
    options: OPTIONS,
  });
  expect(JSON.stringify(agent.transcript.project()[0])).toContain("What was before.");
  await agent.service("compaction")!.compact();
  expect(compactions()).toHaveLength(2);
  expect(askedIn(strict.summaries()[0]!)).toContain("What was before.");
  expect(listStrictProblems(agent.transcript.project())).toEqual([]);
  expect(notices).toContainEqual({ level: "warning", text: expect.stringContaining("gone") });
});

test("F089 what is said while the summary is made is neither lost nor doubled", async () => {
  const gate = Promise.withResolvers<void>();
  const strict = strictModel({ window: 100_000, summary: () => ({ text: "## Goal\nOn.", after: gate.promise }) });
  const { agent, compactions } = await start({ strict, entries: entriesOf(batches(strict, 8)), options: OPTIONS });
  const begun = new Promise<void>((resolve) => agent.on("compaction_start", () => resolve()));
  const compacting = agent.service("compaction")!.compact();
  await begun;
  expect(agent.state.activity).toBe("compacting");
  expect(await agent.input("Typed meanwhile.")).toBe("queued");
  agent.append([{ type: "custom_message", customType: "note", content: "Noted meanwhile.", display: true }]);
  gate.resolve();
  await compacting;
  await agent.settled();
  expect(compactions()).toHaveLength(1);
  const said = JSON.stringify(agent.transcript.project());
  expect(said.split("Typed meanwhile.")).toHaveLength(2);
  expect(said.split("Noted meanwhile.")).toHaveLength(2);
  expect(agent.transcript.project().at(-1)).toMatchObject({ content: [{ text: "done" }] });
  expect(strict.problems).toEqual([]);
});

test("F089 whoever goes to another place while the summary is made keeps that place as it is", async () => {
  const gate = Promise.withResolvers<void>();
  const strict = strictModel({ window: 100_000, summary: () => ({ text: "## Goal\nOn.", after: gate.promise }) });
  const { agent, compactions } = await start({ strict, entries: entriesOf(batches(strict, 8)), options: OPTIONS });
  const begun = new Promise<void>((resolve) => agent.on("compaction_start", () => resolve()));
  const compacting = agent.service("compaction")!.compact();
  await begun;
  agent.moveTo("e15");
  const before = agent.transcript.project();
  gate.resolve();
  await expect(compacting).rejects.toMatchObject({
    code: "compaction_failed",
    message: expect.stringContaining("another place"),
  });
  expect(compactions()).toEqual([]);
  expect(agent.transcript.project()).toEqual(before);
});

test("a compaction that another extension made meanwhile is not put a second one upon", async () => {
  const gate = Promise.withResolvers<void>();
  const strict = strictModel({ window: 100_000, summary: () => ({ text: "## Goal\nOn.", after: gate.promise }) });
  const { agent, compactions } = await start({ strict, entries: entriesOf(batches(strict, 8)), options: OPTIONS });
  const begun = new Promise<void>((resolve) => agent.on("compaction_start", () => resolve()));
  const compacting = agent.service("compaction")!.compact();
  await begun;
  agent.append([{ type: "compaction", summary: "Theirs.", firstKeptEntryId: null, tokensBefore: 1 }]);
  gate.resolve();
  await expect(compacting).rejects.toMatchObject({ code: "compaction_failed" });
  expect(compactions().map(({ summary }) => summary)).toEqual(["Theirs."]);
});
