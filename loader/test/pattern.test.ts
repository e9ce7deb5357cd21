import { expect, test } from "vitest";
import { matchesPattern, toPattern } from "../src/pattern.ts";

test.each([
  ["*.ts", "a.ts", true],
  ["*.ts", "x/a.ts", false],
  ["./*.ts", "a.ts", true],
  ["a?.ts", "ab.ts", true],
  ["a?.ts", "a.ts", false],
  ["**/*.ts", "a.ts", true],
  ["**/*.ts", "x/y/a.ts", true],
  ["x/**", "x/y/a.ts", true],
  ["x/**", "x", false],
  ["x/**/a.ts", "x/a.ts", true],
  ["**/x/**/b*c", "x/q/x/y/bac", true],
  ["**/x/**/b*c", "q/y/bac", false],
  ["*a*b", "aab", true],
  ["*a*b", "aaba", false],
  ["{a,b}", "a", false],
  ["{a,b}", "{a,b}", true],
  ["[ab]", "a", false],
  ["a.b", "axb", false],
])("the pattern %s on %s: %s", (pattern, path, isMatch) => {
  expect(matchesPattern(path, toPattern(pattern))).toBe(isMatch);
});
