import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

const { chooseArguments, findProviders } = createRequire(import.meta.url)("../../bin/start.js");

const KEY = { OPENAI_API_KEY: "k" };

test.each([
  ["a key and words: that task, step by step", ["do", "it"], KEY, false, ["--print", "--verbose", "do", "it"]],
  ["a key and no words, on a terminal: a conversation", [], KEY, true, []],
  ["a key and no words, and nobody there: the demo", [], KEY, false, ["demo"]],
  ["no key and no words: the demo", [], {}, true, ["demo"]],
])("%s", (_, words, env, isTerminal, argv) => {
  expect(chooseArguments(words, { env, isTerminal })).toEqual({ argv });
});

test("no key but words: the demo, after one line that says which variables were looked for", () => {
  const { argv, notice } = chooseArguments(["do it"], { env: {}, isTerminal: true });
  expect(argv).toEqual(["demo"]);
  for (const name of ["ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_API_KEY"]) {
    expect(notice).toContain(name);
  }
  expect(notice).not.toContain("\n");
});

test("a provider that is written down counts as a key", () => {
  const choice = chooseArguments(["do", "it"], { env: {}, isTerminal: false, hasOwn: true });
  expect(choice).toEqual({ argv: ["--print", "--verbose", "do", "it"] });
});

test.each([
  ["models.json", '{ "providers": { "local": { "baseUrl": "http://localhost:1" } } }', true],
  ["auth.json", '{ "anthropic": { "type": "api_key", "key": "k" } }', true],
  ["models.json", '{ "providers": {} }', false],
  ["models.json", "{}", false],
  ["auth.json", "", false],
  ["settings.json", '{ "providers": { "local": { "baseUrl": "x" } } }', false],
])("%s that holds %s names a provider: %s", (name, content, expected) => {
  const agentDir = mkdtempSync(join(tmpdir(), "pi-start-"));
  writeFileSync(join(agentDir, name), content);
  const found = findProviders({ PI_CODING_AGENT_DIR: agentDir });
  rmSync(agentDir, { recursive: true });
  expect(found).toBe(expected);
});

test("without an agent directory no provider is found", () => {
  expect(findProviders({ PI_CODING_AGENT_DIR: join(tmpdir(), "pi-start-is-not-there") })).toBe(false);
});
