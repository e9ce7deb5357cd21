import type { Message } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { batches, speaker } from "./conversation.ts";
import { entriesOf, start, talker, words } from "./start.ts";
import { askedIn, measure, strictModel } from "./strict-model.ts";

test("F094 a history of five windows with a giant result and ten images is summarised, no request too long", async () => {
  const strict = strictModel({ window: 8_000 });
  const { call, result, user, say, image } = speaker(strict);
  const pictures: Message = { role: "user", content: Array.from({ length: 10 }, () => image), timestamp: 0 };
  const entries = entriesOf([
    user("Remember the word kumquat."),
    call("giant"),
    result("giant", 30_000),
    pictures,
    ...batches(strict, 6),
    user(words(4_000)),
    say(words(6_000)),
  ]);
  const { agent, prompt, compactions } = await start({ strict, entries });
  expect(agent.transcript.project().length).toBeGreaterThan(40);
  await prompt("Go on.");
  expect(strict.problems).toEqual([]);
  expect(compactions()).toHaveLength(1);
  expect(strict.summaries().length).toBeGreaterThan(1);
  for (const request of strict.requests) expect(measure(request)).toBeLessThanOrEqual(8_000);
  const asked = JSON.stringify(strict.summaries().map(({ messages }) => messages));
  expect(asked).toContain("kumquat");
  expect(asked).toContain("10 images, not shown here");
  expect(asked).not.toContain(image.data);
  expect(strict.turns()).toHaveLength(1);
  expect(agent.transcript.project().at(-1)).toMatchObject({ content: [{ text: "done" }] });
});

test("F094 each next part is added to the summary of those before it", async () => {
  const strict = strictModel({ window: 8_000, summary: (at) => ({ text: `## Goal\nPart ${at}.` }) });
  const { user, say } = speaker(strict);
  const entries = entriesOf([
    user("Begin."),
    say(words(6_000)),
    user("And?"),
    say(words(6_000)),
    user("So?"),
    say("So."),
  ]);
  const { agent, compactions } = await start({ strict, entries });
  await agent.service("compaction")!.compact();
  const texts = strict.summaries().map(({ messages }) => askedIn({ messages }));
  expect(texts[0]).not.toContain("<previous-summary>");
  expect(texts[1]).toContain("<previous-summary>\n## Goal\nPart 0.\n</previous-summary>");
  expect(compactions()[0]!.summary).toContain(`Part ${texts.length - 1}.`);
});

test("F094 a request that the service finds too long all the same is made again with half of it", async () => {
  // It counts four times as many tokens as are estimated.
  const strict = strictModel({
    window: 40_000,
    summary: (_at, request) =>
      measure(request) > 9_000 ? { fail: "context_overflow" } : { text: "## Goal\nTo go on." },
  });
  const entries = entriesOf(batches(strict, 100));
  const { agent, compactions } = await start({ strict, entries });
  await agent.service("compaction")!.compact();
  expect(compactions()).toHaveLength(1);
  expect(strict.problems).toEqual([]);
});

test("F094 where no request is short enough, the failure leaves the state as it was", async () => {
  const strict = strictModel({ window: 8_000, summary: () => ({ fail: "context_overflow" }) });
  const { agent } = await start({ strict, entries: entriesOf(batches(strict, 60)) });
  const before = agent.transcript.path();
  await expect(agent.service("compaction")!.compact()).rejects.toMatchObject({ code: "compaction_failed" });
  expect(agent.transcript.path()).toEqual(before);
  expect(strict.summaries()).toHaveLength(5);
});

test("F095 messages of 5, 90,000 and 5 tokens at a window of 32,000: the giant is not kept, the request fits", async () => {
  const strict = strictModel({ window: 32_000 });
  const { user, say, call, result } = speaker(strict);
  const entries = entriesOf([
    ...batches(strict, 10),
    user("Look at it all."),
    call("giant"),
    result("giant", 90_000),
    say("I see it."),
  ]);
  const { prompt, compactions } = await start({ strict, entries });
  await prompt("And now?");
  expect(strict.problems).toEqual([]);
  expect(compactions()).toHaveLength(1);
  expect(strict.turns()).toHaveLength(1);
  const sent = JSON.stringify(strict.turns()[0]!.messages);
  expect(sent).toContain("I see it.");
  expect(sent).toContain("And now?");
});

test("F095 a giant result that the model has not seen yet is sent without its middle, and says so", async () => {
  const strict = strictModel({
    window: 32_000,
    turn: (at) =>
      at === 0
        ? {
            calls: [
              { id: "x", name: "talk" },
              { id: "y", name: "talk" },
            ],
          }
        : { text: "I see." },
  });
  const { agent, prompt } = await start({
    strict,
    entries: entriesOf(batches(strict, 10)),
    extensions: [talker(45_000)],
  });
  await prompt("Look.");
  expect(strict.problems).toEqual([]);
  expect(strict.turns()).toHaveLength(2);
  const [one, other] = strict.turns()[1]!.messages.slice(-2);
  for (const message of [one!, other!]) {
    expect(message.role).toBe("toolResult");
    expect(JSON.stringify(message.content)).toContain("characters left out: too long for the context window");
  }
  // The record has all of it.
  const kept = agent.transcript
    .path()
    .filter((entry) => entry.type === "message" && entry.message.role === "toolResult");
  expect(JSON.stringify(kept.at(-1)).length).toBeGreaterThan(170_000);
});

