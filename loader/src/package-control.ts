/** What a program may do about packages: the context of every operation, and what it needs of trust. */
import { join } from "node:path";
import { AgentError } from "@pi-agent/kernel";
import type { PackageControl } from "./options.ts";
import type { Phases } from "./phases.ts";
import { lookAt, type Places } from "./places.ts";
import { belowBoundary, type PlanItem } from "./plan.ts";
import { toPrintable } from "./printable.ts";
import { PACKAGE } from "./project-packages.ts";

/** Makes the control for where the person is now. */
export function createPackageControl(phases: Phases): PackageControl {
  const projectFault = findFault(phases);
  const context = phases.installed.contextFor(projectFault ? undefined : projectFolder(phases.places));
  return { context, projectFault, approveChange: () => approveChange(phases) };
}

/** The `.pi` whose settings hold here; where there is none, that of the working directory. */
function projectFolder({ cwd, boundary }: Places): string {
  return [cwd, boundary].map((each) => join(each, ".pi")).find(lookAt) ?? join(cwd, ".pi");
}

/** What says which packages there are has to be trusted before anybody goes by it. */
function findFault({ grant, places }: Phases): AgentError | undefined {
  const items = grant?.plan.items ?? [];
  const untrusted = items.find((item) => says(item) && item.verdict !== "loaded" && !isMerelyUnlocked(item));
  if (!untrusted) return undefined;
  const shown = toPrintable(belowBoundary(places.boundary, untrusted.path));
  const why = untrusted.verdict === "held" ? "is not trusted" : untrusted.reason;
  return new AgentError("project_not_trusted", `The project's packages are left alone: ${shown} ${why}.`, {
    hint: "Look with pi trust show; then pi trust yes, or --approve for this one time.",
  });
}

function says({ kind }: PlanItem): boolean {
  return kind === "settings" || kind === "folder" || kind === PACKAGE;
}

/** Installing locks it. */
function isMerelyUnlocked({ kind, verdict }: PlanItem): boolean {
  return kind === PACKAGE && verdict === "refused";
}

/** Remembers settings and packages as the person has just made them; all else of the project waits as before. */
async function approveChange(phases: Phases): Promise<void> {
  if (findFault(phases)) return;
  const { plan } = await phases.projectTrust.settle([]);
  for (const { id } of plan.items.filter((item) => says(item) && item.verdict === "held")) {
    phases.grant = await phases.projectTrust.decide("content", { only: id, digest: plan.digest });
  }
}
