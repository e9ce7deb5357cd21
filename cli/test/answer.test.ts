import type { AssistantMessage } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { answerText, judgeAnswer } from "../src/answer.ts";

const answer = (fields: Partial<AssistantMessage>) =>
  ({ role: "assistant", provider: "p", model: "m", content: [], stopReason: "stop", ...fields }) as AssistantMessage;

test("an answer is a success", () => {
  expect(judgeAnswer(answer({}), "done")).toEqual({ code: 0 });
  expect(judgeAnswer(undefined, "done")).toEqual({ code: 0 });
  expect(judgeAnswer(answer({}), "stopped")).toEqual({ code: 0 });
});

test("a cut answer is a failure with a warning", () => {
  expect(judgeAnswer(answer({ stopReason: "length" }), "done")).toMatchObject({
    code: 1,
    warning: { what: "The answer is cut" },
  });
});

test.each([
  ["max_turns", "toolUse"],
  ["stopped", "toolUse"],
] as const)("K11: a run that ended as %s after %s is a failure with a warning", (outcome, stopReason) => {
  expect(judgeAnswer(answer({ stopReason }), outcome)).toMatchObject({
    code: 1,
    warning: { what: "The run was stopped before its answer" },
  });
});

test("a failed answer is an error in three parts", () => {
  const failed = answer({ stopReason: "error", errorMessage: "401: bad key", failure: { kind: "auth" } });
  expect(judgeAnswer(failed, "error")).toEqual({
    code: 1,
    error: {
      what: "p/m did not answer",
      why: "401: bad key",
      hint: "check the key; pi doctor tells which keys were found",
    },
  });
});

test("how long a provider wants to be left alone is told", () => {
  const failed = answer({ stopReason: "error", failure: { kind: "rate_limit", retryAfterMs: 4_200 } });
  expect(judgeAnswer(failed, "error").error?.hint).toBe("try again in 5 s");
});

test("every text block of an answer is printed, each with its line feed, and nothing else", () => {
  const content = [
    { type: "thinking" as const, thinking: "hm" },
    { type: "text" as const, text: "one" },
    { type: "text" as const, text: "two\u2028" },
  ];
  expect(answerText(answer({ content }))).toBe("one\ntwo\u2028\n");
});

test("a cassette that has no answer sends nobody to another model", () => {
  const failed = answer({ provider: "cassette", stopReason: "error", failure: { kind: "invalid_request" } });
  const { hint } = judgeAnswer(failed, "error").error ?? {};
  expect(hint).toContain("--cassette <file>");
  expect(hint).not.toContain("model");
});
