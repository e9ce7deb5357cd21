import { expect, test } from "vitest";
import { toPrintable } from "../src/printable.ts";
import { wordHeld } from "../src/report.ts";
import { planOf, project } from "./loading.ts";

test("what is held back is one line, with what can run first", async () => {
  const at = await project({ files: { ".pi/settings.json": "{}", ".pi/extensions/a.ts": "", "AGENTS.md": "" } });
  expect(wordHeld(await planOf(at))).toBe(
    "2 project resources held back (1 extension, 1 settings file): look with pi trust show, allow with pi trust yes, or with --approve for one run",
  );
});

test("what is refused is named with its reason, also beside what is held", async () => {
  const refused = { ".pi/extensions/x/package.json": "{" };
  const only = await project({ files: refused });
  expect(wordHeld(await planOf(only))).toBe(
    "1 project resource refused (.pi/extensions/x has a package.json that is no valid JSON object): look with pi trust show",
  );
  const both = await project({ files: { ...refused, ".pi/prompts/p.md": "", ".pi/extensions/y/package.json": "[" } });
  expect(wordHeld(await planOf(both))).toBe(
    "1 project resource held back (1 prompt), 2 refused (.pi/extensions/x has a package.json that is no valid JSON " +
      "object, and 1 more): look with pi trust show, allow with pi trust yes, or with --approve for one run",
  );
});

test("nothing held and nothing refused is no line", async () => {
  expect(wordHeld(await planOf(await project({ files: { "AGENTS.md": "" } })))).toBeUndefined();
});

test.each([
  ["plain é 漢 🙂", "plain é 漢 🙂"],
  ["\u001b[2K\rnothing to load", "\\u{1b}[2K\\u{d}nothing to load"],
  ["a\u202eb\u200bc\u2028d\n", "a\\u{202e}b\\u{200b}c\\u{2028}d\\u{a}"],
  ["\u{e0041}", "\\u{e0041}"],
])("a name that could hide or move text is spelled out: %j", (text, shown) => {
  expect(toPrintable(text)).toBe(shown);
});
