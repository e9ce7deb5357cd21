import type { AssistantMessage, Draft, Entry, ExtensionAPI, FailureKind } from "@pi-agent/kernel";
import { userMessage } from "@pi-agent/testing/provider";
import { expect, test } from "vitest";
import type { Budgets } from "../src/budgets.ts";
import { planOf } from "../src/plan.ts";
import { batches, speaker } from "./conversation.ts";
import { entriesOf, start, talker, words } from "./start.ts";
import { strictModel } from "./strict-model.ts";

const OPTIONS = { keepRecentTokens: 500 };

// ---------------------------------------------------------------- what is as long as the window, and no edit may change

const { say, user } = speaker(strictModel({ window: 1 }));
const thinking = { type: "thinking", thinking: words(30_000) } as const;
const GIANTS: [string, Draft][] = [
  ["an answer", { type: "message", message: say(words(30_000)) }],
  ["thinking", { type: "message", message: { ...say(""), content: [thinking, { type: "text", text: "So it is." }] } }],
  [
    "the output of a command",
    {
      type: "message",
      message: {
        role: "bashExecution",
        command: "cat x",
        output: words(30_000),
        exitCode: 0,
        cancelled: false,
        truncated: false,
        timestamp: 1,
      },
    },
  ],
  ["the summary of a branch", { type: "branch_summary", summary: words(30_000), fromId: "e0" }],
];

async function startWithGiant(draft: Draft, window: number) {
  const strict = strictModel({ window });
  const entries = entriesOf([user("The task."), say("ok"), user("More of it."), say("fine")]);
  const giant = { ...draft, id: "giant", parentId: "e3", timestamp: "2026-01-01T00:00:00.000Z" } as Entry;
  return { strict, ...(await start({ strict, entries: [...entries, giant] })) };
}

for (const [what, draft] of GIANTS) {
  for (const window of [16_000, 32_000]) {
    test(`${what} of 30,000 tokens at a window of ${window}: it is summarised too, and the next prompt is answered`, async () => {
      const { strict, agent, prompt, compactions, notices } = await startWithGiant(draft, window);
      await prompt("Go on.");
      expect(agent.transcript.project().at(-1)).toMatchObject({ content: [{ text: "done" }] });
      expect(compactions()).toHaveLength(1);
      expect(strict.problems).toEqual([]);
      expect(notices.filter(({ level }) => level !== "info")).toEqual([]);
      expect(JSON.stringify(strict.turns().at(-1)!.messages)).toContain("Go on.");
    });
  }

  test(`${what} of 30,000 tokens at the end: /compact leaves nothing but the summary, with the last request in it`, async () => {
    const { agent, prompt, compactions } = await startWithGiant(draft, 16_000);
    await prompt("/compact");
    const [entry] = compactions();
    expect(entry!.summary).toContain("<last-request>\nMore of it.\n</last-request>");
    expect(entry!.firstKeptEntryId).toBeNull();
    expect(agent.transcript.project()).toHaveLength(1);
    await prompt("Go on.");
    expect(agent.transcript.project().at(-1)).toMatchObject({ content: [{ text: "done" }] });
  });
}

test("where nothing is kept, what is said while the summary is made is kept all the same", async () => {
  const gate = Promise.withResolvers<void>();
  const strict = strictModel({ window: 16_000, summary: () => ({ text: "## Goal\nOn.", after: gate.promise }) });
  const entries = entriesOf([user("The task."), say("ok"), user("More."), say(words(14_000))]);
  const { agent, compactions } = await start({ strict, entries });
  const compacting = agent.service("compaction")!.compact();
  await expect.poll(() => strict.summaries().length).toBe(1);
  agent.append([{ type: "custom_message", customType: "note", content: "Noted meanwhile.", display: true }]);
  gate.resolve();
  await compacting;
  expect(compactions()).toHaveLength(1);
  expect(JSON.stringify(agent.transcript.project())).toContain("Noted meanwhile.");
});

