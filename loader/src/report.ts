/** What became of everything that was to be loaded. */
import type { AgentError, ExtensionReport } from "@pi-agent/kernel";
import type { Places } from "./places.ts";
import { createPlan, type LoadPlan, type PlanItem } from "./plan.ts";
import { toPrintable } from "./printable.ts";
import { wordFileProblem, wordForeign, wordRefusal, wordWithheld } from "./problems.ts";
import type { Stores } from "./stores.ts";
import type { TrustDecision, TrustGrant } from "./trust.ts";

export interface LoadReport {
  readonly cwd: string;
  readonly boundary: string;
  readonly agentDir: string;
  /** Every extension, in load order, whether it was loaded or failed. */
  readonly extensions: readonly ExtensionReport[];
  /** What the project brings, with what became of it. */
  readonly plan: LoadPlan;
  readonly decision: TrustDecision;
  readonly decidedBy: TrustGrant["decidedBy"];
  /** What a person should know: each with what happened, why, and what to do. */
  readonly problems: readonly AgentError[];
  /** One line for standard error about what was not loaded; `undefined` when everything was. */
  heldLine(): string | undefined;
}

// What can run comes first.
const LABELS: Record<string, string> = {
  extension: "extension",
  agent: "agent",
  settings: "settings file",
  skill: "skill",
  prompt: "prompt",
  theme: "theme",
  "system-prompt": "system prompt",
  "append-system-prompt": "system prompt addition",
  "context-file": "context file",
};

/** What a report is read from, as it is when somebody looks. */
export interface ReportSource {
  readonly places: Places;
  readonly stores: Pick<Stores, "settings" | "modelsFile" | "credentials" | "resources">;
  readonly extensions: readonly ExtensionReport[];
  readonly problems: readonly AgentError[];
  readonly grant: TrustGrant | undefined;
}

/** Makes the report of what is loaded. It tells how things are now: a reload and another session change it. */
export function createReport(from: ReportSource): LoadReport {
  return {
    get cwd() {
      return from.places.cwd;
    },
    get boundary() {
      return from.places.boundary;
    },
    get agentDir() {
      return from.places.agentDir;
    },
    get extensions() {
      return from.extensions;
    },
    get plan() {
      return from.grant?.plan ?? createPlan({ project: from.places.boundary, cwd: from.places.cwd }, [], new Map());
    },
    get decision() {
      return from.grant?.decision ?? "untrusted";
    },
    get decidedBy() {
      return from.grant?.decidedBy ?? "nobody";
    },
    get problems() {
      const { foreignAgentDir, boundary } = from.places;
      const { settings, modelsFile, credentials, resources } = from.stores;
      return [
        ...(foreignAgentDir === undefined ? [] : [wordForeign(foreignAgentDir, boundary)]),
        ...[settings, modelsFile, credentials].flatMap((each) => each.problems.map(wordFileProblem)),
        ...from.problems,
        ...resources.refused.map(wordRefusal),
        ...settings.withheld.map(wordWithheld),
      ];
    },
    heldLine: () => from.grant && wordHeld(from.grant.plan),
  };
}

/** Words what of a plan is held back, and what is refused. */
export function wordHeld({ items }: LoadPlan): string | undefined {
  const held = items.filter(({ verdict }) => verdict === "held");
  const refused = items.filter(({ verdict }) => verdict === "refused");
  const parts: string[] = [];
  if (held.length > 0) parts.push(`${count(held.length, "project resource")} held back (${countKinds(held)})`);
  if (refused.length > 0)
    parts.push(
      `${held.length > 0 ? refused.length : count(refused.length, "project resource")} refused (${wordRefused(refused)})`,
    );
  if (parts.length === 0) return undefined;
  const allow = held.length > 0 ? ", allow with pi trust yes, or with --approve for one run" : "";
  return `${parts.join(", ")}: look with pi trust show${allow}`;
}

function countKinds(items: readonly PlanItem[]): string {
  const kinds = new Set([...Object.keys(LABELS), ...items.map(({ kind }) => kind)]);
  const counts = [...kinds].map((kind) => {
    const number = items.filter((item) => item.kind === kind).length;
    return number === 0 ? "" : count(number, LABELS[kind] ?? kind);
  });
  return counts.filter((text) => text !== "").join(", ");
}

function wordRefused([first, ...others]: readonly PlanItem[]): string {
  const named = first ? `${toPrintable(first.id.slice(first.kind.length + 1))} ${toPrintable(first.reason)}` : "";
  return others.length === 0 ? named : `${named}, and ${others.length} more`;
}

function count(number: number, noun: string): string {
  return `${number} ${toPrintable(noun)}${number === 1 ? "" : "s"}`;
}
