import { expect, test } from "vitest";
import { describeCall, showSteps } from "../src/steps.ts";
import { createScriptedAgent } from "./scripted-agent.ts";

test.each([
  [{ path: "a.ts", edits: [] }, "edit a.ts"],
  [{ edits: [], path: "a.ts" }, "edit a.ts"],
  [{ text: "one\n  two" }, "edit one two"],
  [{}, "edit"],
  [{ path: "x".repeat(200) }, `edit ${"x".repeat(94)}…`],
  [{ path: "\u001b[31mred" }, "edit \ufffd[31mred"],
])("a call with %j is told as %j", (args, line) => {
  expect(describeCall("edit", args)).toBe(line);
});

test("a wait for another attempt is told, with its reason", async () => {
  const lines: string[] = [];
  const agent = createScriptedAgent([]);
  const undo = showSteps(agent, (line) => lines.push(line));
  await agent.dispatch("auto_retry_start", {
    attempt: 1,
    maxAttempts: 3,
    delayMs: 1_200,
    errorMessage: "529\noverloaded",
  });
  await undo();
  expect(lines).toEqual(["! 529 overloaded", "• retry 1 of 3 in 2 s"]);
  await agent.dispose();
});
