import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { ExtensionAPI } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { conformanceClaims, testExtension } from "../../src/index.ts";
import { listLoadedModules } from "../../src/provider.ts";
import sound from "./sound-extension.ts";

const KIT = join(import.meta.dirname, "../../src/index.ts");

test("with a test function every claim becomes a test of its own", async () => {
  const tests = new Map<string, () => Promise<void>>();
  testExtension(sound, { test: (name, check) => tests.set(name, check) });
  expect([...tests.keys()]).toEqual(conformanceClaims(sound).map(({ claim }) => claim));
  await Promise.all(Array.from(tests.values(), (check) => check()));
});

test("without one it answers a report that needs no test runner", async () => {
  const report = await testExtension((pi: ExtensionAPI) => {
    pi.registerCommand("mute", { handler() {} });
  });
  expect(report.isClean).toBe(false);
  expect(report.claims.filter(({ error }) => error).map(({ name, error }) => [name, error?.message])).toEqual([
    ["schema", expect.stringContaining("- The command /mute has no description.")],
  ]);
});

test("an extension that cannot be loaded at all is told once, with what it lacks", async () => {
  const report = await testExtension(() => {
    throw new Error("nope");
  });
  expect(report.claims.flatMap(({ name, error }) => (error ? [name] : []))).toEqual(["factory"]);
  expect(report.claims[0]?.error?.message).toMatch(/It cannot be loaded: nope[^]*has no code/);
});

test("it runs under node:test, from the sources by type stripping", () => {
  const script = `
    import { test } from "node:test";
    import { testExtension } from ${JSON.stringify(KIT)};
    testExtension((pi) => { pi.registerFlag("loud", { type: "boolean", description: "Shouts" }); }, { test });
  `;
  const flags = ["--conditions", "@pi-agent/source", "--input-type=module", "--test-reporter=tap"];
  const output = execFileSync(process.execPath, [...flags, "--eval", script], { encoding: "utf8" });
  expect(output).toMatch(/# pass 8\n# fail 0/);
});

test("the front door loads no test runner, and no validator before it is needed", () => {
  const modules = listLoadedModules(KIT);
  expect(modules.filter((path) => /node_modules\/(vitest|typebox)/.test(path))).toEqual([]);
});
