import { expect, test } from "vitest";
import { batches } from "./conversation.ts";
import { entriesOf, start } from "./start.ts";
import { strictModel } from "./strict-model.ts";

test("F091 switched off, an overflow is one request and one error with advice; a larger window and /compact work", async () => {
  const strict = strictModel({ window: 10_000 });
  const large = strictModel({ window: 100_000, id: "large" });
  const { agent, prompt, compactions, notices } = await start({
    strict,
    entries: entriesOf(batches(strict, 40)),
    settings: { "compaction.enabled": false },
    extensions: [large.extension],
  });
  await prompt("Go on.");
  expect(strict.requests).toHaveLength(1);
  expect(notices).toMatchObject([{ level: "error", text: expect.stringContaining("automatic compaction is off") }]);
  await agent.setModel(large.model);
  await prompt("Go on.");
  expect(large.turns()).toHaveLength(1);
  expect(large.summaries()).toEqual([]);
  await agent.setModel(strict.model);
  await prompt("/compact");
  expect(compactions()).toHaveLength(1);
  await prompt("Go on.");
  expect(strict.turns()).toHaveLength(2);
  expect(strict.problems).toEqual([]);
});

test("F091 switched off, neither the threshold nor how an answer ended compacts", async () => {
  const strict = strictModel({
    window: 10_000,
    takesAll: true,
    turn: (at) => (at === 0 ? { text: "Half", stop: "length", usage: { input: 9_990, output: 0 } } : { text: "done" }),
  });
  const options = { enabled: false };
  const { prompt, events } = await start({ strict, entries: entriesOf(batches(strict, 40)), options });
  await prompt("Go on.");
  await prompt("Go on.");
  expect(events).toEqual([]);
  expect(strict.requests).toHaveLength(2);
});

for (const failure of ["rate_limit", "server", "quota"] as const) {
  test(`a failure of the kind ${failure} is left to others`, async () => {
    const strict = strictModel({ window: 10_000, turn: () => ({ fail: failure }) });
    const { prompt, events, notices } = await start({ strict });
    await prompt("Go on.");
    expect([events, notices, strict.requests.length]).toEqual([[], [], 1]);
  });
}
