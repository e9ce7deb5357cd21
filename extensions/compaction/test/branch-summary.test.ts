import type { Entry } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { batches, speaker } from "./conversation.ts";
import { entriesOf, start, words } from "./start.ts";
import { askedIn, measure, strictModel } from "./strict-model.ts";

const branch = (summary: string, details?: object): Entry =>
  ({
    type: "branch_summary",
    id: "b",
    parentId: "e0",
    timestamp: "2026-01-01T00:00:00.000Z",
    fromId: "e0",
    summary,
    details,
  }) as Entry;

test("a branch is summarised without its results, with the files of its calls and of summaries in it", async () => {
  const strict = strictModel({ window: 100_000 });
  const { user, say, result } = speaker(strict);
  const read = {
    ...speaker(strict).call("x"),
    content: [{ type: "toolCall" as const, id: "x", name: "read", arguments: { path: "a.ts" } }],
  };
  const entries = [
    ...entriesOf([user("Try this."), read, result("x", 400), say("Tried.")]),
    branch("Before.", { readFiles: [], modifiedFiles: ["b.ts"] }),
  ];
  const { agent } = await start({ strict });
  const { size } = agent.transcript;
  const made = await agent.service("compaction")!.summarize(entries, { customInstructions: "the tries" });
  expect(made.summary).toMatch(/^The person followed another branch .*\nWhat happened there:\n\n## Goal/);
  expect(made.summary).toMatch(/<read-files>\na\.ts\n<\/read-files>\n\n<modified-files>\nb\.ts\n<\/modified-files>$/);
  expect(made.details).toEqual({ readFiles: ["a.ts"], modifiedFiles: ["b.ts"] });
  expect(made.usage!.totalTokens).toBeGreaterThan(0);
  const asked = askedIn(strict.summaries()[0]!);
  expect(asked).toContain("[User]: Try this.");
  expect(asked).toContain("Before.");
  expect(asked).not.toContain("xxxx");
  expect(asked).not.toContain("[Tool result]");
  expect(asked).not.toContain("Critical Context");
  expect(asked).toContain("attention to this: the tries");
  expect(strict.summaries()[0]!.purpose).toBe("branch_summary");
  expect(agent.transcript.size).toBe(size);
});

test("of a branch that is longer than the window the newest part is told", async () => {
  const strict = strictModel({ window: 8_000 });
  const { user, say } = speaker(strict);
  const messages = Array.from({ length: 40 }, (_, at) => (at % 2 ? say(words(400, `s${at}x`)) : user(`Prompt ${at}.`)));
  const { agent } = await start({ strict });
  await agent.service("compaction")!.summarize(entriesOf(messages));
  const asked = strict.summaries().map(askedIn).join("\n");
  expect(asked).toContain("Prompt 38.");
  expect(asked).not.toContain("Prompt 0.");
  for (const request of strict.requests) expect(measure(request)).toBeLessThanOrEqual(8_000);
});

test("a branch of nothing that could be told needs no model", async () => {
  const strict = strictModel({ window: 8_000 });
  const { agent } = await start({ strict });
  const { summary } = await agent.service("compaction")!.summarize([]);
  expect(summary).toBe("No content to summarize");
  expect(strict.requests).toEqual([]);
});

test("a blank summary of a branch is refused, an abort is one, and either leaves the session as it was", async () => {
  let isDeaf = false;
  const strict = strictModel({
    window: 100_000,
    summary: () => (isDeaf ? { isDeaf } : { text: " ", usage: { totalTokens: 0 } }),
  });
  const { agent } = await start({ strict });
  const summarize = (given: Entry[]) => agent.service("compaction")!.summarize(given);
  const entries = entriesOf(batches(strict, 3));
  const before = agent.transcript.path();
  await expect(summarize(entries)).rejects.toMatchObject({ code: "summary_failed", hint: expect.any(String) });
  isDeaf = true;
  const made = summarize(entries);
  made.catch(() => {});
  await expect.poll(() => agent.state.activity).toBe("summarizing");
  await expect.poll(() => strict.requests.length).toBe(2);
  await agent.abort();
  await expect(made).rejects.toMatchObject({ code: "aborted" });
  expect(agent.transcript.path()).toEqual(before);
});
