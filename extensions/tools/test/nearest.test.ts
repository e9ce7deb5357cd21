import { expect, test } from "vitest";
import { nearestName } from "../src/nearest.ts";

const NAMES = ["README.md", "package.json", "src", "index.ts", "main.tsx", "a"];

test.each([
  ["readme.md", "README.md"],
  ["READEM.md", "README.md"],
  ["packge.json", "package.json"],
  ["scr", "src"],
  ["index.js", "index.ts"],
  ["main.ts", "main.tsx"],
  ["something else", undefined],
])("the nearest to %s is %s", (wanted, near) => {
  expect(nearestName(wanted, NAMES)).toBe(near);
});
