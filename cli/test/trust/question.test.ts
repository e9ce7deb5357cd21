import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { askAnew, createTrustQuestion } from "../../src/trust/question.ts";
import { CTRL_C, CTRL_D, createFakeTerminal } from "../fake-terminal.ts";
import { item, plan } from "./planned.ts";

const ITEMS = [item("executable", "extension:.pi/extensions/evil.ts"), item("text", "skill:.pi/skills/a/SKILL.md")];

/** A plan of a folder that is there, so that its place can be looked at. */
async function planSomewhere() {
  const project = await mkdtemp(join(tmpdir(), "pi-agent-test-"));
  onTestFinished(() => rm(project, { recursive: true }));
  return plan(ITEMS, { project, cwd: project });
}

/** Asks about a project that is really there, so that its place can be looked at. */
async function ask(keys: string, isAnew = false) {
  const asked = await planSomewhere();
  const { terminal, type, sees } = createFakeTerminal();
  const { signal } = new AbortController();
  const answer = isAnew ? askAnew(terminal, asked, signal) : createTrustQuestion(terminal)(asked, signal);
  await sees(asked.project);
  await sees("Number: ");
  type(keys);
  return answer;
}

test.each([
  ["1\r", "content"],
  ["2\r", "text"],
  ["3\r", "folder"],
  ["4\r", "not-now"],
  ["5\r", "never"],
  ["6\r", "not-now"],
  ["\r", "not-now"],
  ["y\r", "not-now"],
  ["yes\r", "not-now"],
  ["11\r", "not-now"],
  ["1.0\r", "not-now"],
  ["0x1\r", "not-now"],
  [CTRL_C, "not-now"],
  [CTRL_D, "not-now"],
])("attack 24: the keys %j answer %s; nothing but a choice is a yes", async (keys, answer) => {
  expect(await ask(keys)).toBe(answer);
});

test("asked anew, Enter leaves everything as it is", async () => {
  expect(await ask("\r", true)).toBe("not-now");
  expect(await ask("5\r", true)).toBe("never");
});

test("what was typed before the question does not answer it, nor what is typed while it is being read", async () => {
  const asked = await planSomewhere();
  const { terminal, type, sees } = createFakeTerminal();
  const first = terminal.ask("> ");
  await sees("> ");
  type("go\r1\r1");
  await first;
  type("\r1\r");
  const answer = createTrustQuestion(terminal)(asked, new AbortController().signal);
  await sees("5. never");
  type("1\r1\r");
  await sees("Number: ");
  type("2\r");
  expect(await answer).toBe("text");
});

test("a question that is called off is answered with no", async () => {
  const asked = await planSomewhere();
  const { terminal, sees } = createFakeTerminal();
  const controller = new AbortController();
  const answer = createTrustQuestion(terminal)(asked, controller.signal);
  await sees("Number: ");
  controller.abort();
  expect(await answer).toBe("not-now");
});
