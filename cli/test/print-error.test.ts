import { AgentError } from "@pi-agent/kernel";
import { expect, test, vi } from "vitest";
import { toUsageError } from "../src/load-agent.ts";
import { formatError, printError, toProblem } from "../src/print-error.ts";

test("an error says what happened, why and what to do, on lines of their own", () => {
  const text = formatError({ what: "It fell", why: "gravity\nas always", hint: "catch it" }, "error");
  expect(text).toBe("error: It fell\n  why: gravity\n       as always\n  try: catch it\n");
});

test("a part that nobody knows is left out", () => {
  expect(formatError({ what: "It fell" }, "warning")).toBe("warning: It fell\n");
});

test("an agent error tells its hint and who raised it; its message says why", () => {
  const cause = new Error("ENOENT: no such file");
  const error = new AgentError("x", "The file is gone", { hint: "bring it back", cause, owner: "@me/files" });
  expect(toProblem(error)).toEqual({
    what: "The file is gone (from @me/files)",
    why: undefined,
    hint: "bring it back",
  });
});

test("an owner that the message names already is not named twice", () => {
  const error = new AgentError("x", "/ext/a.ts:3: broken", { owner: "/ext/a.ts" });
  expect(toProblem(error).what).toBe("/ext/a.ts:3: broken");
});

test("an error that was made of a problem gives it back", () => {
  const problem = { what: "It fell", why: "gravity", hint: "catch it" };
  expect(toProblem(toUsageError(problem))).toEqual(problem);
});

test("any other error tells its cause", () => {
  expect(toProblem(new Error("no", { cause: new Error("because") }))).toEqual({ what: "no", why: "because" });
});

test("what is no error is told as it is", () => {
  expect(toProblem("just text").what).toBe("just text");
  expect(toProblem(undefined).what).toBe("undefined");
});

test("--verbose shows where something unexpected was thrown, and where an extension threw; not where we looked", () => {
  const cause = new Error("inner");
  const shown = (error: Error) => {
    const written = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    printError(error, { verbose: true });
    const text = written.mock.calls.map(([part]) => String(part)).join("");
    written.mockRestore();
    return text;
  };
  expect(shown(new AgentError("x", "It was refused.", { hint: "Leave it.", cause }))).not.toContain("    at ");
  expect(shown(new AgentError("x", "It fell.", { cause, owner: "a.ts" }))).toContain("Error: inner\n    at ");
  expect(shown(cause)).toContain("Error: inner\n    at ");
});
