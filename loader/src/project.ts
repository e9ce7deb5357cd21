/** The third phase: what was granted of a project, and nothing else. */
import { type Agent, AgentError, type ExtensionReport } from "@pi-agent/kernel";
import { loadExtensions } from "./extensions.ts";
import type { Check, Importer } from "./import.ts";
import { findBoundary, isInside } from "./places.ts";
import { belowBoundary, contentOf, digestBytes, type LoadPlan } from "./plan.ts";
import type { ResourceStore } from "./resources.ts";
import type { SettingsStore } from "./settings.ts";
import { assertGrant, type TrustGrant } from "./trust.ts";

export interface ProjectTarget {
  cwd: string;
  agent: Agent;
  settings: Pick<SettingsStore, "grantProject">;
  resources: Pick<ResourceStore, "grant">;
  importer: Importer;
}

/**
 * Loads what a grant lets load: settings, texts, extensions, in this order. Answers a report on each extension.
 * Fails with `no_grant` for a grant that is not one for this project and this content.
 */
export async function loadProject(grant: TrustGrant, target: ProjectTarget): Promise<ExtensionReport[]> {
  const { plan, decision } = grant;
  assertGrant(grant, findBoundary(target.cwd));
  const granted = plan.items.filter(({ id, digest }) => grant.digests.get(id) === digest);
  for (const { kind, path } of granted) {
    const bytes = kind === "settings" ? contentOf(plan, path) : undefined;
    if (bytes) target.settings.grantProject(bytes, path, true);
  }
  await target.resources.grant(plan, decision);
  const wanted = granted
    .filter(({ kind }) => kind === "extension")
    .map(({ path, requires, scope }) => ({ path, requires, scope }));
  // What was typed loads before the project's own (E3).
  wanted.sort((a, b) => Number(a.scope === "project") - Number(b.scope === "project"));
  return loadExtensions(wanted, { agent: target.agent, importer: target.importer, check: createCheck(plan) });
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
