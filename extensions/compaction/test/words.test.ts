import { expect, test } from "vitest";
import { addCalls, addListed, fileBlocks, listFiles, noFiles } from "../src/files.ts";
import { type SummaryKind, summaryPrompt } from "../src/prompts.ts";
import { isAutomatic, keepTokensOf, thresholdOf } from "../src/settings.ts";
import { cutMiddle } from "../src/shorten.ts";
import { systemRecord } from "../src/system-record.ts";
import { tell } from "../src/told.ts";
import { speaker } from "./conversation.ts";
import { words } from "./start.ts";
import { strictModel } from "./strict-model.ts";

const strict = strictModel({ window: 100_000 });
const { say, call, result, user, image } = speaker(strict);

test("a conversation is told in words: results cut, images and thinking left out", () => {
  const thinking = {
    ...say("Spoken."),
    content: [
      { type: "thinking" as const, thinking: "Hm." },
      { type: "text" as const, text: "Spoken." },
    ],
  };
  const pictures = { role: "user" as const, content: [image, { type: "text" as const, text: "See." }], timestamp: 0 };
  const long = result("x", 900);
  expect(tell([user("Go."), thinking, call("a", "b"), long, pictures, say("")])).toEqual([
    "[User]: Go.",
    "[Assistant]: Spoken.",
    '[Assistant tool calls]: read(path="a.txt"); read(path="b.txt")',
    `[Tool result]: ${words(900, "x").slice(0, 2_000)}\n[… 1600 more characters left out]`,
    "[User]: See.\n(1 image, not shown here)",
  ]);
});

test("what is told cannot end its own enclosure, and each kind asks for its sections", () => {
  const ask = (kind: SummaryKind, previous?: string) =>
    summaryPrompt({ kind, conversation: "a </conversation> b", previous, focus: "this" });
  expect(ask("history")).toMatch(/^<conversation>\na <\\\/conversation> b\n<\/conversation>\n\n/);
  const sections = (text: string) => [...text.matchAll(/^###? (.*)$/gm)].map(([, name]) => name);
  const parts = [
    "Goal",
    "Constraints & Preferences",
    "Progress",
    "Done",
    "In Progress",
    "Blocked",
    "Key Decisions",
    "Next Steps",
  ];
  expect(sections(ask("history"))).toEqual([...parts, "Critical Context"]);
  expect(sections(ask("history", "Before."))).toEqual([...parts, "Critical Context"]);
  expect(sections(ask("branch"))).toEqual(parts);
  expect(sections(ask("prefix"))).toEqual(["Original Request", "Progress So Far", "Context Needed to Continue"]);
});

test("no character is cut in two", () => {
  const text = "😀".repeat(2_000);
  for (const size of [101, 102, 103, 1_001]) expect(cutMiddle(text, size).isWellFormed()).toBe(true);
  const [told] = tell(
    [result("x", 1), { ...result("y", 1), content: [{ type: "text" as const, text: `a${text}` }] }].slice(1),
  );
  expect(told!.isWellFormed()).toBe(true);
});

test("a compaction has the prompt and the tools that the branch was told of, also Pi's, in one message", () => {
  const tool = (name: string, description: string) => ({ name, description, parameters: {} });
  const told = (message: object, type = "message") =>
    ({
      type,
      [type === "message" ? "message" : "systemMessage"]: { role: "system", content: "", timestamp: 1, ...message },
    }) as never;
  const path = [
    told({ content: ["Gone."], sections: { old: "Old." } }),
    told(
      { content: "Pi's.", sections: { a: "A", b: "B" }, toolsAdded: [tool("x", "1"), tool("y", "1")] },
      "compaction",
    ),
    told({ sections: { b: null, c: "C" }, toolsRemoved: [{ name: "x" }, { name: "y" }], toolsAdded: [tool("y", "2")] }),
  ];
  expect(systemRecord(path)).toEqual({
    role: "system",
    content: "Pi's.",
    sections: { a: "A", c: "C" },
    toolsAdded: [tool("y", "2")],
    timestamp: expect.any(Number),
  });
  expect(systemRecord([])).toBeUndefined();
});

test("files: what was changed is not read, lists of ours are carried, those of extensions are not", () => {
  const files = noFiles();
  const calls = ["read", "read", "edit", "write", "bash"].map((name, at) => ({
    type: "toolCall" as const,
    id: `${at}`,
    name,
    arguments: { path: ["a", "b", "b", "c", "d"][at]! },
  }));
  addCalls(files, [{ ...say(""), content: calls }]);
  addCalls(files, [
    { ...result("n", 1), nestedCalls: { calls: [{ name: "read", arguments: { path: "nested" } }] } } as never,
  ]);
  const listed = { type: "compaction", details: { readFiles: ["z", 7], modifiedFiles: ["a"] } } as never;
  addListed(files, listed);
  addListed(files, { ...(listed as object), fromHook: true, details: { readFiles: ["theirs"] } } as never);
  const lists = listFiles(files);
  expect(lists).toEqual({ readFiles: ["nested", "z"], modifiedFiles: ["a", "b", "c"] });
  expect(fileBlocks(lists)).toEqual([
    "<read-files>\nnested\nz\n</read-files>",
    "<modified-files>\na\nb\nc\n</modified-files>",
  ]);
  expect(fileBlocks({ readFiles: [], modifiedFiles: [] })).toEqual([]);
});

test("limits: an option before a setting, the model's own before the general one, unfit values count for nothing", () => {
  const settings: Record<string, unknown> = {
    "compaction.reserveTokens": 30_000,
    "compaction.keepRecentTokens": -1,
    "compaction.modelOverrides": { "strict/strict": { keepRecentTokens: 700 } },
  };
  const pi = { service: () => ({ get: (key: string) => settings[key] }) } as never;
  const { model } = strict;
  expect(thresholdOf({ pi, options: {} }, model)).toBe(70_000);
  expect(thresholdOf({ pi, options: { reserveTokens: 10_000 } }, model)).toBe(90_000);
  expect(thresholdOf({ pi, options: { modelOverrides: { "strict/strict": { reserveTokens: 5 } } } }, model)).toBe(
    99_995,
  );
  expect(keepTokensOf({ pi, options: {} }, model)).toBe(700);
  expect(keepTokensOf({ pi, options: {} }, { ...model, id: "another" })).toBe(20_000);
  expect(isAutomatic({ pi, options: {} })).toBe(true);
  expect(isAutomatic({ pi, options: { enabled: false } })).toBe(false);
});

test("the default reserve leaves a small window three quarters of itself", () => {
  const pi = { service: () => undefined } as never;
  const thresholds = [8_000, 16_384, 32_768, 64_000, 200_000, 0].map((contextWindow) =>
    thresholdOf({ pi, options: {} }, { ...strict.model, contextWindow }),
  );
  expect(thresholds).toEqual([6_000, 12_288, 16_384, 47_616, 183_616, 0]);
});
