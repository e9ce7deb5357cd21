import type { Flag, FlagValue, Registered } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { settleFlags } from "../src/flags.ts";

function registered(flags: Record<string, Flag>): ReadonlyMap<string, Registered<"flag">> {
  const owner = { name: "test", scope: "user" as const };
  return new Map(Object.entries(flags).map(([name, value]) => [name, { name, value, owner }]));
}

const flags = registered({
  plan: { type: "boolean", short: "p" },
  log: { type: "string", short: "l" },
  level: { type: "string", choices: ["low", "high"] },
  tag: { type: "string", multiple: true },
});

test.each<[string, FlagValue | undefined, string, FlagValue]>([
  ["plan", undefined, "plan", true],
  ["p", true, "plan", true],
  ["plan", "false", "plan", false],
  ["log", "x", "log", "x"],
  ["l", ["x", "y"], "log", "y"],
  ["level", "high", "level", "high"],
  ["tag", ["a", "b"], "tag", ["a", "b"]],
  ["tag", "a", "tag", ["a"]],
])("--%s with %j settles as %s: %j", (name, value, settledName, settled) => {
  expect([...settleFlags(new Map([[name, value]]), flags)]).toEqual([[settledName, settled]]);
});

test.each<[string, FlagValue | undefined, string, string]>([
  ["plam", undefined, "unknown_flag", "Did you mean --plan?"],
  ["taq", "x", "unknown_flag", "Did you mean --tag?"],
  ["completely-else", undefined, "unknown_flag", "pi --help lists the flags."],
  ["plan", "perhaps", "flag_value", "Write --plan alone."],
  ["log", undefined, "flag_value", "Write --log=<value>."],
  ["level", "hihg", "flag_value", "Did you mean high?"],
  ["level", "elsewhere", "flag_value", "It takes one of: low, high."],
])("--%s with %j fails with %s, and says what to do", (name, value, code, hint) => {
  const settle = () => settleFlags(new Map([[name, value]]), flags);
  expect(settle).toThrow(expect.objectContaining({ code, hint }));
});
