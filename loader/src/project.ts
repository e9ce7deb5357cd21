/** The third phase: what was granted of a project, and nothing else. */
import type { Agent, Extension, ExtensionAPI, ExtensionReport } from "@pi-agent/kernel";
import { loadExtensions, type Wanted } from "./extensions.ts";
import type { Importer } from "./import.ts";
import { findBoundary } from "./places.ts";
import { contentOf, type PlanItem } from "./plan.ts";
import type { PackagedText, ResourceStore } from "./resources.ts";
import type { SettingsStore } from "./settings.ts";
import { assertGrant, type TrustGrant } from "./trust.ts";

export interface ProjectTarget {
  cwd: string;
  agent: Agent;
  settings: Pick<SettingsStore, "grantProject" | "revokeProject">;
  resources: Pick<ResourceStore, "grant">;
  importer: Importer;
  /** What granted packages bring. */
  packaged?: { extensions: readonly Wanted[]; texts: readonly PackagedText[] };
  /** The options of an extension, where an agent that picked it gives any. */
  optionsFor?(path: string): unknown;
  /** Names of what is loaded already. */
  alive: ReadonlySet<string>;
  /** Names of extensions that go on as they are. */
  staying: ReadonlySet<string>;
}

/**
 * Loads what a grant lets load: settings, texts, extensions, in this order, in place of what an earlier one let load.
 * Answers a report on each extension. Fails with `no_grant` for a grant that is not one for this project and this content.
 */
export async function loadProject(grant: TrustGrant, target: ProjectTarget): Promise<ExtensionReport[]> {
  const { plan, decision } = grant;
  const { agent, importer, alive, settings, packaged = { extensions: [], texts: [] } } = target;
  assertGrant(grant, findBoundary(target.cwd));
  const files = grantedItems(grant).filter(({ kind }) => kind === "settings");
  if (files.length === 0) settings.revokeProject();
  for (const { path } of files) {
    const bytes = contentOf(plan, path);
    if (bytes) settings.grantProject(bytes, path, true);
  }
  await target.resources.grant(plan, decision, packaged.texts);
  importer.serve(grant);
  const granted = wantedOf(grant).map((each) => ({ ...each, options: target.optionsFor?.(each.path) }));
  const wanted = [...granted.filter(({ scope }) => scope === "flag"), ...packaged.extensions, ...granted];
  const anew = [...new Map(wanted.map((each) => [each.path, each])).values()];
  return loadExtensions(
    anew.filter(({ path }) => !target.staying.has(path)),
    { agent, importer, alive, adapt: withoutVote },
  );
}

/** The extensions that a grant lets load, in load order: what was typed comes before the project's own (E3). */
export function wantedOf(grant: TrustGrant): (Wanted & Pick<PlanItem, "id" | "digest">)[] {
  const wanted = grantedItems(grant).filter(({ kind }) => kind === "extension");
  return wanted
    .map(({ id, digest, path, requires, scope }) => ({ id, digest, path, requires, scope }))
    .toSorted((a, b) => Number(a.scope === "project") - Number(b.scope === "project"));
}

function grantedItems({ plan, digests }: TrustGrant): PlanItem[] {
  return plan.items.filter(({ id, digest }) => digests.get(id) === digest);
}

/** Code from inside a project has no say in what is trusted, be it the next content of this project or another one (T4). */
function withoutVote(extension: Extension): Extension {
  const setup: Extension = (pi, options) => {
    const on: ExtensionAPI["on"] = (name, handler) => (name === "project_trust" ? () => {} : pi.on(name, handler));
    // No way leads from it to the `pi` behind it, as one would from a prototype.
    const own = Object.freeze({ ...pi, on });
    return extension(own, options);
  };
  return Object.assign(setup, extension.options && { options: extension.options });
}
