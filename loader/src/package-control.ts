/** What a program may do about packages: the context of every operation, and what it needs of trust. */
import { join } from "node:path";
import { AgentError } from "@pi-agent/kernel";
import { isJsonObject } from "./json-check.ts";
import type { PackageControl } from "./options.ts";
import { parseOwnText } from "./own-file.ts";
import type { InstalledPackage } from "./packages/index.ts";
import type { Phases } from "./phases.ts";
import { lookAt, type Places } from "./places.ts";
import { belowBoundary, contentOf, type LoadPlan, type PlanItem } from "./plan.ts";
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

/**
 * Remembers what the person has just changed through us, and nothing else that changed meanwhile: settings that differ in
 * packages alone, packages whose locked files lie in the store, which only our own installs write, and what lies in
 * folders that those settings declare. All else of the project waits as before.
 */
async function approveChange(phases: Phases): Promise<void> {
  const { grant: before, projectTrust, installed, places } = phases;
  if (!before || findFault(phases)) return;
  const { plan } = await projectTrust.settle([]);
  if (plan.digest === before.plan.digest) return;
  const held = plan.items.filter(({ verdict }) => verdict === "held");
  const settings = held.filter((item) => item.kind === "settings" && differsInPackages(item, before.plan, plan));
  if (settings.length === 0 && held.some(({ kind }) => kind === "settings")) return;
  const { listPackages } = await import("./packages/index.ts");
  const there = (await listPackages(installed.contextFor(projectFolder(places)))).filter(isThere);
  const isInstalled = ({ id }: PlanItem) => there.some(({ identity }) => id === `${PACKAGE}:${identity}`);
  const isNew = ({ id }: PlanItem) => !before.plan.items.some((each) => each.id === id);
  const ours = held.filter((item) => {
    if (item.kind === PACKAGE) return isInstalled(item);
    return settings.includes(item) || (item.source === "settings" && isNew(item));
  });
  for (const { id } of ours) phases.grant = await projectTrust.decide("content", { only: id, digest: plan.digest });
}

function isThere({ scope, state }: InstalledPackage): boolean {
  return scope === "project" && (state === "ok" || state === "disabled");
}

function differsInPackages({ path }: PlanItem, before: LoadPlan, after: LoadPlan): boolean {
  const [was, is] = [before, after].map((plan) => {
    const { values, problem } = parseOwnText(path, new TextDecoder().decode(contentOf(plan, path)));
    const { packages: _packages, piAgent, $schema: _schema, ...others } = values;
    const { packages: _own, ...rest } = isJsonObject(piAgent) ? piAgent : {};
    return problem ? undefined : JSON.stringify([others, rest]);
  });
  return is !== undefined && was === is;
}
