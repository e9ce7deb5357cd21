import { expect, test } from "vitest";
import { parseArguments, settleArguments } from "../src/arguments.ts";

const parse = (...argv: string[]) => parseArguments(argv);
const flagsOf = (...argv: string[]) => Object.fromEntries(parse(...argv).flags);
const registered = new Map([
  ["plan", { value: { type: "boolean" as const, short: "P" } }],
  ["log", { value: { type: "string" as const } }],
  ["tag", { value: { type: "string" as const, multiple: true } }],
  ["level", { value: { type: "string" as const, choices: ["low", "high"] } }],
]);
const settle = (...argv: string[]) => settleArguments(parse(...argv).rest, registered);

test.each([
  ["a long flag and its value", ["--model", "x"], { model: "x" }],
  ["a value after an equals sign", ["--model=a=b"], { model: "a=b" }],
  ["an empty value after an equals sign", ["--provider="], { provider: "" }],
  ["a short flag of two letters", ["-ne", "-nc"], { "no-extensions": true, "no-context-files": true }],
  ["a flag that may be repeated", ["-e", "a", "--extension", "b"], { extension: ["a", "b"] }],
  ["the last of a flag that may not", ["--model", "a", "--model", "b"], { model: "b" }],
  ["the last of two opposites", ["-a", "-na"], { "no-approve": true }],
  ["the last of two opposites, the other way", ["-na", "-a"], { approve: true }],
  ["an optional value", ["--list-models", "sonnet"], { "list-models": "sonnet" }],
  ["no value for an optional one before a flag", ["--list-models", "-p"], { "list-models": true, print: true }],
  ["no value for an optional one before a file", ["--list-models", "@f"], { "list-models": true }],
  ["a number", ["--max-turns", "12"], { "max-turns": "12" }],
  ["a value that starts with a dash and is no flag", ["--provider", "- x"], { provider: "- x" }],
])("takes %s", (_, argv, expected) => {
  expect(parse(...argv).problem).toBeUndefined();
  expect(flagsOf(...argv)).toEqual(expected);
});

test.each([
  ["words", ["do", "this"], ["do", "this"]],
  ["the word after -p", ["-p", "do this"], ["do this"]],
  ["front matter after -p", ["-p", "---\ntitle: x\n---\ndo"], ["---\ntitle: x\n---\ndo"]],
  ["words among flags", ["--offline", "do", "--model", "x", "this"], ["do", "this"]],
  ["numbers below zero and list items", ["-5", "- item"], ["-5", "- item"]],
  ["whatever follows two dashes", ["--", "--model", "-p"], ["--model", "-p"]],
  ["not a lone dash, which means standard input", ["-", "x"], ["x"]],
])("keeps %s as the prompt", (_, argv, words) => {
  const settled = settle(...argv);
  expect(settled.problem).toBeUndefined();
  expect(settled.words).toEqual(words);
});

test("takes files anywhere, also after two dashes and after -p", () => {
  expect(settle("@a", "-p", "@b", "--", "@c", "@").files).toEqual(["a", "b", "c"]);
  expect(settle("@").words).toEqual(["@"]);
});

test("a switch of an extension never eats a word of the prompt", () => {
  const { flags, words } = settle("--plan", "fix the bug");
  expect(Object.fromEntries(flags)).toEqual({ plan: true });
  expect(words).toEqual(["fix the bug"]);
});

test("a flag of an extension takes the word right after it", () => {
  const { flags, words } = settle("--log", "out.jsonl", "fix", "--tag", "a", "--tag=b", "-P");
  expect(Object.fromEntries(flags)).toEqual({ log: "out.jsonl", tag: ["a", "b"], plan: true });
  expect(words).toEqual(["fix"]);
});

test.each([
  ["of another flag between them", ["--log", "--model", "x", "fix"]],
  ["of two dashes between them", ["--log", "--", "fix"]],
  ["of a file after it", ["--log", "@fix"]],
])("a flag of an extension has no value because %s", (_, argv) => {
  expect(settle(...argv).problem).toMatchObject({ what: "--log has no value" });
});

test("a switch of an extension can be turned off", () => {
  expect(Object.fromEntries(settle("--plan=false").flags)).toEqual({ plan: false });
});

test.each([
  [["--model"], "--model has no value"],
  [["--model", "--print"], "--model has no value"],
  [["--model", "--", "x"], "--model has no value"],
  [["--thinking", "hgih"], '--thinking cannot be "hgih"'],
  [["--max-turns", "0"], '--max-turns cannot be "0"'],
  [["--trust", "sha256-12"], '--trust cannot be "sha256-12"'],
  [["--trust", `sha256-${"A".repeat(64)}`], `--trust cannot be "sha256-${"A".repeat(64)}"`],
  [["--trust"], "--trust has no value"],
  [["--max-turns=two"], '--max-turns cannot be "two"'],
  [["--print=please"], "--print=please has a value"],
])("%j is refused: %s", (argv, what) => {
  expect(parse(...argv).problem?.what).toBe(what);
});

test("a wrong value suggests the nearest that is allowed", () => {
  expect(parse("--thinking", "hgih").problem?.hint).toBe("did you mean --thinking high?");
  expect(settle("--level", "hihg").problem?.hint).toBe("did you mean --level high?");
});

test.each([
  ["--modle", "did you mean --model?"],
  ["--pirnt=x", "did you mean --print?"],
  ["--lgo", "did you mean --log?"],
  ["-nx", "pi --help lists the flags"],
  ["--xylophone-concert", "pi --help lists the flags"],
])("the unknown flag %s is refused with what it may have been", (typed, hint) => {
  const { problem } = settle(typed);
  expect(problem?.what).toBe(`unknown flag ${typed.split("=")[0]}`);
  expect(problem?.hint).toBe(hint);
});

test.each([
  ["the first argument", ["trust", "show", "--json"], "trust", ["show", "--json"]],
  ["after flags of the command itself", ["--approve", "--model", "x", "trust", "show"], "trust", ["show"]],
  ["without those that follow", ["doctor", "--approve", "--json"], "doctor", ["--json"]],
  ["not after -p", ["-p", "trust"], "", []],
  ["not after --mode", ["--mode", "json", "trust"], "", []],
  ["not after two dashes", ["--", "trust"], "", []],
  ["not after a flag of an extension", ["--plan", "trust"], "", []],
  ["not after a file", ["@x", "trust"], "", []],
  ["not a text with blanks", ["trust me"], "", []],
])("a sub-command is the first word: %s", (_, argv, command, more) => {
  const { command: found, commandArguments } = parse(...argv);
  expect({ found, commandArguments }).toEqual({ found: command, commandArguments: more });
});