test("a call that is still worked on is kept however long it is: its result comes after", async () => {
  const long = { calls: [{ id: "t", name: "talk", arguments: { text: words(14_000) } }] };
  const strict = strictModel({ window: 16_000, takesAll: true, turn: (at) => (at === 0 ? long : { text: "done" }) });
  const compacts = (pi: ExtensionAPI) =>
    void pi.on("tool_result", async (_event, ctx) => void (await ctx.compact().catch(() => {})));
  const { agent, prompt } = await start({
    strict,
    entries: entriesOf(batches(strict, 8)),
    options: { ...OPTIONS, enabled: false },
    extensions: [compacts, talker(50)],
  });
  await prompt("Talk.");
  expect(strict.problems).toEqual([]);
  expect(JSON.stringify(strict.turns()[1]!.messages)).toContain("talk1 ");
  expect(agent.transcript.project().at(-1)).toMatchObject({ content: [{ text: "done" }] });
});

// ---------------------------------------------------------------- an earlier summary

const BUDGETS: Budgets = { keepTokens: 1, mostTokens: 100, requestChars: 9_000, summaryTokens: 9, leastTokens: 0 };

function previousSummaryOf(summary: string): string | undefined {
  const previous = {
    type: "compaction",
    id: "c",
    summary,
    firstKeptEntryId: null,
    tokensBefore: 1,
  } as Entry<"compaction">;
  const items = [{ message: userMessage("Go on."), entryId: "u", tokens: 2 }];
  const path = [{ type: "message", id: "u", message: userMessage("Go on.") } as Entry];
  return planOf({ path, items, previous, tokens: 2 }, BUDGETS)?.previousSummary;
}

test("an earlier summary loses the blocks at its end, and nothing else", () => {
  const blocks = "\n\n<last-request>\nDo it.\n</last-request>\n\n<read-files>\na\nb\n</read-files>";
  expect(previousSummaryOf(`## Goal\n\nTo go on.${blocks}`)).toBe("## Goal\n\nTo go on.");
  expect(previousSummaryOf("a <read-files>\n is never closed")).toBe("a <read-files>\n is never closed");
});

test("an earlier summary of a million newlines, or of beginnings of blocks, is read in no time", () => {
  const started = performance.now();
  expect(previousSummaryOf(`a${"\n".repeat(1_000_000)}b`)).toHaveLength(1_000_002);
  const opening = "<read-files>\n";
  expect(previousSummaryOf(opening.repeat(100_000))).toHaveLength(100_000 * opening.length - 1);
  expect(performance.now() - started).toBeLessThan(5_000);
}, 120_000);

// ---------------------------------------------------------------- handlers

for (const point of ["session_before_compact", "compaction_start", "session_compact_failed"] as const) {
  test(`a handler of ${point} that compacts is refused, and the compaction goes on`, async () => {
    const isFailing = point === "session_compact_failed";
    const strict = strictModel({ window: 100_000, ...(isFailing && { summary: () => ({ text: "" }) }) });
    const refusals: { code: string; message: string }[] = [];
    let asked = 0;
    const nests = (pi: ExtensionAPI) =>
      void pi.on(point, async () => {
        if (++asked > 5) return;
        await pi
          .service("compaction")!
          .compact()
          .catch((error) => void refusals.push(error));
      });
    const { agent, compactions } = await start({
      strict,
      entries: entriesOf(batches(strict, 8)),
      options: OPTIONS,
      extensions: [nests],
    });
    await agent
      .service("compaction")!
      .compact()
      .catch(() => {});
    expect(refusals).toMatchObject([
      { code: "compaction_failed", message: expect.stringContaining("within a compaction") },
    ]);
    expect(compactions()).toHaveLength(isFailing ? 0 : 1);
  });
}

