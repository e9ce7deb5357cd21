/** `pi config`: turns single resources of a package on and off, by filters in the settings. */
import { AgentError } from "@pi-agent/kernel";
import type { ResourceList } from "./contents.ts";
import { type PackageContext, type PackageScope, scopeOf } from "./context.ts";
import { readDeclared, writeFilters } from "./declared.ts";
import { turn } from "./filters.ts";
import { findInstalled } from "./installed.ts";
import { withStore } from "./store.ts";

/** Turns a resource on or off. Fails with `package_unknown` where the package, or what it should have, is not there. */
export async function turnResource(
  context: PackageContext,
  {
    scope: name = "user",
    identity,
    list,
    path,
    on,
  }: { scope?: PackageScope["name"]; identity: string; list: ResourceList; path: string; on: boolean },
): Promise<void> {
  const scope = scopeOf(context, name);
  await withStore(context, scope, async () => {
    const declared = readDeclared(context, scope);
    const each = declared.declared.find(({ source }) => source.identity === identity);
    const only = { declared: each ? [each] : [], faults: [] };
    const [installed] = await findInstalled(context, scope, { declared: only });
    const resources = installed?.resources;
    if (!each || !resources?.[list].some((item) => item.path === path)) throw wordUnknown(identity, path);
    const contents = { ...resources, refused: [] };
    await writeFilters(context, scope, each, turn(contents, each.filters, { list, path, on }));
  });
}

function wordUnknown(identity: string, path: string): AgentError {
  return new AgentError("package_unknown", `There is no ${path} in ${identity} that could be turned on or off.`, {
    hint: "pi list shows what is installed and what it contains.",
  });
}
