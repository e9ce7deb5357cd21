import retry from "@pi-agent/retry";
import { expect, test } from "vitest";
import { batches } from "./conversation.ts";
import { entriesOf, start, talker } from "./start.ts";
import { strictModel } from "./strict-model.ts";

const ROUNDS = 40;
const RESULT_TOKENS = 3_000;
const WINDOW = 64_000;

const call = (at: number) => ({ calls: [{ id: `call-${at}`, name: "talk" }] });

test("F098 a run of 40 rounds of 3,000 tokens never fills a window of 64,000, and repeats no tool", async () => {
  const seen: string[] = [];
  const strict = strictModel({ window: WINDOW, turn: (at) => (at < ROUNDS ? call(at) : { text: "The end." }) });
  const { prompt, compactions, agent, notices } = await start({ strict, extensions: [talker(RESULT_TOKENS, seen)] });
  await prompt("Talk forty times, and remember the word kumquat.");
  expect(strict.problems).toEqual([]);
  expect(new Set(seen).size).toBe(ROUNDS);
  expect(seen).toHaveLength(ROUNDS);
  expect(compactions().length).toBeGreaterThanOrEqual(2);
  expect(compactions().length).toBeLessThanOrEqual(6);
  // No request was refused, and none lost the task.
  expect(strict.turns()).toHaveLength(ROUNDS + 1);
  for (const request of strict.turns()) expect(JSON.stringify(request.messages)).toContain("kumquat");
  expect(agent.transcript.project().at(-1)).toMatchObject({ role: "assistant", content: [{ text: "The end." }] });
  expect(notices.filter(({ level }) => level !== "info")).toEqual([]);
});

test("F098 the window is watched although every third request is answered 529", async () => {
  const seen: string[] = [];
  let calls = 0;
  const failing = (answer: object) => (++calls % 3 === 0 ? { fail: "overloaded" as const } : answer);
  let round = 0;
  const strict = strictModel({
    window: WINDOW,
    turn: () => {
      const answer = failing(round < ROUNDS ? call(round) : { text: "The end." });
      if (!("fail" in answer)) round++;
      return answer;
    },
    summary: () => failing({ text: "## Goal\nTo talk." }),
  });
  const { prompt, compactions, agent } = await start({
    strict,
    extensions: [(pi) => retry(pi, { baseDelayMs: 0 }), talker(RESULT_TOKENS, seen)],
  });
  await prompt("Talk forty times.");
  expect(strict.problems).toEqual([]);
  expect(seen).toHaveLength(ROUNDS);
  expect(compactions().length).toBeGreaterThanOrEqual(2);
  expect(agent.transcript.project().at(-1)).toMatchObject({ content: [{ text: "The end." }] });
});

test("F098 an overflow in round 20 is recovered from once, and goes on", async () => {
  const seen: string[] = [];
  let refused = 0;
  const strict = strictModel({
    window: WINDOW,
    turn: (at) => {
      if (at === 20 && refused++ === 0) return { fail: "context_overflow" };
      return seen.length < 24 ? call(at) : { text: "The end." };
    },
  });
  const { prompt, compactions, events, agent } = await start({
    strict,
    options: { reserveTokens: 0 },
    extensions: [talker(1_000, seen)],
  });
  await prompt("Talk.");
  expect(strict.problems).toEqual([]);
  expect(new Set(seen).size).toBe(24);
  expect(compactions()).toHaveLength(1);
  expect(events.map(({ type, reason, willRetry }) => [type, reason, willRetry])).toEqual([
    ["compaction_start", "overflow", undefined],
    ["session_compact", "overflow", true],
    ["compaction_end", "overflow", true],
  ]);
  // The failed attempt is hidden, and stays in the record.
  const path = agent.transcript.path();
  const failed = path.find((entry) => entry.type === "message" && "failure" in entry.message)!;
  expect(path).toContainEqual(
    expect.objectContaining({ type: "context_edit", targetId: failed.id, replacement: null }),
  );
});

test("F098 an overflow that stays is recovered from once, and then stops with one clear error", async () => {
  const strict = strictModel({
    window: WINDOW,
    turn: (at) => (at < 20 ? call(at) : { fail: "context_overflow" }),
  });
  const { prompt, compactions, events, notices, agent } = await start({
    strict,
    options: { reserveTokens: 0 },
    extensions: [talker(1_000)],
  });
  const outcomes: string[] = [];
  agent.on("agent_settled", ({ outcome }) => void outcomes.push(outcome));
  await prompt("Talk.");
  expect(outcomes).toEqual(["error"]);
  expect(strict.turns()).toHaveLength(22);
  expect(compactions()).toHaveLength(1);
  expect(events.map(({ type }) => type)).toEqual([
    "compaction_start",
    "session_compact",
    "compaction_end",
    "session_compact_failed",
    "compaction_end",
  ]);
  expect(events.at(-1)).toMatchObject({ reason: "overflow", aborted: false, willRetry: false });
  const errors = notices.filter(({ level }) => level === "error");
  expect(errors).toHaveLength(1);
  expect(errors[0]!.text).toContain("larger context window");
  // Another message of the person is another chance.
  await prompt("Again.");
  expect(compactions().length).toBe(2);
});

test("a recovery that failed may be tried again when the run is continued", async () => {
  let isBroken = true;
  const strict = strictModel({
    window: WINDOW,
    turn: (at) => (at < 2 ? { fail: "context_overflow" } : { text: "done" }),
    summary: () => (isBroken ? { fail: "server" } : { text: "## Goal\nOn." }),
  });
  const { prompt, agent, compactions, notices } = await start({ strict, entries: entriesOf(batches(strict, 50)) });
  await prompt("Go on.");
  expect(compactions()).toEqual([]);
  expect(notices).toMatchObject([{ level: "warning", text: expect.stringContaining("was too long") }]);
  isBroken = false;
  expect(await agent.continue()).toBe("done");
  expect(compactions()).toHaveLength(1);
});
