import { expect, test } from "vitest";
import { nearestNames } from "../src/nearest-names.ts";

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
  expect(nearestNames(typed, NAMES, 1)[0]).toBe(expected);
});
