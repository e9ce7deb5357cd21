/** Words how things stand with a project's trust, and what an answer made of it. */
import { join } from "node:path";
import {
  type LoadPlan,
  type LoadReport,
  listDecisions,
  type PlanItem,
  type TrustAnswer,
  type TrustScope,
} from "@pi-agent/loader";
import { formatTable } from "../table.ts";
import { toTerminalName } from "../terminal-text.ts";
import { countKinds, nameOf } from "./word-item.ts";

export type TrustReport = Pick<LoadReport, "plan" | "agentDir" | "decision" | "decidedBy">;

/** When what was said takes effect: a sub-command loads nothing of the project. */
export type When = "now" | "at the next start";

/** Describes the decision about a project, where it is kept, and what it lets load. */
export function describeStatus(report: TrustReport): string {
  const { plan, decision, decidedBy } = report;
  const { loads, held, refused } = sort(plan);
  const rows = [
    ["project", toTerminalName(plan.project)],
    ["decision", `${decision}, by ${decidedBy}`],
    ...storedRows(listStored(report)),
    ["loads", countKinds(loads)],
    ["held back", countKinds(held)],
    ...(refused.length > 0 ? [["refused", `${countKinds(refused)}: pi trust show says why`]] : []),
    ["content", plan.digest],
  ];
  const next = held.length > 0 ? `\n${wordNext(held)}\n` : "";
  return `${formatTable(rows)}${next}`;
}

/** Describes what is true after an answer, and how it is taken back. */
export function describeAnswer(
  plan: LoadPlan,
  { answer, item, below, when }: { answer: TrustAnswer; item?: PlanItem; when: When } & Pick<TrustScope, "below">,
): string {
  const what = item ? `${nameOf(item)} in ${toTerminalName(plan.project)}` : toTerminalName(plan.project);
  const { loads, held } = sort(plan);
  const also = below ? " and folders below that are no projects of their own" : "";
  return [
    `${ANSWERS[answer]}: ${what}${also}`,
    `${when === "now" ? "Loaded now" : "Loads at the next start"}: ${countKinds(loads)}; held back: ${countKinds(held)}.`,
    NEXT[answer],
    "",
  ].join("\n");
}

/** Describes what is true after what was remembered is taken back. */
export function describeForgotten(plan: LoadPlan, wasKnown: boolean): string {
  const { held } = sort(plan);
  const what = wasKnown ? "Forgotten" : "Nothing was remembered about";
  const next = held.length > 0 ? wordNext(held) : "It brings nothing that waits for an answer.";
  return `${what}: ${toTerminalName(plan.project)}\n${next}\n`;
}

const ANSWERS: Record<TrustAnswer, string> = {
  content: "Trusted as it is now",
  text: "Its texts are trusted as they are now",
  folder: "Trusted whatever it becomes",
  "not-now": "Left as it was",
  never: "Not trusted",
};
const BACK = "Taken back with: pi trust forget.";
const NEXT: Record<TrustAnswer, string> = {
  content: `What changes is asked about again. ${BACK}`,
  text: `What changes is asked about again. One thing more is allowed with: pi trust yes PATH. ${BACK}`,
  folder: `What is added or changed later loads too, whoever does it. ${BACK}`,
  "not-now": "Nothing was remembered.",
  never: `It is not asked about again. ${BACK}`,
};

/** Describes everything that is remembered about projects. Of resources it counts those that load, of those known. */
export function describeDecisions({
  decisions,
  plain,
}: Pick<ReturnType<typeof listDecisions>, "decisions" | "plain">): string {
  const rows = decisions.map(({ project, decision, bound, below, resources, held, decidedAt, decidedBy, isGone }) => {
    const isNo = decision === "denied";
    const counted = isNo ? "" : held > 0 ? `${resources - held} of ${resources}` : String(resources);
    const folder = `${project}${below ? " and below" : ""}${isGone ? " (gone)" : ""}`;
    return [decision, isNo ? "" : bound, counted, decidedAt, decidedBy, folder];
  });
  const plainRows = Object.entries(plain).map(([folder, said]) => [String(said), "", "", "", "trust.json", folder]);
  const all = [["decision", "bound to", "resources", "when", "by", "project"], ...rows, ...plainRows];
  if (all.length === 1) return "Nothing was decided yet.\n";
  return formatTable(all.map((row) => row.map((cell) => toTerminalName(cell))));
}

/** A file that says something about a project, and what it says. */
export interface StoredWord {
  file: string;
  says: string;
}

/** What is kept about a project: its own record, those of folders above that say "and below", and Pi's file. */
export function listStored({ plan, agentDir }: Pick<TrustReport, "plan" | "agentDir">): StoredWord[] {
  const { decisions, plain } = listDecisions(agentDir);
  const isAbove = (folder: string) => plan.project.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
  const records = decisions
    .filter(({ project, below }) => project === plan.project || (below && isAbove(project)))
    .map(({ file, project, decision, bound, decidedAt, decidedBy }) => {
      const what = decision === "denied" ? "never" : `${decision}, bound to its ${bound}`;
      const where = project === plan.project ? "" : ` for ${project} and below`;
      return { file, says: `${what}${where}, by ${decidedBy}, ${decidedAt}` };
    });
  const plainOnes = Object.entries(plain)
    .filter(([folder, said]) => folder === plan.project || (!said && isAbove(folder)))
    .map(([folder, said]) => ({ file: join(agentDir, "trust.json"), says: `${said} for ${folder}, as Pi reads it` }));
  return [...records, ...plainOnes];
}

/** Rows of a table about them. */
export function storedRows(stored: readonly StoredWord[]): string[][] {
  const rows = stored.flatMap(({ file, says }) => [
    ["stored", toTerminalName(says)],
    ["", toTerminalName(file)],
  ]);
  return rows.length > 0 ? rows : [["stored", "nothing"]];
}

function sort({ items }: LoadPlan) {
  const of = (verdict: PlanItem["verdict"]) => items.filter((item) => item.verdict === verdict);
  return { loads: of("loaded"), held: of("held"), refused: of("refused") };
}

function wordNext(held: readonly PlanItem[]): string {
  const texts = held.some(({ grade }) => grade === "text") ? ", or pi trust text for its texts only" : "";
  return `pi trust show lists what is held back; pi trust yes lets it load${texts}.`;
}
