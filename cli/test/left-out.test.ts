import { createAgent } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { DEFAULT_PACKAGES } from "../src/default-packages.ts";
import { FLAGS } from "../src/flags.ts";
import { packageOfFlag, packageOfTool } from "../src/left-out.ts";

test("P13: every flag and tool of the default packages is known to be theirs", async () => {
  const agent = createAgent({ extensions: [...DEFAULT_PACKAGES] });
  await agent.ready();
  for (const [name, { owner, value }] of agent.registry("flag")) {
    // What the command has itself is never unknown.
    if (FLAGS.some((flag) => flag.name === name)) continue;
    expect([name, packageOfFlag(name)]).toEqual([name, owner.name]);
    if (value.short) expect(packageOfFlag(value.short)).toBe(owner.name);
  }
  for (const [name, { owner }] of agent.registry("tool")) expect(packageOfTool(name)).toBe(owner.name);
  expect(packageOfFlag("nonsense")).toBeUndefined();
  await agent.dispose();
});
