import { expect, test } from "vitest";
import { batches } from "./conversation.ts";
import { entriesOf, start } from "./start.ts";
import { type Answer, strictModel } from "./strict-model.ts";

const UNUSABLE: [string, Answer][] = [
  ["an empty text", { text: "" }],
  ["white space", { text: " \n" }],
  ["no block at all", {}],
  ["thinking only", { thinking: "Hm." }],
  ["a tool call", { calls: [{ id: "x", name: "talk" }] }],
  ["a tool call beside a text", { text: "## Goal", calls: [{ id: "x", name: "talk" }] }],
  ["half a text, cut for length", { text: "## Goal\nTo", stop: "length" }],
  ["a refusal", { fail: "content_filter" }],
  ["an error of the server", { fail: "server" }],
  ["a stream that breaks off", { text: "## Goal", fail: "network" }],
];

for (const [what, answer] of UNUSABLE) {
  test(`F092 a summary that is ${what} is not kept; the history is as it was, and the failure is told`, async () => {
    const strict = strictModel({ window: 4_000, summary: () => answer });
    const { agent, prompt, compactions, events, notices } = await start({
      strict,
      entries: entriesOf(batches(strict, 9)),
      options: { reserveTokens: 900 },
    });
    const before = agent.transcript.project();
    await expect(agent.service("compaction")!.compact()).rejects.toMatchObject({ code: "compaction_failed" });
    expect(agent.transcript.project()).toEqual(before);
    expect(events.map(({ type }) => type)).toEqual(["compaction_start", "session_compact_failed", "compaction_end"]);
    expect(events[2]).toMatchObject({ reason: "manual", aborted: false, willRetry: false });
    expect(events[2]!.errorMessage).toContain("Compaction failed: ");
    expect(agent.state.activity).toBe("idle");

    // By itself it is told, and the turn goes on.
    await prompt("Go on.");
    expect(compactions()).toEqual([]);
    expect(notices.filter(({ level }) => level === "warning")).toHaveLength(1);
    expect(strict.problems).toEqual([]);
    expect(agent.transcript.project().at(-1)).toMatchObject({ content: [{ text: "done" }] });
  });
}

test("F092 after three failures it pauses and says so; by hand it works, and then by itself again", async () => {
  let isBroken = true;
  const strict = strictModel({
    window: 100_000,
    summary: () => (isBroken ? { text: " " } : { text: "## Goal\nTo go on." }),
  });
  const options = { reserveTokens: 98_500, keepRecentTokens: 200 };
  const { prompt, compactions, notices } = await start({ strict, entries: entriesOf(batches(strict, 30)), options });
  for (let at = 0; at < 6; at++) await prompt(`Prompt of ${at}.`);
  expect(strict.summaries()).toHaveLength(3);
  expect(notices.filter(({ text }) => text.includes("pauses"))).toHaveLength(1);
  isBroken = false;
  await prompt("/compact");
  expect(compactions()).toHaveLength(1);
  expect(notices.at(-1)!.text).toMatch(/^Compacted the conversation: [\d,]+ tokens before, about [\d,]+ after\.$/);
  for (let at = 0; at < 40; at++) await prompt(`More ${"and more ".repeat(50)}`);
  expect(compactions().length).toBeGreaterThan(1);
});

test("a summary that is no shorter than what it stands for is not kept, and what it cost is on record", async () => {
  const strict = strictModel({ window: 100_000, summary: () => ({ text: "long ".repeat(5_000) }) });
  const { agent, compactions } = await start({
    strict,
    entries: entriesOf(batches(strict, 6)),
    options: { keepRecentTokens: 300 },
  });
  await expect(agent.service("compaction")!.compact()).rejects.toThrow("no shorter");
  expect(compactions()).toEqual([]);
  const costs = agent.transcript.path().filter(({ type }) => type === "usage");
  // A history and the beginning of a turn: two requests.
  expect(costs).toMatchObject([{ kind: "compaction", usage: { output: 2 * 6_251 } }]);
});
