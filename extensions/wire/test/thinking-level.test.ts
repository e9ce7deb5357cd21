import type { ThinkingLevel } from "@pi-agent/kernel";
import { TEST_MODEL } from "@pi-agent/testing/provider";
import { expect, test } from "vitest";
import { clampThinkingLevel, thinkingBudget } from "../src/thinking-level.ts";

test.each<[ThinkingLevel, object, ThinkingLevel]>([
  ["high", {}, "high"],
  ["max", {}, "high"],
  ["xhigh", { thinkingLevelMap: { max: "max" } }, "max"],
  ["off", { thinkingLevelMap: { off: null, minimal: null } }, "low"],
  ["medium", { thinkingLevelMap: { medium: null, high: null } }, "low"],
  ["high", { reasoning: false }, "off"],
])("%s is clamped by %j to %s", (asked, changes, expected) => {
  expect(clampThinkingLevel({ ...TEST_MODEL, ...changes }, asked)).toBe(expected);
});

test("a higher level has a larger budget, up to high", () => {
  const levels: ThinkingLevel[] = ["off", "minimal", "low", "medium", "high", "max"];
  expect(levels.map(thinkingBudget)).toEqual([0, 1_024, 2_048, 8_192, 16_384, 16_384]);
});
