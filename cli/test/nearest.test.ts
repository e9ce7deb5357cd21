import { expect, test } from "vitest";
import { findNearest } from "../src/nearest.ts";

const NAMES = ["model", "models", "mode", "print", "continue"];

test.each([
  ["modle", "model"],
  ["PRINT", "print"],
  ["cntinue", "continue"],
  ["moed", "mode"],
  ["modelss", "models"],
  ["something-else", undefined],
  ["x", undefined],
  ["", undefined],
])("%j is nearest to %j", (typed, expected) => {
  expect(findNearest(typed, NAMES)).toBe(expected);
});
