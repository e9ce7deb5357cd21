import { expect, test } from "vitest";
import { chooseTools, type ToolTable } from "../src/choose-tools.ts";

const tool = (scope: string, defaultActive?: boolean) => ({ value: { defaultActive }, owner: { scope } });
const tools = new Map([
  ["read", tool("official")],
  ["bash", tool("official")],
  ["grep", tool("official", false)],
  ["web_search", tool("user")],
  ["web_fetch", tool("user", false)],
]) as unknown as ToolTable;
const choose = (flags: Record<string, string | true>) => chooseTools(new Map(Object.entries(flags)), tools);

test.each([
  ["no flag leaves all as it is", {}, undefined],
  ["--no-tools", { "no-tools": true }, []],
  ["--tools names", { tools: "read, grep" }, ["read", "grep"]],
  ["--tools patterns", { tools: "web_*" }, ["web_search", "web_fetch"]],
  ["--tools changes", { tools: "+grep,-bash" }, ["read", "grep", "web_search"]],
  ["the last change of a name", { tools: "-web_*,+web_search" }, ["read", "bash", "web_search"]],
  ["--no-builtin-tools", { "no-builtin-tools": true }, ["web_search"]],
  ["--exclude-tools", { "exclude-tools": "web_*,bash" }, ["read"]],
  [
    "--exclude-tools over --tools",
    { tools: "*", "exclude-tools": "bash" },
    ["read", "grep", "web_search", "web_fetch"],
  ],
] as const)("%s: the tools that are on", (_, flags, expected) => {
  expect(choose(flags as never)).toEqual(expected);
});

test("a tool that is not there is refused, with the nearest", () => {
  expect(choose({ tools: "raed" })).toMatchObject({ what: "there is no tool raed", hint: "did you mean read?" });
  expect(choose({ "exclude-tools": "bahs" })).toMatchObject({ hint: "did you mean bash?" });
});

test("names and changes are not mixed", () => {
  expect(choose({ tools: "read,+grep" })).toMatchObject({ what: "--tools mixes two ways: read,+grep" });
});

test("switches that are set to false say nothing", () => {
  expect(
    chooseTools(
      new Map([
        ["no-tools", false],
        ["no-builtin-tools", false],
      ]),
      new Map(),
    ),
  ).toBeUndefined();
});

test.each([
  ["alone", {}, undefined],
  ["with a change", { tools: "+web_fetch,-read" }, ["grep", "web_fetch"]],
  ["with other names", { tools: "bash" }, ["bash"]],
  ["without one of them", { "exclude-tools": "grep" }, ["read"]],
  ["without the official ones", { "no-builtin-tools": true }, []],
] as const)("P13: the tools that an agent's file lists are its usual ones, %s", (_, flags, expected) => {
  expect(chooseTools(new Map(Object.entries(flags)), tools, ["read", "grep"])).toEqual(expected);
});
