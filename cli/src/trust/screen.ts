/**
 * Words the question about a project, on one screen, whatever the project holds:
 *
 *   where ─► what waits, what can run first, counted ─► what trust is not ─► choices
 */
import type { Grade, LoadPlan, PlanItem, TrustAnswer } from "@pi-agent/loader";
import { columnsOf, toTerminalName } from "../terminal-text.ts";
import type { Memory } from "./memory.ts";
import { describeItem, GRADES, listNames, nameOf } from "./word-item.ts";

export interface Choice {
  answer: TrustAnswer | "show";
  label: string;
}

export interface Asked {
  plan: LoadPlan;
  memory: Memory;
  /** It was answered before, and may be answered anew: what is not chosen stays as it is. */
  isAnew?: boolean;
}

const TITLES: Record<Grade, string> = {
  executable: "Can run code, or choose what runs, with all rights of your account",
  settings: "Changes how pi works",
  text: "Words for the model, which may act on them with its tools",
};
const LIMITS = [
  "Trust decides what loads. It is no sandbox: what runs can do whatever you can.",
  "Your answer is kept for the path above.",
];
// What is always there beside the resources: empty lines, the line that asks.
const FRAME_LINES = 5;
// Less than that tells nothing, however small the terminal is.
const LEAST_LINES = 4;
const INDENT = 4;

/** Lists what may be answered. A number means the same in every question, so that no habit says more than it should. */
export function listChoices({ plan, isAnew = false, memory }: Asked): Choice[] {
  const { twin } = plan;
  const isChanged = !isAnew && listWaiting(plan).some(memory.changeOf);
  const first = twin?.isSame ? `trust as in ${toTerminalName(twin.project, 40)}` : "trust this content";
  const all = isChanged ? "what is listed above" : "all";
  const none = isChanged ? "none of what is listed" : "nothing of it";
  const choices: Choice[] = [
    { answer: "content", label: `${first}: ${all} loads as it is now; asks again about what changes` },
    { answer: "text", label: "text only: words for the model load; none of its code, none of its settings" },
    { answer: "folder", label: "trust this folder, whatever it becomes: all loads, never asks, whoever changes it" },
    {
      answer: "not-now",
      label: isAnew ? "leave it as it is (Enter)" : `not now: ${none} loads; asks the next time (Enter)`,
    },
    {
      answer: "never",
      label: `never: nothing of it loads${isChanged ? ", also not what you approved" : ""}, and it does not ask again`,
    },
  ];
  if (listWaiting(plan).some(memory.changeOf)) choices.push({ answer: "show", label: "show what changed" });
  return choices;
}

/** Numbers the choices, a line each. */
export function describeChoices(choices: readonly Choice[]): string {
  return choices.map(({ label }, index) => `  ${index + 1}. ${label}`).join("\n");
}

/** Describes everything that waits for the answer, within so many rows. */
export function describeQuestion(asked: Asked, size: { rows: number; columns: number }): string {
  const { plan } = asked;
  const choices = listChoices(asked);
  const head = describePlace(asked);
  const foot = [...listAnyway(plan, size.columns), ...LIMITS];
  const fixed = [...head, ...foot, ...choices.map(({ label }) => `  1. ${label}`)];
  const rows = fixed.reduce((sum, line) => sum + countRows(line, size.columns), FRAME_LINES);
  const waiting = listWaiting(plan);
  const groups = GRADES.map((grade) => waiting.filter((item) => item.grade === grade)).filter(
    (each) => each.length > 0,
  );
  let left = Math.max(size.rows - rows - groups.length, LEAST_LINES);
  const lines = groups.flatMap((items) => {
    const group = describeGroup(items, { asked, columns: size.columns, left });
    left -= group.length - 1;
    return group;
  });
  return [...head, "", ...lines, "", ...foot, "", describeChoices(choices)].join("\n");
}

/** What of a plan waits for an answer. */
export function listWaiting({ items }: LoadPlan): PlanItem[] {
  return items.filter(({ verdict }) => verdict === "held");
}

function describePlace({ plan, memory, isAnew }: Asked): string[] {
  const { twin } = plan;
  const isChanged = listWaiting(plan).some(memory.changeOf);
  const intro = isAnew
    ? "What may load of this project?"
    : isChanged
      ? "Something here is new, or not as you approved it. The rest loads as before."
      : "This project brings things that load only if you say so.";
  const lines = [intro, `  ${toTerminalName(plan.project)}`];
  if (twin) {
    const content = twin.isSame ? "holds the same" : "holds something else";
    lines.push(`It is a worktree of ${toTerminalName(twin.project)}, which you answered for; this one ${content}.`);
  }
  return [...lines, ...memory.notes.map((note) => `Note: ${toTerminalName(note)}`)];
}

/** Context files, which need no answer. */
function listAnyway({ items }: LoadPlan, columns: number): string[] {
  const anyway = items.filter(({ verdict, kind }) => verdict === "loaded" && kind === "context-file");
  const paths = anyway.map(({ id, kind }) => id.slice(kind.length + 1));
  return paths.length > 0 ? [listNames("Loads whatever you answer, as words for the model", paths, columns)] : [];
}

/** A title, and as many resources as fit; at least what is left out is counted. */
function describeGroup(
  items: readonly PlanItem[],
  { asked, columns, left }: { asked: Asked; columns: number; left: number },
): string[] {
  const [first] = items;
  const lines = [`${first ? TITLES[first.grade] : ""} (${items.length}):`];
  for (const [index, item] of items.entries()) {
    const details = describeItem(item, asked.memory.changeOf(item), columns - INDENT);
    const block = [`  ${nameOf(item, columns - INDENT)}`, ...details.map((line) => `${" ".repeat(INDENT)}${line}`)];
    const rest = items.length - index - 1;
    if (lines.length - 1 + block.length + (rest > 0 ? 1 : 0) > left) {
      return [...lines, `  and ${items.length - index} more: pi trust show lists them all`];
    }
    lines.push(...block);
  }
  return lines;
}

function countRows(line: string, columns: number): number {
  return Math.max(1, Math.ceil(columnsOf(line) / columns));
}
