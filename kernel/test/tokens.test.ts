import { expect, test } from "vitest";
import { createAgent, type Entry } from "../src/index.ts";
import { named } from "./named.ts";
import { scripted, text } from "./scripted.ts";

const user = (id: string, parentId: string | null, content: string): Entry => ({
  type: "message",
  id,
  parentId,
  timestamp: "2026-01-01T00:00:00.000Z",
  message: { role: "user", content, timestamp: 0 },
});

function answer(id: string, parentId: string, given: object): Entry {
  const message = { role: "assistant", content: [{ type: "text", text: "ok" }], stopReason: "stop", timestamp: 0 };
  const place = { type: "message", id, parentId, timestamp: "2026-01-01T00:00:00.000Z" };
  return { ...place, message: { ...message, api: "x", provider: "x", model: "x", ...given } } as unknown as Entry;
}

/** What `before_turn` is told when a run begins on these entries. */
async function tokensOf(entries: Entry[], systemPrompt = ""): Promise<number> {
  const told: number[] = [];
  const listener = named("listener", (pi) => void pi.on("before_turn", (event) => void told.push(event.contextTokens)));
  const agent = createAgent({ extensions: [scripted(text("done")), listener], entries, systemPrompt });
  await agent.input("hi");
  await agent.settled();
  return told[0]!;
}

const usage = (input: number, totalTokens = input) => ({ usage: { input, output: 0, cacheRead: 0, totalTokens } });

test("F097 the last answer's own count is taken, and what came after it is estimated", async () => {
  expect(await tokensOf([user("1", null, "x"), answer("2", "1", usage(5_000))])).toBe(5_001);
});

test("F097 a sum that a provider left out is made of its parts", async () => {
  expect(await tokensOf([user("1", null, "x"), answer("2", "1", usage(5_000, 0))])).toBe(5_001);
});

test("F097 counts of failed and aborted answers do not hold, nor ones from before a compaction or an edit", async () => {
  const failed = answer("3", "2", { ...usage(90_000), stopReason: "error" });
  expect(await tokensOf([user("1", null, "x"), answer("2", "1", usage(5_000)), failed])).toBe(5_001);
  const place = { parentId: "2", timestamp: "2026-01-01T00:00:00.000Z" };
  const before = [user("1", null, "x"), answer("2", "1", usage(90_000))];
  const compaction: Entry = {
    type: "compaction",
    id: "3",
    ...place,
    summary: "s",
    firstKeptEntryId: "1",
    tokensBefore: 90_000,
  };
  expect(await tokensOf([...before, compaction])).toBeLessThan(200);
  const edit: Entry = { type: "context_edit", id: "3", ...place, targetId: "1", replacement: { content: "y" } };
  expect(await tokensOf([...before, edit])).toBeLessThan(200);
});

test("F097 hiding a failed answer leaves the count as it was", async () => {
  const entries = [
    user("1", null, "x"),
    answer("2", "1", usage(5_000)),
    user("3", "2", "y"),
    answer("4", "3", { stopReason: "error", ...usage(0) }),
  ];
  const place = { id: "5", parentId: "4", timestamp: "2026-01-01T00:00:00.000Z" };
  const hidden: Entry = { type: "context_edit", ...place, targetId: "4", replacement: null };
  expect(await tokensOf([...entries, hidden])).toBe(5_001);
});

test("with nothing counted the prompt and the tools are estimated too", async () => {
  const bare = await tokensOf([]);
  expect(await tokensOf([], "p".repeat(4_000))).toBeGreaterThanOrEqual(bare + 1_000);
});
