import { expect, test } from "vitest";
import { readIgnoreFile } from "../src/ignore-rules.ts";

test.each([
  ["*.md", "x/a.md", false, true],
  ["/*.md", "x/a.md", false, false],
  ["x/*.md", "x/a.md", false, true],
  ["x/", "x", true, true],
  ["x/", "x", false, false],
  ["x/**", "x", true, false],
  ["# a\n\n\\#b \r\n", "#b", false, true],
  ["*.md\n!a.md", "a.md", false, false],
  ["!a.md\n*.md", "a.md", false, true],
  ["README.md", "readme.md", false, true],
])("the ignore file %j on %s (folder: %s): %s", (text, path, isFolder, isOut) => {
  expect(readIgnoreFile(text, ".gitignore")(path, isFolder)).toBe(isOut);
});
