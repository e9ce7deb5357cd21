import type { LoadPlan, PlanItem } from "@pi-agent/loader";
import { expect, test } from "vitest";
import { createTrustQuestion } from "../src/ask-trust.ts";
import { CTRL_C, createFakeTerminal } from "./fake-terminal.ts";

const item = (grade: PlanItem["grade"], id: string, verdict: PlanItem["verdict"] = "held") =>
  ({ grade, id, kind: id.slice(0, id.indexOf(":")), verdict }) as PlanItem;

const plan = {
  project: "/their/project",
  items: [
    item("text", "skill:.pi/skills/a"),
    item("executable", "extension:.pi/extensions/evil\u001b[2J.ts"),
    item("settings", "settings:.pi/settings.json"),
    item("text", "context-file:AGENTS.md", "loaded"),
  ],
} as unknown as LoadPlan;

async function ask(keys: string, asked = plan) {
  const { terminal, type, sees } = createFakeTerminal();
  const answer = createTrustQuestion(terminal)(asked, new AbortController().signal);
  await sees("Number: ");
  type(keys);
  return answer;
}

test.each([
  ["1\r", "content"],
  ["2\r", "text"],
  ["3\r", "not-now"],
  ["4\r", "not-now"],
  ["\r", "not-now"],
  ["y\r", "not-now"],
  [CTRL_C, "not-now"],
])("the keys %j answer %s; nothing but a choice is a yes", async (keys, answer) => {
  expect(await ask(keys)).toBe(answer);
});

test("the question counts what is held, names what can run first, escaped, and says what trust is not", async () => {
  const { terminal, sees } = createFakeTerminal();
  void createTrustQuestion(terminal)(plan, AbortSignal.timeout(1_000));
  await sees("/their/project would load 1 executable, 1 settings, 1 text:");
  await sees("runs: extension .pi/extensions/evil\ufffd[2J.ts");
  await sees("sets: settings .pi/settings.json");
  await sees("tells the model: skill .pi/skills/a");
  await sees("It is no sandbox");
});

test("a long list is cut, and says where the rest is", async () => {
  const items = Array.from({ length: 40 }, (_, n) => item("text", `skill:.pi/skills/${n}`));
  const { terminal, sees } = createFakeTerminal();
  void createTrustQuestion(terminal)({ ...plan, items }, AbortSignal.timeout(1_000));
  await sees("and 15 more: pi trust show");
});

test("the choices claim nothing that is not kept: each is for this time", async () => {
  const { terminal, sees } = createFakeTerminal();
  void createTrustQuestion(terminal)(plan, AbortSignal.timeout(1_000));
  await sees(
    "Let it load?\n  1. yes, this time\n  2. only its texts this time: skills, prompts, themes\n  3. not now\nNumber: ",
  );
});

test("what was typed before the question does not answer it, whether it was read already or not", async () => {
  const { terminal, type, sees } = createFakeTerminal();
  const first = terminal.ask("> ");
  await sees("> ");
  type("go\r1\r1");
  await first;
  type("\r1\r");
  const answer = createTrustQuestion(terminal)(plan, new AbortController().signal);
  await sees("Number: ");
  type("2\r");
  expect(await answer).toBe("text");
});
