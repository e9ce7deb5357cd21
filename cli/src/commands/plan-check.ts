/** Compares the load plan with what really happened. */
import {
  contentOf,
  type LoaderHost,
  type LoadReport,
  type PackageFacts,
  type PlanItem,
  type Verdict,
} from "@pi-agent/loader";

/** A resource of the project, what the plan says of it and why, and whether it is in force now. */
export interface PlanLine extends Pick<PlanItem, "id" | "kind" | "reason"> {
  planned: Verdict;
  isInForce: boolean;
  isAsPlanned: boolean;
}

/** Looks up every resource of the plan where it is when it is loaded. */
export function checkPlan(report: Pick<LoadReport, "plan" | "extensions">, host: LoaderHost): PlanLine[] {
  return report.plan.items.map((item) => {
    const { id, kind, reason, verdict: planned } = item;
    const isInForce = findInForce(item, report, host);
    return { id, kind, reason, planned, isInForce, isAsPlanned: isInForce === (planned === "loaded") };
  });
}

function findInForce(
  item: PlanItem,
  { plan, extensions }: Pick<LoadReport, "plan" | "extensions">,
  host: LoaderHost,
): boolean {
  const { kind, path } = item;
  if (kind === "settings") return areSettingsInForce(item, plan, host);
  if (kind === "package") return host.packages.list().some((each) => isThere(each, item));
  if (kind !== "extension") return host.resources?.list(kind).some((each) => each.path === path) ?? false;
  return extensions.some(({ owner, state }) => owner.path === path && (state === "loaded" || state === "kept"));
}

/** All of it may be turned off. */
function isThere({ scope, identity, state }: PackageFacts, { id }: PlanItem): boolean {
  return scope === "project" && id === `package:${identity}` && (state === "ok" || state === "disabled");
}

/** Of what a file asks for, some may be withheld, and is told as that. */
function areSettingsInForce({ path, verdict }: PlanItem, plan: LoadReport["plan"], { settings }: LoaderHost): boolean {
  const bytes = contentOf(plan, path);
  const asked = bytes ? settings.inspectProject(bytes, path).settings.map(({ key }) => key) : [];
  const isWithheld = (key: string) => settings.withheld.some((each) => each.key === key);
  if (asked.some((key) => settings.projectValue(key) !== undefined)) return true;
  return verdict === "loaded" && asked.every(isWithheld);
}
