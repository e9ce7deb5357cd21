/** Words a whole load plan: everything that a project would load, what became of it, and why. */
import type { LoadReport, PlanItem } from "@pi-agent/loader";
import { formatTable } from "../table.ts";
import { toTerminalName } from "../terminal-text.ts";
import { type Memory, recallProject } from "./memory.ts";
import { describeItem, nameOf } from "./word-item.ts";

type Judged = Pick<LoadReport, "plan" | "decision" | "decidedBy">;

/** The plan as data, with the decision. */
export function toData({ plan, decision, decidedBy }: Judged): object {
  const memory = recallProject(plan);
  const items = plan.items.map((item) => ({ ...item, change: memory.changeOf(item) }));
  return { ...plan, items, decision, decidedBy };
}

/** The plan as a table, and below it what has to be known about single resources. */
export function describePlan({ plan, decision, decidedBy }: Judged): string {
  const head = [`project   ${toTerminalName(plan.project)}`, `decision  ${decision}, by ${decidedBy}`];
  if (plan.items.length === 0) return `${head.join("\n")}\n\nIt brings nothing to load.\n`;
  const rows = plan.items.map(({ verdict, grade, kind, id, reason }) =>
    [verdict, grade, kind, id.slice(kind.length + 1), reason].map((cell) => toTerminalName(cell)),
  );
  const memory = recallProject(plan);
  return [
    ...head,
    `content   ${plan.digest}`,
    "",
    formatTable([["verdict", "grade", "kind", "path", "because"], ...rows]),
    ...plan.items.flatMap((item) => describeMore(item, memory)),
    ...describeAllowing(plan.items),
    "Trust decides what loads. It is no sandbox: what loads and runs has your account's rights.",
    "",
  ].join("\n");
}

function describeMore(item: PlanItem, memory: Memory): string[] {
  const hint = item.hint === undefined ? [] : [toTerminalName(item.hint)];
  const lines = [...hint, ...describeItem(item, memory.changeOf(item))];
  return lines.length === 0 ? [] : [nameOf(item), ...lines.map((line) => `  ${line}`), ""];
}

function describeAllowing(items: readonly PlanItem[]): string[] {
  const held = items.filter(({ verdict }) => verdict === "held");
  if (held.length === 0) return [];
  const commands = new Set(["pi trust yes", ...held.flatMap(({ allow }) => (allow ? [toTerminalName(allow)] : []))]);
  return [`To let what is held load: ${[...commands].join(" or ")}; one alone: pi trust yes PATH`];
}
