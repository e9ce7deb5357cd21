import { createAgent, type Entry, type Message } from "@pi-agent/kernel";
import { listStrictProblems } from "@pi-agent/testing";
import { expect, test } from "vitest";
import { canCutAt, divide, findCut, firstKeptEntry } from "../src/cut.ts";
import { type Item, viewOf } from "../src/view.ts";
import { batches, speaker } from "./conversation.ts";
import { entriesOf, start } from "./start.ts";
import { strictModel } from "./strict-model.ts";

const strict = strictModel({ window: 100_000 });
const { say, call, result, user } = speaker(strict);

async function look(entries: readonly Entry[]) {
  const agent = createAgent({ entries });
  await agent.ready();
  const estimateTokens = (messages: readonly Message[]) => Math.ceil(JSON.stringify(messages).length / 4);
  return { agent, view: viewOf({ transcript: agent.transcript, estimateTokens }) };
}

test("F088 wherever a history of batches is cut, 0 to n, what is sent is well paired and begins with the user", async () => {
  const entries = entriesOf(batches(strict, 6));
  const { view } = await look(entries);
  let cuts = 0;
  for (let at = 0; at < view.items.length; at++) {
    if (!canCutAt(view.items, at)) continue;
    cuts++;
    const firstKeptEntryId = firstKeptEntry(view.path, view.items, at);
    const boundary: Entry = {
      type: "compaction",
      id: "cut",
      parentId: entries.at(-1)!.id,
      timestamp: "2026-01-01T00:00:00.000Z",
      summary: "S",
      firstKeptEntryId,
      tokensBefore: 1,
    };
    const { agent } = await look([...entries, boundary]);
    const messages = agent.transcript.project();
    expect(listStrictProblems(messages)).toEqual([]);
    expect(messages[0]!.role).toBe("custom");
    expect(messages).toHaveLength(view.items.length - at + 1);
  }
  // Every message but the results, of which there are four in eight.
  expect(cuts).toBe(view.items.length / 2);
});

test("F088 whatever is to be kept, 0 to all, the next request is well paired and has the last prompt", async () => {
  const messages = batches(strict, 4);
  const total = messages.length * 60;
  for (let keepRecentTokens = 0; keepRecentTokens < total; keepRecentTokens += 23) {
    const fresh = strictModel({ window: 100_000 });
    const options = { keepRecentTokens };
    const { agent, compactions } = await start({ strict: fresh, entries: entriesOf(messages), options, hasUI: false });
    const done = await agent
      .service("compaction")!
      .compact()
      .then(
        () => true,
        (error: { code: string }) => error.code,
      );
    // From some size on there is nothing before the cut.
    expect([true, "nothing_to_compact", "compaction_failed"]).toContain(done);
    expect(listStrictProblems(agent.transcript.project())).toEqual([]);
    expect(compactions()).toHaveLength(done === true ? 1 : 0);
    expect(JSON.stringify(agent.transcript.project())).toContain("Prompt 3.");
    await agent.dispose();
  }
}, 60_000);

test("F095 the tail is kept by tokens: many short messages stay together, a giant one moves the cut behind it", async () => {
  const tiny = Array.from({ length: 400 }, (_, at) =>
    at % 2 ? say("five tokens of text.") : user("five tokens of text."),
  );
  const { view } = await look(entriesOf(tiny));
  const cut = findCut(view.items, view.tokens / 2);
  expect(cut).toBeGreaterThan(150);
  expect(cut).toBeLessThan(250);
  const giant = [user("a"), say("b"), user("c"), call("x"), result("x", 90_000), say("short")];
  const { view: other } = await look(entriesOf(giant));
  expect(findCut(other.items, 12_000)).toBe(5);
});

test("the cut is the last one that there is where what follows cannot be divided", async () => {
  const { view } = await look(
    entriesOf([user("a"), say("b"), user("c"), call("x", "y"), result("x", 900), result("y", 900)]),
  );
  expect(findCut(view.items, 500)).toBe(3);
  expect(findCut(view.items, 0)).toBe(3);
});

test("a cut in a turn divides its beginning from what came before it", () => {
  const items = [user("a"), say("b"), user("c"), call("x"), result("x", 1), say("d")].map(
    (message, at): Item => ({ message, entryId: `${at}`, tokens: 1 }),
  );
  const sizes = (cut: number) => Object.values(divide(items, cut)).map((part: readonly Item[]) => part.length);
  expect(sizes(5)).toEqual([2, 3, 1]);
  expect(sizes(3)).toEqual([2, 1, 3]);
  expect(sizes(2)).toEqual([2, 0, 4]);
  // Without a beginning of the turn all of it is history.
  expect(Object.values(divide(items.slice(3), 2)).map((part: readonly Item[]) => part.length)).toEqual([2, 0, 1]);
});

test("entries that say nothing to the model come along with what is kept", async () => {
  const entries = entriesOf([user("a"), say("b"), user("c")]);
  const mark: Entry = { type: "custom", id: "mark", parentId: "e1", timestamp: "t", customType: "mark" };
  const { view } = await look([...entries.slice(0, 2), mark, { ...entries[2]!, parentId: "mark" }]);
  expect(firstKeptEntry(view.path, view.items, 2)).toBe("mark");
});
