import type { Agent, Model, ProviderDefinition } from "@pi-agent/kernel";
import type { CustomProvider, ModelsFile } from "./models-file.ts";

/** Asks the kernel what is registered: an agent's own `registry`. */
export type RegistryOf = Agent["registry"];

/** A provider as the registries and `models.json` make it together. */
export interface ProviderRow {
  id: string;
  name: string;
  /** The variables that may hold its key, best first. */
  env: readonly string[];
  definition?: ProviderDefinition;
  custom?: CustomProvider;
  /** Set when it gets no key (T4): the project that defined it, or the wire format that it speaks. */
  keylessBecause?: string;
}

/** Lists all providers. What a project registers never stands in for one that the person has in `models.json`. */
export function listProviders(registry: RegistryOf, file: ModelsFile): Map<string, ProviderRow> {
  const rows = new Map<string, ProviderRow>();
  const customs = file.providers();
  const projectApis = apisOfProject(registry);
  // The name counts, not what the definition calls itself: names are what the kernel guards.
  for (const [id, { value: definition, owner }] of registry("provider")) {
    const custom = customs.get(id);
    const isProjects = owner.scope === "project";
    if (isProjects && custom) continue;
    const keylessBecause = isProjects
      ? `the project defined it (${owner.path ?? owner.name})`
      : tellProjectApi(projectApis, [definition, ...definition.models, ...(custom ? [custom, ...custom.models] : [])]);
    const name = custom?.name ?? definition.name ?? id;
    rows.set(id, { id, name, env: definition.env, definition, custom, keylessBecause });
  }
  for (const [id, custom] of customs) {
    const keylessBecause = tellProjectApi(projectApis, [custom, ...custom.models]);
    if (!rows.has(id)) rows.set(id, { id, name: custom.name ?? id, env: [], custom, keylessBecause });
  }
  return rows;
}

/**
 * Says why a model must not get its provider's key: it speaks a project's wire format, or its requests go where neither
 * the provider's package nor the person has it (T4). `known` are the provider's models.
 */
export function tellRedirect(
  { definition, custom }: ProviderRow,
  model: Model,
  { registry, known }: { registry: RegistryOf; known: readonly Model[] },
): string | undefined {
  const spoken = tellProjectApi(apisOfProject(registry), [model]);
  if (spoken !== undefined || model.baseUrl === undefined) return spoken;
  const places = [definition, custom, ...known].map((each) => toPlace(each?.baseUrl));
  return places.includes(toPlace(model.baseUrl))
    ? undefined
    : `the model ${model.id} sends it to ${model.baseUrl}, where that provider is not`;
}

function toPlace(baseUrl: string | undefined): string | undefined {
  return baseUrl?.replace(/\/+$/, "");
}

/** By name: who of the project registered it. */
function apisOfProject(registry: RegistryOf): Map<string, string> {
  const apis = new Map<string, string>();
  for (const [name, { owner }] of registry("api")) {
    if (owner.scope === "project") apis.set(name, owner.path ?? owner.name);
  }
  return apis;
}

function tellProjectApi(
  projectApis: ReadonlyMap<string, string>,
  speakers: readonly { api?: string }[],
): string | undefined {
  if (projectApis.size === 0) return undefined;
  const api = speakers.map((speaker) => speaker.api ?? "").find((name) => projectApis.has(name));
  return api && `the project defined its wire format ${api} (${projectApis.get(api)})`;
}
