/** The third phase: what was granted of a project, and nothing else. */
import { type Agent, AgentError, type Extension, type ExtensionAPI, type ExtensionReport } from "@pi-agent/kernel";
import { loadExtensions, type Wanted } from "./extensions.ts";
import type { Check, Importer } from "./import.ts";
import { findBoundary, isInside } from "./places.ts";
import { belowBoundary, contentOf, digestBytes, type LoadPlan, type PlanItem } from "./plan.ts";
import type { ResourceStore } from "./resources.ts";
import type { SettingsStore } from "./settings.ts";
import { assertGrant, type TrustGrant } from "./trust.ts";

export interface ProjectTarget {
  cwd: string;
  agent: Agent;
  settings: Pick<SettingsStore, "grantProject" | "revokeProject">;
  resources: Pick<ResourceStore, "grant">;
  importer: Importer;
  /** Names of what is loaded already. */
  alive: ReadonlySet<string>;
}

/**
 * Loads what a grant lets load: settings, texts, extensions, in this order, in place of what an earlier one let load.
 * Answers a report on each extension. Fails with `no_grant` for a grant that is not one for this project and this content.
 */
export async function loadProject(grant: TrustGrant, target: ProjectTarget): Promise<ExtensionReport[]> {
  const { plan, decision } = grant;
  const { agent, importer, alive, settings } = target;
  assertGrant(grant, findBoundary(target.cwd));
  const files = grantedItems(grant).filter(({ kind }) => kind === "settings");
  if (files.length === 0) settings.revokeProject();
  for (const { path } of files) {
    const bytes = contentOf(plan, path);
    if (bytes) settings.grantProject(bytes, path, true);
  }
  await target.resources.grant(plan, decision);
  const into = { agent, importer, alive, check: createCheck(plan), adapt: withoutVote };
  return loadExtensions(wantedOf(grant), into);
}

/** The extensions that a grant lets load, in load order: what was typed comes before the project's own (E3). */
export function wantedOf(grant: TrustGrant): Wanted[] {
  const wanted = grantedItems(grant).filter(({ kind }) => kind === "extension");
  return wanted
    .map(({ path, requires, scope }) => ({ path, requires, scope }))
    .toSorted((a, b) => Number(a.scope === "project") - Number(b.scope === "project"));
}

function grantedItems({ plan, digests }: TrustGrant): PlanItem[] {
  return plan.items.filter(({ id, digest }) => digests.get(id) === digest);
}

/** Code from inside a project has no say in what is trusted, be it the next content of this project or another one (T4). */
function withoutVote(extension: Extension): Extension {
  const setup: Extension = (pi, options) => {
    const on: ExtensionAPI["on"] = (name, handler) => (name === "project_trust" ? () => {} : pi.on(name, handler));
    return extension(Object.create(pi, { on: { value: on } }) as ExtensionAPI, options);
  };
  return Object.assign(setup, extension.options && { options: extension.options });
}

/** Sees that a project file is evaluated as it was when the plan was made. */
function createCheck(plan: LoadPlan): Check {
  const members = new Map(plan.items.flatMap(({ members: each }) => Object.entries(each)));
  return (file, source) => {
    if (!isInside(file, plan.project)) return;
    const digest = members.get(belowBoundary(plan.project, file));
    if (digest === undefined || digest === digestBytes(Buffer.from(source))) return;
    throw new AgentError("content_changed", `${file} changed while it was being loaded.`, {
      hint: "Look at it, then start again: what it is now was not approved.",
    });
  };
}
