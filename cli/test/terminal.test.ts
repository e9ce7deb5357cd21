import { afterEach, expect, test, vi } from "vitest";
import { CTRL_C, CTRL_D, createFakeTerminal } from "./fake-terminal.ts";

afterEach(() => vi.unstubAllEnvs());

test("a question answers the line that was typed", async () => {
  const { terminal, type, sees } = createFakeTerminal();
  const reply = terminal.ask("Name? ");
  await sees("Name? ");
  type("Ada\r");
  expect(await reply).toEqual({ line: "Ada" });
});

test.each([
  [CTRL_C, "interrupt"],
  [CTRL_D, "end"],
])("the key %j is told from a line", async (key, expected) => {
  const { terminal, type, sees } = createFakeTerminal();
  const reply = terminal.ask("> ");
  await sees("> ");
  type(key);
  expect(await reply).toEqual({ key: expected });
});

test("what was typed before comes back with the arrow up", async () => {
  // On a dumb terminal, as some machines that run tests have it, Node reads no arrows.
  vi.stubEnv("TERM", "xterm");
  const { terminal, type, sees } = createFakeTerminal();
  const first = terminal.ask("1> ");
  await sees("1> ");
  type("again\r");
  await first;
  const second = terminal.ask("2> ");
  await sees("2> ");
  type("\u001b[A\r");
  expect(await second).toEqual({ line: "again" });
});

test("a dumb terminal has no arrows, and its lines are read all the same", async () => {
  vi.stubEnv("TERM", "dumb");
  const { terminal, type, sees } = createFakeTerminal();
  const reply = terminal.ask("1> ");
  await sees("1> ");
  type("\u001b[Aagain\r");
  expect(await reply).toEqual({ line: "again" });
});

test("questions wait for each other", async () => {
  const { terminal, type, sees } = createFakeTerminal();
  const replies = Promise.all([terminal.ask("one? "), terminal.ask("two? ")]);
  await sees("one? ");
  type("1\r");
  await sees("two? ");
  type("2\r");
  expect(await replies).toEqual([{ line: "1" }, { line: "2" }]);
});

test("a question that takes too long, or is called off, answers its safe default", async () => {
  const { terminal } = createFakeTerminal();
  const controller = new AbortController();
  const called = terminal.ui.input("Off", undefined, { signal: controller.signal });
  controller.abort();
  expect(await called).toBeUndefined();
  expect(await terminal.ui.confirm("Late", "Sure?", { timeout: 1 })).toBe(false);
});

test.each([
  ["2", "green"],
  ["", undefined],
  ["3", undefined],
  ["green", "green"],
  ["RE", undefined],
  ["ed", "red"],
])("choosing %j of two answers %j", async (typed, expected) => {
  const { terminal, type, sees } = createFakeTerminal();
  const chosen = terminal.ui.select("Colour", ["red", "green"]);
  await sees("Number: ");
  type(`${typed}\r`);
  expect(await chosen).toBe(expected);
});

test.each([
  ["y", true],
  ["YES", true],
  ["", false],
  ["yeah", false],
])("confirming with %j answers %j", async (typed, expected) => {
  const { terminal, type, sees } = createFakeTerminal();
  const isConfirmed = terminal.ui.confirm("Delete", "Sure?");
  await sees("[y/N] ");
  type(`${typed}\r`);
  expect(await isConfirmed).toBe(expected);
});

test("an editor starts with what is there", async () => {
  const { terminal, type, sees } = createFakeTerminal();
  const edited = terminal.ui.editor("Text", "half");
  await sees("half");
  type(" done\r");
  expect(await edited).toBe("half done");
});

test("notices cannot draw on the terminal", () => {
  const { terminal, notices } = createFakeTerminal();
  terminal.ui.notify("\u001b[2Jhi", "warning");
  expect(notices.read().toString()).toBe("warning: \ufffd[2Jhi\n");
});

test("F145: a terminal whose input has ended answers at once that it has", async () => {
  const { terminal, endInput } = createFakeTerminal();
  await endInput();
  expect(await terminal.ask("> ")).toEqual({ key: "end" });
});

test("pasted lines answer one question after the other, and the line that is not ended yet begins the next", async () => {
  const { terminal, type, sees } = createFakeTerminal();
  const first = terminal.ask("1> ");
  await sees("1> ");
  type("one\rtwo\rthree\rfo");
  expect(await first).toEqual({ line: "one" });
  expect(await terminal.ask("2> ")).toEqual({ line: "two" });
  await sees("2> two\n");
  expect(await terminal.ask("3> ")).toEqual({ line: "three" });
  const last = terminal.ask("4> ");
  await sees("4> ");
  await sees("fo");
  type("ur\r");
  expect(await last).toEqual({ line: "four" });
});

test("what is typed between two questions answers the second", async () => {
  const { terminal, type, sees } = createFakeTerminal();
  const first = terminal.ask("1> ");
  await sees("1> ");
  type("one\r");
  await first;
  type("two\rthree\r");
  expect(await terminal.ask("2> ")).toEqual({ line: "two" });
  expect(await terminal.ask("3> ")).toEqual({ line: "three" });
});

test("a pasted line is for the conversation: the question of an extension waits for a person", async () => {
  const { terminal, type, sees } = createFakeTerminal();
  const first = terminal.ask("> ");
  await sees("> ");
  type("one\ry\r");
  await first;
  const isConfirmed = terminal.ui.confirm("Delete", "Sure?");
  await sees("[y/N] ");
  type("n\r");
  expect(await isConfirmed).toBe(false);
  expect(await terminal.ask("> ")).toEqual({ line: "y" });
});

test("a text that is offered stands where the person types next, also one of several lines", async () => {
  const { terminal, type, sees } = createFakeTerminal();
  terminal.ui.setEditorText("first\nsecond");
  const asked = terminal.ask("> ");
  await sees("first\u21b5second");
  type(" third\r");
  expect(await asked).toEqual({ line: "first\nsecond third" });
});
