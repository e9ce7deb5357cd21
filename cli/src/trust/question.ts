/** Asks a person at the terminal what of a project may load. */
import type { AskTrust, LoadPlan, PlanItem, TrustAnswer } from "@pi-agent/loader";
import type { Terminal } from "./terminal.ts";
import { toTerminalLine } from "./terminal-text.ts";

const CHOICES: readonly [TrustAnswer, string][] = [
  ["content", "yes, this time"],
  ["text", "only its texts this time: skills, prompts, themes"],
  ["not-now", "not now"],
];

// What one screen holds beside the question.
const MOST_LINES = 25;
const LINE_WIDTH = 100;
const GRADES = ["executable", "settings", "text"] as const;

/** Makes the question. Nothing that was typed before it answers it; Enter, Ctrl-C and Ctrl-D are "not now". */
export function createTrustQuestion(terminal: Terminal): AskTrust {
  return async (plan, signal) => {
    await terminal.forget();
    const labels = CHOICES.map(([, label]) => label);
    const chosen = await terminal.ui.select(describePlan(plan), labels, { signal });
    return CHOICES.find(([, label]) => label === chosen)?.[0] ?? "not-now";
  };
}

/** Words what of a plan is still held, what can run first. */
function describePlan(plan: LoadPlan): string {
  const held = plan.items.filter(({ verdict }) => verdict === "held");
  const sorted = GRADES.flatMap((grade) => held.filter((item) => item.grade === grade));
  const counts = GRADES.flatMap((grade) => {
    const count = held.filter((item) => item.grade === grade).length;
    return count === 0 ? [] : [`${count} ${grade}`];
  });
  const lines = sorted.slice(0, MOST_LINES).map(describeItem);
  if (sorted.length > MOST_LINES) lines.push(`  and ${sorted.length - MOST_LINES} more: pi trust show`);
  return [
    `${toTerminalLine(plan.project, LINE_WIDTH)} would load ${counts.join(", ")}:`,
    ...lines,
    "Trust decides what loads. It is no sandbox: what loads and runs has your account's rights.",
    "Let it load?",
  ].join("\n");
}

function describeItem({ grade, kind, id }: PlanItem): string {
  const verb = { executable: "runs", settings: "sets", text: "tells the model" }[grade];
  return `  ${toTerminalLine(`${verb}: ${kind} ${id.slice(id.indexOf(":") + 1)}`, LINE_WIDTH)}`;
}
