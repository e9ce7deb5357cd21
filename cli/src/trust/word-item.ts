/** Words single resources of a plan. Names are the project's: nothing in them reaches the terminal as it is. */
import type { Grade, PlanChange, PlanItem } from "@pi-agent/loader";
import { toTerminalName } from "../terminal-text.ts";

/** What can run comes first. */
export const GRADES: readonly Grade[] = ["executable", "settings", "text"];

const MOST_ON_A_LINE = 10;

/** The kind of a resource and its place below the boundary. */
export function nameOf({ kind, id }: PlanItem, columns = Number.POSITIVE_INFINITY): string {
  const word = wordKind(kind);
  return `${word} ${toTerminalName(id.slice(kind.length + 1), columns - word.length - 1)}`;
}

/** Counts resources by kind, what can run first; "nothing" for none. */
export function countKinds(items: readonly PlanItem[]): string {
  const counts = new Map<string, number>();
  for (const grade of GRADES) {
    for (const item of items) if (item.grade === grade) counts.set(item.kind, (counts.get(item.kind) ?? 0) + 1);
  }
  const words = [...counts].map(([kind, number]) => `${number} ${wordKind(kind)}${number === 1 ? "" : "s"}`);
  return words.length === 0 ? "nothing" : words.join(", ");
}

/**
 * What has to be known about a resource beside its name, a line each: what became of it, what no digest covers, what the
 * model may run, what it needs. Each is cut to `columns`, and says how much is left out.
 */
export function describeItem(item: PlanItem, change: PlanChange | undefined, columns?: number): string[] {
  const needs = Object.entries(item.requires ?? {}).map(([service, from]) => `${service} (from ${from})`);
  const lines: [string, readonly string[]][] = [
    ["not covered", item.uncovered],
    ["the model may run", item.mayRun ?? []],
    ["needs the service", needs],
  ];
  return [
    ...describeChange(change, columns),
    ...lines.flatMap(([title, parts]) => (parts.length > 0 ? [listNames(title, parts, columns)] : [])),
  ];
}

function describeChange(change: PlanChange | undefined, columns?: number): string[] {
  if (!change) return [];
  if (change.isNew) return ["it was not approved before"];
  const parts = (["changed", "added", "removed"] as const).filter((each) => change[each].length > 0);
  if (parts.length === 0) return ["changed: what may be executed, or what it is"];
  return parts.map((each) => listNames(each, change[each], columns));
}

/** Lists as many names after a title as fit in a line, at least one, and counts the others. */
export function listNames(title: string, parts: readonly string[], columns = Number.POSITIVE_INFINITY): string {
  const names = parts.map((part) => toTerminalName(part));
  const most = columns === Number.POSITIVE_INFINITY ? names.length : Math.min(names.length, MOST_ON_A_LINE);
  for (let shown = most; shown > 1; shown--) {
    const line = `${title}: ${names.slice(0, shown).join("; ")}${wordRest(names.length - shown)}`;
    if (line.length <= columns) return line;
  }
  const rest = wordRest(names.length - 1);
  return `${title}: ${toTerminalName(parts[0] ?? "", columns - title.length - rest.length - 2)}${rest}`;
}

function wordRest(number: number): string {
  return number === 0 ? "" : `; and ${number} more`;
}

const LABELS: Readonly<Record<string, string>> = {
  settings: "settings file",
  "append-system-prompt": "system prompt addition",
};

function wordKind(kind: string): string {
  return (Object.hasOwn(LABELS, kind) && LABELS[kind]) || toTerminalName(kind.replaceAll("-", " "));
}
