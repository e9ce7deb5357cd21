import { createAgent } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { BUILT_IN } from "../src/commands/built-in.ts";
import { DEFAULT_PACKAGES } from "../src/default-packages.ts";
import { FLAGS } from "../src/flags.ts";
import { HELP } from "../src/help.ts";

const lines = HELP.trimEnd().split("\n");

// For who writes tests and demos; pi doctor tells about them.
const UNSAID = new Set(["--cassette", "--record-cassette", "--cassette-speed"]);

test("the help fits a screen of 80 columns and 40 lines", () => {
  expect(lines.length).toBeLessThanOrEqual(40);
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
});

test("the help names every flag and sub-command of the default agent, no other, and where more is", async () => {
  const agent = createAgent({ extensions: [...DEFAULT_PACKAGES] });
  await agent.ready();
  const registered = [...agent.registry("flag")].map(([name, { value }]) => ({ name, short: value.short }));
  const commands = [...BUILT_IN.keys(), ...agent.registry("cli").keys()];
  await agent.dispose();
  const flags = [...FLAGS, ...registered].flatMap(({ name, short }) => [`--${name}`, ...(short ? [`-${short}`] : [])]);
  const said = new Set(HELP.match(/(?<![\w,+-])--?[a-z][\w-]*/g));
  expect([...said].toSorted()).toEqual([...new Set(flags)].filter((flag) => !UNSAID.has(flag)).toSorted());
  expect(commands.filter((name) => !HELP.includes(name))).toEqual([]);
  expect(HELP).toContain("README.md");
});