for (const point of ["session_before_compact", "compaction_start"] as const) {
  test(`an abort ends /compact while a handler of ${point} hangs, and that is told`, async () => {
    const strict = strictModel({ window: 100_000 });
    let isAsked = false;
    const hangs = (pi: ExtensionAPI) =>
      void pi.on(point, () => {
        isAsked = true;
        return new Promise<undefined>(() => {});
      });
    const { agent, prompt, events, statuses, compactions } = await start({
      strict,
      entries: entriesOf(batches(strict, 8)),
      options: OPTIONS,
      extensions: [hangs],
    });
    const compacting = agent.input("/compact");
    await expect.poll(() => isAsked).toBe(true);
    await agent.abort();
    await compacting;
    expect(events.at(-1)).toMatchObject({ type: "compaction_end", reason: "manual", aborted: true });
    expect(statuses.at(-1)).toBeUndefined();
    expect(agent.state.activity).toBe("idle");
    expect(compactions()).toEqual([]);
    await prompt("Go on.");
    expect(agent.transcript.project().at(-1)).toMatchObject({ content: [{ text: "done" }] });
  });
}

test("an extension that would bring back what an earlier compaction has summarised is told so", async () => {
  const strict = strictModel({ window: 100_000 });
  let keepFrom: string | undefined;
  const brings = (pi: ExtensionAPI) =>
    void pi.on("session_before_compact", () =>
      keepFrom ? { compaction: { summary: "Theirs.", firstKeptEntryId: keepFrom } } : undefined,
    );
  const { agent, prompt, compactions } = await start({
    strict,
    entries: entriesOf(batches(strict, 8)),
    options: OPTIONS,
    extensions: [brings],
  });
  const compact = () => agent.service("compaction")!.compact();
  await compact();
  await prompt(`More. ${words(3_000)}`);
  keepFrom = "e0";
  await expect(compact()).rejects.toMatchObject({
    code: "compaction_failed",
    message: expect.stringContaining("the compaction before"),
  });
  keepFrom = compactions()[0]!.firstKeptEntryId!;
  await compact();
  expect(compactions()).toHaveLength(2);
});

// ---------------------------------------------------------------- when it pauses, and when it recovers

for (const fail of ["rate_limit", "overloaded", "server", "network", "timeout"] satisfies FailureKind[]) {
  test(`an outage (${fail}) does not pause it: once it is over, the conversation is compacted by itself`, async () => {
    let isOut = true;
    const strict = strictModel({
      window: 100_000,
      summary: () => (isOut ? { fail } : { text: "## Goal\nTo go on." }),
    });
    const { prompt, compactions, notices } = await start({
      strict,
      entries: entriesOf(batches(strict, 30)),
      options: { reserveTokens: 98_500, keepRecentTokens: 200 },
    });
    for (let at = 0; at < 5; at++) await prompt(`Prompt of ${at}.`);
    expect(notices.filter(({ level }) => level !== "info")).toHaveLength(1);
    isOut = false;
    await prompt("Go on.");
    expect(compactions()).toHaveLength(1);
  });
}

test("each run that a message of an extension started is recovered once, and not once for each that it says beside", async () => {
  let refused = 0;
  const strict = strictModel({
    window: 100_000,
    turn: (at) => (at % 2 === 0 ? (refused++, { fail: "context_overflow" }) : { text: "done" }),
  });
  let pi!: ExtensionAPI;
  const { agent, compactions } = await start({
    strict,
    entries: entriesOf(batches(strict, 50)),
    extensions: [(given) => void (pi = given)],
  });
  for (let at = 1; at <= 3; at++) {
    pi.sendMessage(
      { customType: "alarm", content: `Alarm ${at}. ${words(25_000)}`, display: true },
      { triggerTurn: true },
    );
    await agent.settled();
    expect(compactions()).toHaveLength(at);
    expect(refused).toBe(at);
    expect((agent.transcript.project().at(-1) as AssistantMessage).content).toMatchObject([{ text: "done" }]);
  }
});
