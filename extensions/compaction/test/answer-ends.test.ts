import { expect, test } from "vitest";
import { endOf } from "../src/overflow.ts";
import { batches, speaker } from "./conversation.ts";
import { entriesOf, start, talker } from "./start.ts";
import { type Answer, strictModel } from "./strict-model.ts";

const strict = strictModel({ window: 10_000, maxTokens: 2_000 });
const { say } = speaker(strict);

test("how an answer ended tells of the window", () => {
  const end = (stopReason: "stop" | "length", usage: object, more = {}) =>
    endOf(say("x", { stopReason, usage: { ...say("").usage, ...usage }, ...more }), strict.model);
  expect(end("stop", { input: 4_000, cacheRead: 6_100, output: 5 })).toBe("full");
  expect(end("stop", { input: 9_999, output: 5 })).toBeUndefined();
  expect(end("length", { input: 9_900, output: 0 })).toBe("cut");
  expect(end("length", { input: 5_000, output: 0 })).toBeUndefined();
  expect(end("length", { input: 9_000, output: 800 })).toBe("cut");
  // There was room for more: it was not the window that ended it.
  expect(end("length", { input: 1_000, output: 800 })).toBeUndefined();
  expect(end("length", { input: 9_000, output: 2_000 })).toBeUndefined();
  expect(end("stop", { input: 90_000, output: 5 }, { model: "another" })).toBeUndefined();
});

const CUT: [string, Answer][] = [
  ["says nothing", { stop: "length", usage: { input: 9_990, output: 0 } }],
  ["stops half-way", { text: "Half an", stop: "length", usage: { input: 9_500, output: 400 } }],
  [
    "calls with half of its arguments",
    { calls: [{ id: "h", name: "talk" }], stop: "length", usage: { input: 9_500, output: 400 } },
  ],
];
for (const [what, answer] of CUT) {
  test(`an answer that ${what} for want of room is hidden, and asked for again once`, async () => {
    const model = strictModel({
      window: 10_000,
      takesAll: true,
      turn: (at) => (at === 0 ? answer : { text: "Whole." }),
    });
    const { agent, prompt, compactions, events } = await start({
      strict: model,
      entries: entriesOf(batches(model, 18)),
      options: { reserveTokens: 500 },
      extensions: [talker(10)],
    });
    await prompt("Go on.");
    expect(model.problems).toEqual([]);
    expect(compactions()).toHaveLength(1);
    expect(events[0]).toMatchObject({ type: "compaction_start", reason: "overflow" });
    expect(model.turns()).toHaveLength(2);
    const sent = JSON.stringify(model.turns()[1]!.messages);
    expect(sent).toContain("Go on.");
    expect(sent).not.toContain("Half an");
    expect(agent.transcript.project().at(-1)).toMatchObject({ content: [{ text: "Whole." }] });
  });
}

test("an answer that is cut again is left as it is, with one error", async () => {
  const cut: Answer = { text: "Half", stop: "length", usage: { input: 9_990, output: 5 } };
  const model = strictModel({ window: 10_000, takesAll: true, turn: () => cut });
  const options = { reserveTokens: 500 };
  const { prompt, notices, events } = await start({ strict: model, entries: entriesOf(batches(model, 18)), options });
  await prompt("Go on.");
  expect(model.turns()).toHaveLength(2);
  expect(notices.filter(({ level }) => level === "error")).toHaveLength(1);
  expect(events.at(-1)).toMatchObject({ type: "compaction_end", reason: "overflow", errorMessage: expect.any(String) });
});

test("an answer to more than the window holds is kept; what it was asked for with is compacted", async () => {
  const model = strictModel({
    window: 10_000,
    takesAll: true,
    turn: () => ({ text: "I see.", usage: { input: 12_000, totalTokens: 12_003 } }),
  });
  const options = { reserveTokens: 500 };
  const { agent, prompt, events } = await start({ strict: model, entries: entriesOf(batches(model, 18)), options });
  await prompt("Go on.");
  expect(model.turns()).toHaveLength(1);
  expect(events.map(({ type, willRetry }) => [type, willRetry])).toEqual([
    ["compaction_start", undefined],
    ["session_compact", false],
    ["compaction_end", false],
  ]);
  expect(agent.transcript.project().at(-1)).toMatchObject({ content: [{ text: "I see." }] });
});
