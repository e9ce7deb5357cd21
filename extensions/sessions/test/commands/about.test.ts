import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { answered, resulted, SAMPLES, said } from "../../src/conformance/samples.ts";
import { countSession } from "../../src/export/statistics.ts";
import { folderName } from "../../src/location.ts";
import { readLines, talk } from "./talk.ts";

const at = (id: string, parentId: string | null = null) => ({ id, parentId });

test("statistics count all entries: every message, call, token and dollar, also of what was compacted or left", () => {
  const tree = [
    said(at("a")),
    answered(at("b", "a"), "call-1"),
    resulted(at("c", "b"), "call-1"),
    answered(at("d", "a"), "call-2"),
    SAMPLES.compaction(at("e", "d"), "a"),
    SAMPLES.branch_summary(at("f", "e"), "a"),
    SAMPLES.usage(at("g", "f"), "a"),
  ];
  const withUsage = tree.filter((entry) => "usage" in entry && entry.usage).length;
  const counts = countSession(tree);
  expect(counts).toMatchObject({
    userMessages: 1,
    assistantMessages: 2,
    toolResults: 1,
    toolCalls: 2,
    totalMessages: 4,
    entries: 7,
  });
  expect(counts.tokens.input).toBe(100 * (2 + withUsage));
  expect(counts.tokens.total).toBe(120 * (2 + withUsage));
  expect(counts.cost).toBeCloseTo(0.3 * (2 + withUsage));
});

test("figures of others that are no figures count nothing", () => {
  const odd = answered(at("b"), "call-1") as { message: { usage: unknown } };
  for (const usage of [undefined, null, { input: "7", output: Number.NaN, cost: null }]) {
    odd.message.usage = usage;
    expect(countSession([odd as never])).toMatchObject({ cost: 0, tokens: { total: 0 } });
  }
});

test("/name gives the session a name, and tells it", async () => {
  const { type, told, agent } = await talk();
  await type("/name");
  expect(told()).toBe("This session has no name. /name <text> gives it one.");
  await type("/name  Two  words ");
  expect(told()).toBe("This session is called: Two words");
  await type("hello");
  const [info] = await agent.service("sessions")!.list();
  expect(info!.name).toBe("Two words");
});

test("/session tells file, id, what it holds on all branches, what it took, and who writes to it", async () => {
  const { type, told, said: saidNow, agent } = await talk();
  await type("one");
  await type("two");
  await type(`/tree ${saidNow()[1]!.id}`);
  await type("three");
  told();
  await type("/session");
  const { id, file } = agent.service("sessions")!.current!;
  const text = told();
  expect(text).toContain(`id       ${id}\n`);
  expect(text).toContain(`file     ${file!}\n`);
  expect(text).toContain("3 prompts, 3 answers, 0 results of 0 calls; ");
  expect(text).toMatch(/took {5}[\d,]+ tokens \(/);
  expect(text).toContain(`kept     by this process, ${process.pid};`);
  expect(text).toMatch(/context {2}[\d,]+ of 1,000,000 tokens/);
});

test("/session says so where nothing is reserved for this process", async () => {
  const one = await talk();
  await one.type("/session");
  expect(one.told()).toContain("kept     nowhere yet");
  // A file where the folder of leases and sessions would be.
  const folder = join(one.folder, folderName(one.path));
  mkdirSync(one.folder);
  writeFileSync(folder, "in the way");
  await one.type("one");
  one.told();
  await one.type("/session");
  expect(one.told()).toMatch(/^kept .+ others may write to it too/m);
});

test("/label sets a label, lists them, and takes one away; the last one counts", async () => {
  const { type, told, said: saidNow, agent } = await talk();
  await type("/label");
  expect(told()).toMatch(/^There are no labels\./);
  await type("one");
  const [one] = saidNow();
  await type(`/label ${one!.id} first try`);
  await type(`/label ${one!.id} second try`);
  await type("/label . the answer");
  told();
  await type("/label");
  expect(told().split("\n")).toEqual([
    `${one!.id}  [second try]  you: one`,
    expect.stringMatching(/^\w+ {2}\[the answer\] {2}pi: answer 1$/),
  ]);
  await type(`/label ${one!.id}`);
  await type("/label the answer again");
  await type("/label");
  expect(told()).toContain("No label any more");
  await type("two");
  const lines = readLines(agent.service("sessions")!.current!.file!);
  expect(lines.filter(({ type: kind }) => kind === "label")).toHaveLength(4);
  expect(lines.findLast(({ type: kind }) => kind === "label")).not.toHaveProperty("label");
});
