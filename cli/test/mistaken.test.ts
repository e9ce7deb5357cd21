import { expect, test } from "vitest";
import { parseArguments, settleArguments } from "../src/arguments.ts";
import { judgeFirstWord } from "../src/mistaken.ts";

const KNOWN = ["trust", "prompt", "doctor", "demo", "help", "install"];
const REGISTERED = new Map([["no-session", { value: { type: "boolean" as const } }]]);

function judge(...argv: string[]) {
  const typed = parseArguments(argv);
  return judgeFirstWord(typed, settleArguments(typed.rest, REGISTERED), KNOWN);
}

test.each([
  ["docter", "doctor"],
  ["doctors", "doctor"],
  ["promt", "prompt"],
  ["trsut", "trust"],
  ["hlep", "help"],
])("a single word that is nearly a sub-command is told: %s", (word, name) => {
  const problem = judge(word);
  expect(problem?.what).toBe(`there is no sub-command ${word}`);
  expect(problem?.hint).toBe(`did you mean pi ${name}? As a prompt: pi -p ${word}`);
  expect(judge("--approve", word)).toEqual(problem);
});

test.each([
  ["another word", ["hello"]],
  ["a word that is only like one", ["test"]],
  ["a quoted text", ["docter please"]],
  ["a second word", ["docter", "now"]],
  ["a file", ["docter", "@x"]],
  ["-p before it", ["-p", "docter"]],
  ["--mode before it", ["--mode", "json", "docter"]],
  ["two dashes before it", ["--", "docter"]],
])("%s makes it a prompt", (_, argv) => {
  expect(judge(...argv)).toBeUndefined();
});

test.each(["auth", "mcp"])("pi %s says that it is not there yet, and what to do instead", (name) => {
  const problem = judge(name, "something");
  expect(problem?.what).toBe(`pi ${name} is not there yet`);
  expect(problem?.hint).toBeTruthy();
  expect(judge("-p", name)).toBeUndefined();
});

test("a sub-command after flags of extensions is told, and a prompt that begins so is one with -p", () => {
  expect(judge("--no-session", "doctor")).toEqual({
    what: "the sub-command doctor stands after --no-session",
    why: "flags of extensions come after a sub-command, where it can take them",
    hint: "write pi doctor --no-session; as a prompt: pi -p doctor",
  });
  expect(judge("-p", "--no-session", "doctor")).toBeUndefined();
  expect(judge("--no-session", "doctor who")).toBeUndefined();
  expect(judge("--no-session", "--", "doctor")).toBeUndefined();
});

test.each(["npm:x", "./folder", "owner/repo", "~/x"])(
  "a slip before what looks like a package is told: instal %s",
  (next) => {
    expect(judge("instal", next)?.hint).toContain("did you mean pi install?");
  },
);