test("a first prompt that is longer than the window is sent without its middle, without a summary", async () => {
  const strict = strictModel({ window: 8_000 });
  const { prompt, compactions, notices } = await start({ strict });
  await prompt(`Begin with this. ${words(20_000)} End with that.`);
  expect(strict.problems).toEqual([]);
  expect(strict.summaries()).toEqual([]);
  expect(compactions()).toEqual([]);
  const sent = askedIn(strict.turns().at(-1)!);
  expect(sent).toMatch(/^Begin with this\..*characters left out.*End with that\.$/s);
  expect(notices).toMatchObject([{ level: "warning" }]);
  await prompt("Short.");
  expect(strict.turns()).toHaveLength(2);
});

test("what was shortened once is not shortened again at each turn", async () => {
  const strict = strictModel({ window: 8_000 });
  const { agent, prompt } = await start({ strict, agent: { systemPrompt: words(5_500) } });
  await prompt(words(20_000));
  for (let at = 0; at < 5; at++) await prompt("hi");
  expect(strict.problems).toEqual([]);
  const edits = agent.transcript.path().filter((entry) => entry.type === "context_edit" && entry.replacement !== null);
  expect(edits).toHaveLength(1);
});

test("a small window of 8,000 goes on for many turns, and each request fits", async () => {
  const strict = strictModel({ window: 8_000, turn: (at) => ({ text: words(300, `answer${at}`) }) });
  const { prompt, compactions } = await start({ strict });
  for (let at = 0; at < 60; at++) await prompt(`Prompt ${at}: ${words(100)}`);
  expect(strict.problems).toEqual([]);
  expect(strict.turns()).toHaveLength(60);
  expect(compactions().length).toBeGreaterThan(4);
  expect(compactions().length).toBeLessThan(15);
});

test("one turn that is larger than the budget is divided: its beginning is summarised, and its request is quoted", async () => {
  const strict = strictModel({
    window: 8_000,
    turn: (at) => (at < 20 ? { calls: [{ id: `c${at}`, name: "talk" }] } : { text: "done" }),
    summary: (_at, { messages }) => ({
      text: askedIn({ messages }).includes("form:\n\n## Original Request")
        ? "## Original Request\nOne."
        : "## Goal\nAll.",
    }),
  });
  const { prompt, compactions } = await start({ strict, extensions: [talker(500)] });
  await prompt("Look into all of it, and mind the kumquat.");
  expect(strict.problems).toEqual([]);
  const [first, second] = compactions();
  expect(first!.summary).toBe(
    [
      "Nothing was said before this turn.",
      "---",
      "**Turn Context (split turn):**",
      "## Original Request\nOne.",
      "<last-request>\nLook into all of it, and mind the kumquat.\n</last-request>",
    ].join("\n\n"),
  );
  // The next one brings the first up to date, and quotes the request again.
  expect(second!.summary).toContain("## Goal\nAll.");
  expect(second!.summary.match(/<last-request>/g)).toHaveLength(1);
  const update = strict.summaries().find(({ messages }) => askedIn({ messages }).includes("<previous-summary>"))!;
  expect(askedIn(update)).not.toContain("<last-request>");
});

test("a conversation of nothing but images is compacted", async () => {
  const strict = strictModel({ window: 16_000 });
  const { image } = speaker(strict);
  const pictures: Message[] = Array.from({ length: 12 }, () => ({ role: "user", content: [image], timestamp: 0 }));
  const { prompt, compactions } = await start({ strict, entries: entriesOf(pictures) });
  await prompt("What do you see?");
  expect(strict.problems).toEqual([]);
  expect(compactions()).toHaveLength(1);
  expect(askedIn(strict.summaries()[0]!)).toContain("[User]: (1 image, not shown here)");
});

test("a single message of more images than there is room for is sent with a word for each", async () => {
  const strict = strictModel({ window: 8_000 });
  const { image } = speaker(strict);
  const { agent } = await start({ strict });
  await agent.input("Compare these.", { images: Array.from({ length: 9 }, () => image) });
  await agent.settled();
  expect(strict.problems).toEqual([]);
  expect(strict.turns().at(-1)!.messages[0]!.content).toMatch(/^Compare these\.\n\[image left out\]/);
  expect(agent.transcript.project().at(-1)).toMatchObject({ role: "assistant" });
});

test("where every character is a token, an overflow shrinks the conversation by what the service counts", async () => {
  const strict = strictModel({
    window: 40_000,
    takesAll: true,
    // Twice the estimate is what this service counts.
    turn: (_at, request) =>
      2 * measure(request) > 40_000 ? { fail: "context_overflow" } : { text: "done", usage: {} },
    summary: (_at, request) =>
      2 * measure(request) > 40_000 ? { fail: "context_overflow" } : { text: "## Goal\nOn." },
  });
  const { agent, prompt, compactions } = await start({ strict, entries: entriesOf(batches(strict, 58)) });
  await prompt("Go on.");
  expect(compactions()).toHaveLength(1);
  expect(agent.transcript.project().at(-1)).toMatchObject({ content: [{ text: "done" }] });
});
