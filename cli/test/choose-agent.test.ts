import type { Flag, FlagValue } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { parseArguments } from "../src/arguments.ts";
import { chooseAgent, judgeAgentName, namesFile } from "../src/choose-agent.ts";

test.each([
  ["./agent.json", true],
  ["agent.json", true],
  ["AGENT.JSON", true],
  ["folder/", true],
  ["a\\b", true],
  [".", true],
  ["..", true],
  ["reviewer", false],
  ["json", false],
  ["reviewer.md", false],
])("P13: --agent %s is a file or folder: %s", (value, isFile) => {
  expect(namesFile(value)).toBe(isFile);
});

test("P14: a name is for the package that knows agents by name; without it, it is said what is missing", async () => {
  const flags = new Map<string, FlagValue>([["agent", "reviewer"]]);
  expect(await chooseAgent(flags, undefined)).toBeUndefined();
  const flag = { value: { type: "string" } as Flag };
  expect(judgeAgentName(flags, new Map([["agent", flag]]))).toBeUndefined();
  expect(judgeAgentName(flags, new Map())).toEqual({
    what: 'There is no agent "reviewer"',
    why: "no package that is loaded knows agents by name",
    hint: "name its file: --agent ./reviewer.json; or load the package: pi install npm:@pi-agent/agents",
  });
  expect(judgeAgentName(new Map([["agent", "./x.json"]]), new Map())).toBeUndefined();
  expect(judgeAgentName(new Map(), new Map())).toBeUndefined();
});

test.each([["--agent="], ["--agent", "--print"]])("an agent without a name is wrong usage: %s", (...argv) => {
  expect(parseArguments(argv).problem?.what).toMatch(/^--agent/);
});
