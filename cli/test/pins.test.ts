import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { BUILT_IN } from "../src/commands/built-in.ts";
import { DEFAULT_PACKAGES } from "../src/default-packages.ts";
import { EXIT_CODES } from "../src/exit-codes.ts";
import { FLAGS } from "../src/flags.ts";

test("the flags of the command", () => {
  expect(FLAGS.map(({ name, short, takes }) => `${short ? `-${short} ` : ""}--${name} ${takes}`)).toEqual([
    "-h --help nothing",
    "-v --version nothing",
    "-p --print nothing",
    "--mode value",
    "--verbose nothing",
    "--offline nothing",
    "--model value",
    "--provider value",
    "--api-key value",
    "--thinking value",
    "--list-models optional",
    "--export value",
    "--max-turns value",
    "-t --tools value",
    "-xt --exclude-tools value",
    "-nbt --no-builtin-tools nothing",
    "-nt --no-tools nothing",
    "--agent value",
    "-e --extension value",
    "-ne --no-extensions nothing",
    "-nc --no-context-files nothing",
    "-a --approve nothing",
    "-na --no-approve nothing",
    "--trust value",
  ]);
});

test("the exit codes", () => {
  expect(EXIT_CODES).toEqual({ answered: 0, failed: 1, usage: 2, SIGHUP: 129, SIGINT: 130, SIGTERM: 143 });
});

test("the sub-commands", () => {
  expect([...BUILT_IN.keys()]).toEqual([
    "trust",
    "prompt",
    "doctor",
    "install",
    "remove",
    "list",
    "update",
    "config",
    "create",
  ]);
});

test("the packages of the default agent, in load order", () => {
  expect(DEFAULT_PACKAGES.map(({ owner }) => owner.name)).toEqual([
    "@pi-agent/tools",
    "@pi-agent/anthropic",
    "@pi-agent/gemini",
    "@pi-agent/openai",
    "@pi-agent/sessions",
    "@pi-agent/system-prompt",
    "@pi-agent/compaction",
    "@pi-agent/retry",
    "@pi-agent/step-log",
    "@pi-agent/cassette",
    "@pi-agent/agents",
  ]);
});

test.each(["cli", "loader"])("the package %s is published with the schemas of our files", (room) => {
  const manifest = JSON.parse(readFileSync(new URL(`../../${room}/package.json`, import.meta.url), "utf8"));
  const schemas = ["trust.schema.json", "agent.schema.json", "pi-lock.schema.json"];
  expect(manifest.files).toEqual(expect.arrayContaining(schemas));
  expect(manifest.scripts.prepack).toContain("for (const name of ['trust', 'agent', 'pi-lock']) fs.copyFileSync(");
});
