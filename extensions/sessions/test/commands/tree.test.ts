import type { Extension } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import compaction from "../../../compaction/src/index.ts";
import { readSession } from "../../src/read.ts";
import { readLines, talk } from "./talk.ts";

const withCompaction = {
  official: [
    { owner: { name: "@pi-agent/compaction", scope: "official" as const }, extension: compaction as Extension },
  ],
};
const SUMMARY = "## Goal\nTo try the first way.\n\n## Next Steps\nNone.";

/** Answers; a request for a summary gets one, after `summary` is through. */
function withSummary(summary: () => Promise<void> = async () => {}) {
  return async ({ system }: { system: string }) => {
    if (!system.includes("notes for a colleague")) return { text: "Done." };
    await summary();
    return { text: SUMMARY };
  };
}

test("/tree shows what was said, where the conversation stands, and goes where the person chooses; what they said there is offered again", async () => {
  const { type, told, asked, said, offered, agent } = await talk();
  await type("one");
  await type("two");
  told();
  await type("/tree", "you: two");
  expect(asked[0]![0]).toMatch(/^Where does the conversation go on\?/);
  expect(asked[0]!.slice(1).map((line) => line.replace(/^\w+ {2}/, ""))).toEqual([
    "you: one",
    "pi: answer 1",
    "you: two",
    "pi: answer 3  <- here",
  ]);
  expect(said().map(({ text }) => text)).toEqual(["one"]);
  expect(offered()).toBe("two");
  expect(told()).toBe('The conversation goes on before "two". Files stay as they are: they are no part of the tree.');
  await type("another two");
  await type("/tree");
  expect(asked[1]!.slice(1).map((line) => line.replace(/^\w+ {2}/, ""))).toEqual([
    "you: one",
    "pi: answer 1",
    "├─ you: two",
    "│  pi: answer 3",
    "you: another two",
    "pi: answer 3  <- here",
  ]);
  expect(told()).toBe("The conversation stays where it is.");
  expect(agent.transcript.path().length).toBeGreaterThan(4);
});

test("an entry is named by its id, the beginning of it, its label or a dot; what names none is told, and nothing moves", async () => {
  const { type, told, said, agent } = await talk();
  await type("one");
  await type("two");
  const [one, two] = said();
  await type(`/label ${two!.id} the second one`);
  await type("/tree The second one");
  expect(said()).toEqual([one]);
  await type("again");
  await type(`/tree ${one!.id}`);
  expect(agent.transcript.leafId).toBe(agent.transcript.get(one!.id)!.parentId);
  told();
  const before = agent.transcript.leafId;
  for (const wrong of ["zzzz", "a", "--everything"]) {
    await type(`/tree ${wrong}`);
    expect(told()).toMatch(/^error: .+\n {2}try: .+$/);
  }
  expect(agent.transcript.leafId).toBe(before);
});

test("entries that are no part of the talk are left out, unless all is asked for or they have a label", async () => {
  const { type, asked, agent } = await talk();
  const [model] = agent.append([{ type: "model_change", provider: "other", modelId: "large" }]);
  await type("one");
  const isShown = () => asked.at(-1)!.some((line) => line.includes("model: other/large"));
  await type("/tree --all");
  expect(isShown()).toBe(true);
  await type("/tree");
  expect(isShown()).toBe(false);
  await type(`/label ${model!.id} from here on`);
  await type("/tree");
  expect(isShown()).toBe(true);
});

test("without a user interface /tree shows the tree and says what to type", async () => {
  const { type, told, asked } = await talk({ hasUI: false });
  await type("/tree");
  expect(told()).toBe("Nothing has been said in this session yet.");
  await type("one");
  await type("/tree");
  expect(told()).toMatch(/^\w+ {2}you: one\n\w+ {2}pi: answer 1 {2}<- here\n\/tree <id> goes to an entry\. .+$/);
  expect(asked).toEqual([]);
});

test("a branch that is left is kept as a summary, with what it cost", async () => {
  const { type, told, asked, said, agent } = await talk({ ...withCompaction, script: withSummary() });
  await type("one");
  await type("two");
  const [, two] = said();
  await type("/tree", "you: two", "Summarise it with a focus", "what failed");
  expect(asked.map(([title]) => title)).toEqual([
    expect.stringContaining("Where"),
    "Keep a summary of the branch that is left?",
    "What is it to look at",
  ]);
  expect(told()).toContain('The conversation goes on before "two".');
  const summary = agent.transcript.get(agent.transcript.leafId!)!;
  expect(summary).toMatchObject({ type: "branch_summary", parentId: agent.transcript.get(two!.id)!.parentId });
  expect(JSON.stringify(summary)).toContain("To try the first way.");
  expect(summary).toMatchObject({ fromId: expect.any(String), usage: { totalTokens: expect.any(Number) } });
  expect(JSON.stringify(agent.transcript.project())).toContain("To try the first way.");
  await type("instead");
  await type("/tree");
  expect(asked.at(-1)!.some((line) => line.includes("summary of a branch: To try the first way."))).toBe(true);
  const stored = readSession(agent.service("sessions")!.current!.file!)!;
  expect(stored.entries.filter(({ type: kind }) => kind === "branch_summary")).toHaveLength(1);
});

