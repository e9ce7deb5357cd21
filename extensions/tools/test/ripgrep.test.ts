import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { tempFolder } from "./tool-call.ts";

const CALL = `
  import { createGrepTool } from ${JSON.stringify(new URL("../src/index.ts", import.meta.url))};
  const { signal } = new AbortController();
  const ctx = { cwd: process.cwd(), hasUI: false };
  console.log(JSON.stringify(await createGrepTool().execute("call_1", { pattern: "a" }, signal, () => {}, ctx)));
`;

test("F073 a missing search program is an error, not an empty result", () => {
  // The package looks for the program of this architecture when it is imported.
  const env = { ...process.env, npm_config_arch: "none" };
  const args = ["--conditions", "@pi-agent/source", "--input-type", "module", "--eval", CALL];
  const printed = execFileSync(process.execPath, args, { cwd: tempFolder(), env, encoding: "utf8" });
  const { content, isError } = JSON.parse(printed) as { content: { text: string }[]; isError: boolean };
  expect(isError).toBe(true);
  expect(content[0]?.text).toMatch(/^ripgrep \(rg\) could not be run: .*\nSearch with grep in bash instead\.$/);
});
