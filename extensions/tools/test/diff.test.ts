import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { diffOf } from "../src/diff.ts";
import { applyEdits } from "../src/edit-match.ts";
import { tempFolder } from "./tool-call.ts";

const LINES = Array.from({ length: 30 }, (_, index) => `l${index}\n`).join("");

async function diff(original: string, ...edits: [string, string][]) {
  const edited = applyEdits(
    original,
    edits.map(([oldText, newText]) => ({ oldText, newText })),
  );
  return { ...(await diffOf("file", original, edited.spans)), text: edited.text };
}

test.each<[string, string, [string, string][]]>([
  ["one line", LINES, [["l9", "L9"]]],
  [
    "the first and the last line",
    LINES,
    [
      ["l0\n", ""],
      ["l29\n", "end"],
    ],
  ],
  [
    "edits far apart and close together",
    LINES,
    [
      ["l3\n", ""],
      ["l4\n", "x\ny\n"],
      ["l20", "z"],
      ["l10\nl11\nl12", "l10\nnew\nl12"],
    ],
  ],
  ["lines that flow together", "a\nb\nc\n", [["b\n", "b"]]],
  [
    "two edits in one line",
    "one two three\nfour\n",
    [
      ["one", "1"],
      ["three\n", "3 "],
    ],
  ],
  ["a missing final newline", "a\nb", [["b", "B"]]],
  ["a final newline added", "a\nb", [["b", "b\n"]]],
  ["a final newline taken", "a\nb\n", [["b\n", "b"]]],
  ["everything replaced", "a\nb\n", [["a\nb\n", "c"]]],
  ["everything gone", "a\nb\n", [["a\nb\n", ""]]],
  ["CRLF", "a\r\nb\r\nc\r\n", [["b", "B\nC"]]],
  ["large blocks with common lines", LINES, [[LINES.slice(0, 60), LINES.slice(0, 60).replaceAll("l1", "m1")]]],
])("the patch makes the new file of the old one: %s", async (_name, original, edits) => {
  const folder = tempFolder();
  writeFileSync(join(folder, "file"), original);
  const { patch, text } = await diff(original, ...edits);
  execFileSync("git", ["init", "-q"], { cwd: folder });
  const normal = patch!.replace("--- file", "--- a/file").replace("+++ file", "+++ b/file");
  execFileSync("git", ["apply", "--whitespace=nowarn", "-"], { cwd: folder, input: normal });
  expect(readFileSync(join(folder, "file"), "utf8")).toBe(text);
});

test("the display has four lines of context, numbers and gaps", async () => {
  const { diff: display, firstChangedLine } = await diff(LINES, ["l5\n", ""], ["l25", "L25"]);
  expect(firstChangedLine).toBe(6);
  expect(display.split("\n")).toEqual([
    "  2 l1", "  3 l2", "  4 l3", "  5 l4", "- 6 l5", "  6 l6", "  7 l7", "  8 l8", "  9 l9",
    "    ...",
    " 21 l21", " 22 l22", " 23 l23", " 24 l24", "-26 l25", "+25 L25", " 26 l26", " 27 l27", " 28 l28", " 29 l29",
  ]); // biome-ignore format: the table is the drawing
});

test("lines and patches of great length are bounded", async () => {
  const { diff: display, patch } = await diff(`${"x".repeat(300_000)} a\n`, [" a", " b"]);
  expect(display.length).toBeLessThan(2_100);
  expect(patch).toBeUndefined();
});