test("a label goes on the summary, or else on the place itself", async () => {
  const labelled: Extension = (pi) => {
    pi.registerCommand("go", {
      handler: async (id, ctx) => void (await ctx.navigateTree(id, { summarize: true, label: "marked" })),
    });
  };
  const owner = { name: "go", scope: "official" } as const;
  const official = [...withCompaction.official, { owner, extension: labelled }];
  const { type, told, said, agent } = await talk({ official, script: withSummary() });
  await type("one");
  await type("two");
  const answer = agent.transcript.leafId!;
  await type(`/go ${said()[0]!.id}`);
  await type("/label");
  expect(told()).toContain("[marked]  summary of a branch: To try the first way.");
  // Nothing is left behind on the way back to the end: there is nothing to summarise.
  await type(`/tree ${agent.transcript.get(answer)!.parentId} --summarize`);
  await type(`/go ${answer}`);
  await type("/label");
  expect(told()).toContain(`${answer}  [marked]  pi: Done.`);
});

test("where nothing is left behind no summary is made", async () => {
  let summaries = 0;
  const { type, told, said, agent } = await talk({
    ...withCompaction,
    script: withSummary(async () => void summaries++),
  });
  await type("one");
  await type("two");
  const end = agent.transcript.leafId!;
  await type(`/tree ${agent.transcript.get(said()[1]!.id)!.parentId}`);
  told();
  await type(`/tree ${end} --summarize`);
  expect(told()).toMatch(/^Nothing that was said is left behind.+\nThe conversation goes on after "Done\."/);
  expect(agent.transcript.leafId).toBe(end);
  expect(summaries).toBe(0);
});

test("a summary that fails leaves the conversation where it was, and is told in three parts", async () => {
  const { type, told, said, agent } = await talk({
    ...withCompaction,
    script: withSummary(() => Promise.reject(new Error("no"))),
  });
  await type("one");
  await type("two");
  const { leafId, size } = agent.transcript;
  told();
  await type(`/tree ${said()[0]!.id} --summarize`);
  expect(told()).toMatch(/error: .+\n {2}try: /);
  expect(agent.transcript).toMatchObject({ leafId, size });
});

test("a summary that is aborted leaves the conversation where it was, and no entry", async () => {
  const begun = Promise.withResolvers<void>();
  const summary = () => (begun.resolve(), new Promise<void>(() => {}));
  const { type, told, said, agent } = await talk({ ...withCompaction, script: withSummary(summary) });
  await type("one");
  await type("two");
  const { leafId, size } = agent.transcript;
  told();
  const going = type(`/tree ${said()[0]!.id} --summarize`);
  await begun.promise;
  await agent.abort("Ctrl-C");
  await going;
  expect(told()).toContain("Cancelled: the conversation stays where it was.");
  expect(agent.transcript).toMatchObject({ leafId, size });
});

test("without anything that makes summaries it is told, and nothing moves; where nothing is left there is none to make", async () => {
  const { type, told, said, agent } = await talk();
  await type("one");
  await type("two");
  const { leafId } = agent.transcript;
  told();
  await type(`/tree ${said()[0]!.id} --summarize`);
  expect(told()).toMatch(/^Summarising.+\nerror: .+\n {2}try: Go there without a summary/);
  expect(agent.transcript.leafId).toBe(leafId);
  await type("/tree .");
  expect(told()).toBe("The conversation stands there already.");
});

test("labels, context edits, compaction and summaries stay with their branches", async () => {
  const { type, asked, said, agent } = await talk({ ...withCompaction, script: withSummary() });
  await type("one");
  await type("two");
  const [one, two] = said();
  agent.append([{ type: "context_edit", targetId: one!.id, replacement: { content: "edited one" } }]);
  await type("three");
  await type(`/tree ${two!.id} --summarize`);
  await type("/label . left here");
  await type("second way");
  agent.append([{ type: "compaction", summary: "All of it.", firstKeptEntryId: null, tokensBefore: 10 }]);
  await type("after it");
  const projected = JSON.stringify(agent.transcript.project());
  expect(projected).toContain("All of it.");
  expect(projected).not.toContain("edited one");
  await type("/tree");
  const lines = asked.at(-1)!;
  expect(lines.find((line) => line.includes("[left here]"))).toContain("summary of a branch");
  expect(lines.find((line) => line.includes("you: three"))).toContain("│");
  await type("/tree", "pi: Done.", "No summary");
  const file = agent.service("sessions")!.current!.file!;
  expect(readLines(file).filter(({ type: kind }) => kind === "context_edit")).toHaveLength(1);
});
