import type { ExtensionAPI } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { batches } from "./conversation.ts";
import { entriesOf, start, talker } from "./start.ts";
import { askedIn, strictModel } from "./strict-model.ts";

const OPTIONS = { keepRecentTokens: 500 };

test("/compact pays attention to what stands behind it, shows that it works, and tells tokens before and after", async () => {
  const strict = strictModel({ window: 100_000 });
  const { agent, prompt, compactions, notices, statuses } = await start({
    strict,
    entries: entriesOf(batches(strict, 8)),
    options: OPTIONS,
  });
  await prompt("/compact the database");
  expect(askedIn(strict.summaries()[0]!)).toContain("attention to this: the database");
  expect(strict.turns()).toEqual([]);
  expect(statuses).toEqual(["Compacting the conversation …", undefined]);
  expect(notices).toEqual([{ level: "info", text: expect.stringMatching(/^Compacted .* before, about .* after\.$/) }]);
  const [entry] = compactions();
  expect(entry!.tokensBefore).toBeGreaterThan(1_000);
  expect(entry!.usage!.totalTokens).toBeGreaterThan(0);
  // What it cost is in the entry, and counted once.
  expect(agent.transcript.path().filter(({ type }) => type === "usage")).toEqual([]);
  expect(agent.state.activity).toBe("idle");
});

test("a request for a summary has no tools, no thinking that the model lacks, a bound, and is not cached", async () => {
  const strict = strictModel({ window: 100_000 });
  const { agent } = await start({ strict, entries: entriesOf(batches(strict, 8)), options: OPTIONS });
  await agent.service("compaction")!.compact();
  const [request] = strict.summaries();
  expect(request).toMatchObject({
    tools: [],
    thinkingLevel: "off",
    purpose: "compaction",
    cacheRetention: "none",
    maxTokens: 2_000,
  });
  expect(request!.sessionId).not.toBe(agent.sessionId);
  expect(request!.messages).toHaveLength(1);
});

test("/compact on too short a conversation says so, and asks nobody", async () => {
  const strict = strictModel({ window: 100_000 });
  const { prompt, notices, events } = await start({ strict });
  await prompt("/compact");
  await prompt("hi");
  await prompt("/compact");
  expect(strict.requests).toHaveLength(1);
  expect(events).toEqual([]);
  expect(notices).toHaveLength(2);
  expect(notices[1]).toMatchObject({ level: "info", text: expect.stringContaining("It is too short.") });
});

test("/compact aborts the run that is going on, and does not go on with it; the next prompt does", async () => {
  const strict = strictModel({ window: 100_000, turn: (at) => (at === 0 ? { isDeaf: true } : { text: "done" }) });
  const { agent, compactions } = await start({ strict, entries: entriesOf(batches(strict, 8)), options: OPTIONS });
  const outcomes: string[] = [];
  agent.on("agent_settled", ({ outcome }) => void outcomes.push(outcome));
  await agent.input("Work.");
  await expect.poll(() => strict.turns().length).toBe(1);
  await agent.input("/compact");
  await agent.settled();
  expect(outcomes).toEqual(["aborted"]);
  expect(compactions()).toHaveLength(1);
  expect(strict.turns()).toHaveLength(1);
  await agent.input("Go on.");
  await agent.settled();
  expect(outcomes).toEqual(["aborted", "done"]);
  expect(strict.problems).toEqual([]);
});

test("an abort while the summary is made ends it at once, however deaf the provider is; the history is as it was", async () => {
  const strict = strictModel({ window: 100_000, summary: () => ({ isDeaf: true }) });
  const { agent, events, statuses, notices } = await start({
    strict,
    entries: entriesOf(batches(strict, 8)),
    options: OPTIONS,
  });
  const before = agent.transcript.path();
  const compacting = agent.input("/compact");
  await expect.poll(() => strict.summaries().length).toBe(1);
  await agent.abort();
  await compacting;
  expect(agent.transcript.path()).toEqual(before);
  expect(events.at(-1)).toMatchObject({ type: "compaction_end", reason: "manual", aborted: true, willRetry: false });
  expect(events.at(-1)!.result).toBeUndefined();
  expect(statuses.at(-1)).toBeUndefined();
  expect(notices.at(-1)!.text).toContain("aborted");
  expect(agent.state.activity).toBe("idle");
});

test("the signal of whoever asked for it ends it as well", async () => {
  const strict = strictModel({ window: 100_000, summary: () => ({ isDeaf: true }) });
  const { agent } = await start({ strict, entries: entriesOf(batches(strict, 8)), options: OPTIONS });
  const controller = new AbortController();
  const compacting = agent.service("compaction")!.compact({ signal: controller.signal });
  await expect.poll(() => strict.summaries().length).toBe(1);
  controller.abort();
  await expect(compacting).rejects.toMatchObject({ code: "aborted" });
});

test("an abort while it compacts by itself leaves the run as an abort would", async () => {
  for (const when of ["threshold", "overflow"] as const) {
    const strict = strictModel({
      window: when === "threshold" ? 10_000 : 100_000,
      turn: () => ({ fail: "context_overflow" }),
      summary: () => ({ isDeaf: true }),
    });
    const { agent, events } = await start({ strict, entries: entriesOf(batches(strict, 40)) });
    const outcomes: string[] = [];
    agent.on("agent_settled", ({ outcome }) => void outcomes.push(outcome));
    await agent.input("Work.");
    await expect.poll(() => strict.summaries().length).toBe(1);
    await agent.abort();
    expect(outcomes).toEqual(["aborted"]);
    expect(events.at(-1)).toMatchObject({ type: "compaction_end", reason: when, aborted: true });
    expect(agent.transcript.path().some(({ type }) => type === "compaction" || type === "usage")).toBe(false);
    expect(agent.state.activity).toBe("idle");
  }
});

test("ctx.compact in the midst of a run compacts there, and the run goes on", async () => {
  const strict = strictModel({
    window: 100_000,
    turn: (at) => (at === 0 ? { calls: [{ id: "t", name: "talk" }] } : { text: "done" }),
  });
  const compacts = (pi: ExtensionAPI) =>
    void pi.on("tool_result", async (_event, ctx) => {
      await ctx.compact({ customInstructions: "the talk" });
    });
  const { agent, prompt, compactions } = await start({
    strict,
    entries: entriesOf(batches(strict, 8)),
    options: OPTIONS,
    extensions: [compacts, talker(50)],
  });
  await prompt("Talk.");
  expect(compactions()).toHaveLength(1);
  expect(strict.problems).toEqual([]);
  expect(strict.turns()).toHaveLength(2);
  expect(JSON.stringify(strict.turns()[1]!.messages)).toContain("talk1 ");
  expect(agent.transcript.project().at(-1)).toMatchObject({ content: [{ text: "done" }] });
});

test("while it compacts, its unloading ends it, and leaves no status behind", async () => {
  const strict = strictModel({ window: 100_000, summary: () => ({ isDeaf: true }) });
  const { agent, statuses } = await start({ strict, entries: entriesOf(batches(strict, 8)), options: OPTIONS });
  const compacting = agent.service("compaction")!.compact();
  compacting.catch(() => {});
  await expect.poll(() => strict.summaries().length).toBe(1);
  const own = agent.extensions.find(({ owner }) => owner.name === "compaction")!;
  expect(await agent.unload(own.owner.name)).toEqual({ leaks: [] });
  await expect(compacting).rejects.toThrow();
  expect(statuses.at(-1)).toBeUndefined();
  expect(agent.transcript.path().some(({ type }) => type === "compaction")).toBe(false);
});
