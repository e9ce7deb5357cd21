/** `pi list`: every package of both scopes; and what is newer, which takes the network. */
import { isAgentError } from "@pi-agent/kernel";
import { type PackageContext, scopeOf } from "./context.ts";
import { resolveRef } from "./git.ts";
import { findInstalled, type InstalledPackage } from "./installed.ts";
import { loadNpmOptions } from "./npmrc.ts";
import { listVersions } from "./registry.ts";
import { parseSource } from "./source.ts";

/** What is newer of a package. What is absent is not known, or does not exist for its kind. */
export interface Newer {
  identity: string;
  scope: InstalledPackage["scope"];
  /** The version or commit that `pi update` would install. */
  wanted?: string;
  /** The newest there is, whatever the source says. */
  latest?: string;
  /** Why neither is known. */
  reason?: string;
}

// Questions that are asked at a time.
const AT_ONCE = 8;

/** Lists what is declared, the person's first. Nothing is fetched. */
export async function listPackages(
  context: PackageContext,
  options: { isThorough?: boolean } = {},
): Promise<InstalledPackage[]> {
  const scopes = context.projectDir === undefined ? (["user"] as const) : (["user", "project"] as const);
  const lists = await Promise.all(scopes.map((name) => findInstalled(context, scopeOf(context, name), options)));
  return lists.flat();
}

/** Asks for every package what is newer. Never fails: `reason` says why something is not known. */
export async function findNewer(context: PackageContext, packages: readonly InstalledPackage[]): Promise<Newer[]> {
  const newer: Newer[] = packages.map(({ identity, scope }) => ({ identity, scope }));
  const queue = packages.map((each, at) => ({ each, at }));
  const npm = packages.some(({ identity }) => identity.startsWith("npm:")) ? await loadNpmOptions(context) : undefined;
  const work = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const { each, at } = next;
      newer[at] = { ...newer[at]!, ...(await ask(context, each, npm)) };
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return newer;
}

async function ask(
  context: PackageContext,
  { source: text, scope, state, problem }: InstalledPackage,
  npm: Awaited<ReturnType<typeof loadNpmOptions>> | undefined,
): Promise<Pick<Newer, "wanted" | "latest" | "reason">> {
  if (state === "refused" && problem?.code === "package_source") return {};
  try {
    const source = parseSource(text, { folder: scopeOf(context, scope).folder, home: context.home });
    if (source.kind === "git") return { wanted: (await resolveRef(context, source)).commit };
    if (source.kind !== "npm" || !npm) return {};
    const { versions, tags } = await listVersions(npm, source.name);
    const { latest } = tags;
    if (source.how === "tag") return { wanted: tags[source.spec || "latest"], latest };
    if (source.how === "exact") return { wanted: source.spec, latest };
    const { maxSatisfying } = (await import("semver")).default;
    return { wanted: maxSatisfying(versions, source.spec) ?? undefined, latest };
  } catch (thrown) {
    if (isAgentError(thrown)) return { reason: thrown.message };
    throw thrown;
  }
}
