import { createAgent } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { batches, speaker } from "./conversation.ts";
import { entriesOf, start, words } from "./start.ts";
import { strictModel } from "./strict-model.ts";

test("F097 after a compaction at 95 % the prompt `hi` makes no second one, in this process and in a new one", async () => {
  const strict = strictModel({
    window: 20_000,
    takesAll: true,
    turn: () => ({ text: "Hello.", usage: { totalTokens: 19_000 } }),
  });
  const { agent, prompt, compactions } = await start({ strict, entries: entriesOf(batches(strict, 20)) });
  await prompt("Fill it.");
  await agent.service("compaction")!.compact();
  const asked = strict.summaries().length;
  await prompt("hi");
  expect(strict.summaries()).toHaveLength(asked);
  expect(compactions()).toHaveLength(1);

  const path = agent.transcript.path();
  const cut = path.findIndex(({ type }) => type === "compaction");
  const resumed = await start({ strict, entries: path.slice(0, cut + 1) });
  await resumed.prompt("hi");
  expect(strict.summaries()).toHaveLength(asked);
});

test("F097 after a switch to a model with half the window, its window is what counts", async () => {
  const strict = strictModel({ window: 100_000 });
  const small = strictModel({ window: 50_000, id: "small" });
  const { agent, prompt, compactions } = await start({
    strict,
    entries: entriesOf(batches(strict, 100)),
    extensions: [small.extension],
  });
  await prompt("hi");
  expect(compactions()).toEqual([]);
  await agent.setModel(small.model);
  await prompt("hi");
  expect(compactions()).toHaveLength(1);
  expect(small.summaries().length).toBeGreaterThan(0);
  expect(small.turns()).toHaveLength(1);
  await agent.setModel(strict.model);
  await prompt("hi");
  expect(compactions()).toHaveLength(1);
});

test("F097 zeros of aborted and failed answers say nothing of how full the window is", async () => {
  const strict = strictModel({ window: 20_000 });
  const { say, user } = speaker(strict);
  const broken = [
    user("Go on."),
    say("Half", { stopReason: "aborted" }),
    user("Go on."),
    say("", { stopReason: "error", failure: { kind: "overloaded" } }),
  ];
  const { prompt, compactions } = await start({ strict, entries: entriesOf([...batches(strict, 60), ...broken]) });
  await prompt("Now.");
  expect(compactions()).toHaveLength(1);
  expect(strict.turns()).toHaveLength(1);
  expect(strict.problems).toEqual([]);
});

test("F097 a result that was shortened counts as it is sent", async () => {
  const strict = strictModel({ window: 20_000 });
  const { prompt, compactions } = await start({ strict });
  await prompt(`Read: ${words(30_000)}`);
  for (let at = 0; at < 5; at++) await prompt("hi");
  expect(compactions()).toEqual([]);
  expect(strict.summaries()).toEqual([]);
});

test("far from the threshold nothing is looked at, and nothing is loaded", async () => {
  const strict = strictModel({ window: 100_000 });
  const { agent, prompt, events } = await start({ strict });
  let paths = 0;
  const { transcript } = agent;
  const path = transcript.path.bind(transcript);
  Object.defineProperty(transcript, "path", { value: (leaf?: string) => (paths++, path(leaf)) });
  for (let at = 0; at < 5; at++) await prompt("hi");
  const without = createAgent({ extensions: [strict.extension], model: strict.model });
  let own = 0;
  await without.ready();
  const { transcript: other } = without;
  const otherPath = other.path.bind(other);
  Object.defineProperty(other, "path", { value: (leaf?: string) => (own++, otherPath(leaf)) });
  for (let at = 0; at < 5; at++) {
    await without.input("hi");
    await without.settled();
  }
  await without.dispose();
  expect(paths).toBe(own);
  expect(events).toEqual([]);
});
