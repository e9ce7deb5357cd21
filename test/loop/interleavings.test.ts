import { assertEventOrder, assertValidForStrictProvider } from "@pi-agent/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Played, play, playOn } from "./play.ts";
import { type Scenario, scenario } from "./scenario.ts";

/** Holds a play to what every run keeps, whatever happens in it. */
async function judge(played: Played): Promise<void> {
  const { agent, events, requests, found } = played;
  assertEventOrder(events);
  for (const messages of requests) assertValidForStrictProvider(messages);
  for (const [text, count] of found) expect(count, `${text} is there once`).toBe(1);
  const runs = events.filter(({ type }) => type === "turn_start").map(({ runId }) => runId);
  const settled = events.filter(({ type }) => type === "agent_settled").map(({ runId }) => runId);
  expect(settled, "each run settles once").toEqual([...new Set(runs)]);
  expect(agent.state).toMatchObject({ activity: "idle", runId: undefined });
  expect(JSON.stringify(agent.transcript.path()).isWellFormed()).toBe(true);
  expect(await playOn(agent), "it takes a next prompt").toBe("Well.");
  await agent.dispose();
}

test("K2 K5 K7 K9 K10 F133 F134: whatever comes together in a run, it settles in order, with a valid transcript and nothing lost", async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async (each) => judge(await play(each))),
    { numRuns: process.env.SOAK ? 10_000 : 100 },
  );
});

const call = { tool: "parallel", id: "a", args: "fit", ends: "answer", ticks: 0 } as const;

/** What the property found once. */
const FOUND: [what: string, scenario: Partial<Scenario>][] = [
  [
    "a tool that was given up tells no progress into the next run",
    {
      turns: [{ kind: "calls", calls: [{ ...call, ends: "update", ticks: 1 }, call] }],
      hooks: { transcript_append: "reject" },
      deeds: [
        { at: 0, what: "followUp" },
        { at: 30, what: "abort" },
      ],
      afterwards: ["abort", "steer"],
    },
  ],
  ...Array.from({ length: 12 }, (_, i): [string, Partial<Scenario>] => [
    `an answer that is aborted in moment ${i + 8} tells nothing after its end`,
    {
      turns: [{ kind: "ends twice", calls: [call, { ...call, id: "b" }] }],
      hooks: { message_update: "slow" },
      deeds: [{ at: i + 8, what: "abort" }],
    },
  ]),
];

test.each(FOUND)("K2 K9: %s", async (_what, found) => {
  const plain = { turns: [], hooks: {}, deeds: [], maxTurns: undefined, afterwards: [] };
  await judge(await play({ ...plain, steeringMode: "all", followUpMode: "all", ...found }));
});
