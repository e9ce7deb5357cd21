import { expect, test } from "vitest";
import { globMatcher } from "../src/glob-match.ts";

test("a pattern of forty wildcards is held against a long name and a deep path at once", () => {
  expect(globMatcher(`${"*a".repeat(40)}*b`, false)("a".repeat(200))).toBe(false);
  expect(globMatcher(`${"*a".repeat(40)}*b`, false)(`${"a".repeat(200)}b`)).toBe(true);
  expect(globMatcher(`${"**/a/".repeat(40)}b`, false)("a/".repeat(200))).toBe(false);
});

test.each([
  ["a/**/b", "a/b a/x/b a/x/y/b", "b ab x/a/b"],
  ["a/**", "a a/b a/b/c", "b ab"],
  ["**/*.ts", "x.ts a/x.ts", "x.js"],
  ["a**b", "ab axb", "a/b"],
  ["?.{ts,js}", "a.ts b.js \u{1f600}.ts", "ab.ts a.tsx"],
  ["{a,b{c,d}}/x", "a/x bc/x bd/x", "b/x"],
  ["{a}", "{a}", "a"],
  ["v{8..10}", "v8 v9 v10", "v7 v1"],
  ["[a-c]x", "ax cx [a-c]x", "dx -x"],
  ["[!a-c]x", "dx", "ax"],
  ["[]a]", "] a", "b"],
  ["\\*\\{", "*{", "a{"],
  [".*", ".env", "env"],
])("%s matches %s and not %s", (pattern, matching, others) => {
  const isMatch = globMatcher(pattern, false);
  expect(matching.split(" ").filter((path) => !isMatch(path))).toEqual([]);
  expect(others.split(" ").filter(isMatch)).toEqual([]);
});

test.each(["[", "]", "{a", "a}", "{a,b}".repeat(9), "{1..999999999}"])("%s is refused", (pattern) => {
  expect(() => globMatcher(pattern, false)).toThrow();
});
