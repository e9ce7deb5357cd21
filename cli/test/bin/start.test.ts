import { createRequire } from "node:module";
import { expect, test } from "vitest";

const { chooseArguments } = createRequire(import.meta.url)("../../bin/start.js");

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
