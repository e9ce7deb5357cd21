import { expect, onTestFinished, test } from "vitest";
import { createGrepTool } from "../src/index.ts";
import { call, tempFolder } from "./tool-call.ts";

test("F073 a missing search program is an error, not an empty result", async () => {
  // The package looks for the program of this architecture when it is imported.
  process.env.npm_config_arch = "none";
  onTestFinished(() => {
    delete process.env.npm_config_arch;
  });
  const outcome = await call(createGrepTool(), { pattern: "a" }, { cwd: tempFolder() });
  expect(outcome.isError).toBe(true);
  expect(outcome.text).toMatch(/^ripgrep \(rg\) could not be run: .*\nSearch with grep in bash instead\.$/);
});
