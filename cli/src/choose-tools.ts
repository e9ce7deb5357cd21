/** Decides by the flags which tools are on. */
import type { FlagValue, Registered } from "@pi-agent/kernel";
import { nearestNames } from "@pi-agent/loader";
import { isOn } from "./flags.ts";
import { hintToBring, packageOfTool } from "./left-out.ts";
import type { Problem } from "./problem.ts";

export type ToolTable = ReadonlyMap<string, Pick<Registered<"tool">, "value" | "owner">>;

/**
 * Answers the names of the tools that are on; `undefined` when no flag says anything.
 *
 *   --no-tools ─► none │ --tools a,b* ─► only these │ --tools +a,-b ─► the usual ones, changed │ else the usual ones
 *   --no-builtin-tools takes the official ones away, --exclude-tools takes away last
 *
 * The usual ones are those that the agent's file lists, else those that are on by default.
 */
export function chooseTools(
  flags: ReadonlyMap<string, FlagValue>,
  tools: ToolTable,
  listed?: readonly string[],
): string[] | Problem | undefined {
  const names = ["tools", "exclude-tools", "no-tools", "no-builtin-tools"];
  if (!names.some((name) => flags.has(name) && flags.get(name) !== false)) return undefined;
  if (isOn(flags, "no-tools")) return [];
  const asked = splitList(flags.get("tools"));
  const excluded = splitList(flags.get("exclude-tools"));
  const problem = checkList(asked) ?? checkNames([...asked, ...excluded], tools);
  if (problem) return problem;
  const isUsual = (name: string) => {
    const { value, owner } = tools.get(name) as Pick<Registered<"tool">, "value" | "owner">;
    const isDefault = listed ? listed.includes(name) : value.defaultActive !== false;
    return isDefault && !(isOn(flags, "no-builtin-tools") && owner.scope === "official");
  };
  const isChosen = (name: string) => {
    if (matchesAny(name, excluded)) return false;
    if (asked.length === 0) return isUsual(name);
    if (!isChange(asked[0] ?? "")) return matchesAny(name, asked);
    const last = asked.findLast((entry) => matches(name, entry.slice(1)));
    return last === undefined ? isUsual(name) : last.startsWith("+");
  };
  return [...tools.keys()].filter(isChosen);
}

function splitList(value: FlagValue | undefined): string[] {
  return typeof value === "string" ? value.split(",").flatMap((entry) => entry.trim() || []) : [];
}

function isChange(entry: string): boolean {
  return entry.startsWith("+") || entry.startsWith("-");
}

function checkList(asked: readonly string[]): Problem | undefined {
  if (asked.every(isChange) || !asked.some(isChange)) return undefined;
  return {
    what: `--tools mixes two ways: ${asked.join(",")}`,
    why: "names say which tools are on, +name and -name change the usual ones",
    hint: "write only names, or only +name and -name",
  };
}

function checkNames(entries: readonly string[], tools: ToolTable): Problem | undefined {
  const unknown = entries
    .map((entry) => (isChange(entry) ? entry.slice(1) : entry))
    .find((entry) => !entry.includes("*") && !tools.has(entry));
  if (unknown === undefined) return undefined;
  const from = packageOfTool(unknown);
  if (from !== undefined) {
    const why = `it comes with ${from}, which is not loaded`;
    return { what: `there is no tool ${unknown}`, why, hint: hintToBring(from) };
  }
  const [nearest] = nearestNames(unknown, tools.keys(), 1);
  return {
    what: `there is no tool ${unknown}`,
    why: `tools here: ${[...tools.keys()].join(", ") || "none"}`,
    hint: nearest === undefined ? undefined : `did you mean ${nearest}?`,
  };
}

function matchesAny(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => matches(name, pattern));
}

/** `*` stands for any letters. */
function matches(name: string, pattern: string): boolean {
  const parts = pattern.split("*").map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`).test(name);
}
