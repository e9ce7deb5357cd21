/**
 * What of the declared packages is there, and may be loaded: for the load phases and for `pi list`. Nothing is fetched
 * and nothing is changed but a record that is renewed; what is missing or changed is told, with the command to run (P11).
 */
import { basename } from "node:path";
import { AgentError, isAgentError, type Json } from "@pi-agent/kernel";
import { lookAt } from "../places.ts";
import { toPrintable } from "../printable.ts";
import { findContents } from "./contents.ts";
import type { PackageContext, PackageScope } from "./context.ts";
import { type Declared, type DeclaredFault, readDeclared } from "./declared.ts";
import { findLocked, type Locks, readLocks } from "./effective.ts";
import { type Filters, isDisabled, type Selection, select } from "./filters.ts";
import { findHostMisfit, type HostPeers } from "./host-check.ts";
import type { LockedPackage } from "./lock-file.ts";
import { showSource, wordConflict, wordNoFile } from "./package-error.ts";
import { findMissingHosts } from "./preview.ts";
import { readInPlace } from "./read-in-place.ts";
import { folderOf, verifyInstalled } from "./verify.ts";

/** `refused`: it is there, and the host is not one it was made for, or its source cannot be read. */
export type PackageState = "ok" | "missing" | "changed" | "disabled" | "refused";

export interface InstalledPackage {
  identity: string;
  scope: PackageScope["name"];
  /** As the settings have it. */
  source: string;
  filters: Filters;
  /** What its extensions are given. */
  options?: Json;
  name: string;
  /** Its name is its own word, and not that of a file or folder. */
  isNamed: boolean;
  version?: string;
  commit?: string;
  state: PackageState;
  /** The package's folder; a single file's is the folder around it. Resources are below it. */
  folder?: string;
  /** Every resource, and whether its entry leaves it on. Nothing loads but what is on, and only when `state` is ok. */
  resources?: Selection;
  /** Bytes of all files, where they were installed. */
  size?: number;
  capabilities: string[];
  /** Host packages that it lends itself, and that it needs and nobody lends. */
  lends: string[];
  missingHosts: string[];
  /** Why it is not loaded. */
  problem?: AgentError;
}

/**
 * Tells of each package that a scope declares what has become of it. `isThorough`: all bytes are read. `declared`: what
 * to go by, where the settings file was read by somebody else; `locks` the same of the lock files. Fails with `package_lock_broken` and `package_settings`.
 */
export async function findInstalled(
  context: PackageContext,
  scope: PackageScope,
  {
    isThorough,
    declared,
    locks = readLocks(scope),
  }: { isThorough?: boolean; declared?: ReturnType<typeof readDeclared>; locks?: Locks } = {},
): Promise<InstalledPackage[]> {
  const read = declared ?? readDeclared(context, scope);
  const found: InstalledPackage[] = [];
  for (const each of read.declared) {
    found.push(
      each.source.kind === "local"
        ? await look(context, scope, each)
        : await check(context, { scope, each, locks, isThorough }),
    );
  }
  return refuseTwice([...found, ...read.faults.map((fault) => toFaulty(scope, fault))]);
}

/**
 * Lays what a project has over what the person has: the same package counts once, as the project declares it; with
 * `autoload: false` the project only turns resources of the person's package on and off.
 */
export function mergeInstalled(
  own: readonly InstalledPackage[],
  project: readonly InstalledPackage[],
): InstalledPackage[] {
  const changes = project.filter(({ identity, filters }) => {
    return filters.autoload === false && own.some((each) => each.identity === identity);
  });
  const rest = project.filter((each) => !changes.includes(each));
  const kept = own.filter(({ identity }) => !rest.some((each) => each.identity === identity));
  const changed = kept.map((each) => {
    const change = changes.find(({ identity }) => identity === each.identity);
    if (!change || !each.resources) return each;
    const resources = select({ ...each.resources, refused: [] }, change.filters, each.resources);
    const isLoading = each.state === "ok" || each.state === "disabled";
    return {
      ...each,
      resources,
      ...(isLoading ? ({ state: isDisabled(resources) ? "disabled" : "ok" } as const) : {}),
    };
  });
  return refuseTwice([...changed, ...rest]);
}

/**
 * Refuses what has the name of one that comes before it: a package is there once, however it is reached (P12). A name is
 * the project's before the person's, as their sources are.
 */
function refuseTwice(packages: readonly InstalledPackage[]): InstalledPackage[] {
  const isLoading = ({ state }: InstalledPackage) => state === "ok" || state === "disabled";
  const ranked = [...packages]
    .filter(isLoading)
    .toSorted((a, b) => Number(b.scope === "project") - Number(a.scope === "project"));
  const first = new Map<string, InstalledPackage>();
  for (const each of ranked) if (each.isNamed && !first.has(each.name)) first.set(each.name, each);
  return packages.map((each) => {
    const other = each.isNamed && isLoading(each) ? first.get(each.name) : undefined;
    if (!other || other.identity === each.identity) return each;
    return { ...each, state: "refused", problem: wordConflict(each.name, other.source) };
  });
}

async function check(
  context: PackageContext,
  { scope, each, locks, isThorough }: { scope: PackageScope; each: Declared; locks: Locks; isThorough?: boolean },
): Promise<InstalledPackage> {
  const locked = await findLocked(scope, each, locks);
  const known = describe(scope, each, locked);
  if (!locked) return { ...known, state: "missing", problem: wordMissing(each, scope) };
  const verified = await verifyInstalled(scope, locked, isThorough);
  if (verified.state === "missing") return { ...known, state: "missing", problem: wordMissing(each, scope) };
  const folder = folderOf(scope, locked);
  if (verified.state === "changed")
    return { ...known, folder, state: "changed", problem: wordChanged(scope, locked, verified.reason) };
  const { contents, hostPeers, lends, size, fits } = verified.record;
  const facts = { ...known, folder, size, lends, missingHosts: findMissingHosts(context, hostPeers) };
  return await settle(context, facts, { resources: select(contents, each.filters), hostPeers, fits });
}

/** A folder or file of the person's own is looked through as it is now. */
async function look(context: PackageContext, scope: PackageScope, each: Declared): Promise<InstalledPackage> {
  const known = describe(scope, each, undefined);
  const { path } = each.source as { path: string };
  const stats = lookAt(path);
  if (!stats) return { ...known, state: "missing", problem: wordNoFile(path, undefined) };
  try {
    const { name, isNamed, version, capabilities, lends, hostPeers } = await readInPlace(path);
    const contents = await findContents(path);
    const folder = stats.isFile() ? path.slice(0, -basename(path).length - 1) : path;
    const facts = {
      ...known,
      name,
      isNamed,
      version,
      capabilities,
      lends,
      folder,
      missingHosts: findMissingHosts(context, hostPeers),
    };
    return await settle(context, facts, { resources: select(contents, each.filters), hostPeers });
  } catch (thrown) {
    if (!isAgentError(thrown)) throw thrown;
    return { ...known, state: "refused", problem: thrown };
  }
}

async function settle(
  context: PackageContext,
  known: Omit<InstalledPackage, "state">,
  { resources, ...host }: { resources: Selection } & Omit<HostPeers, "name">,
): Promise<InstalledPackage> {
  const problem = await findHostMisfit(context.hostVersions, { name: known.name, ...host });
  if (problem) return { ...known, resources, state: "refused", problem };
  return { ...known, resources, state: isDisabled(resources) ? "disabled" : "ok" };
}

function describe(
  scope: PackageScope,
  { source, text, filters, options }: Declared,
  locked: LockedPackage | undefined,
) {
  const fallback =
    source.kind === "npm"
      ? source.name
      : basename(source.kind === "git" ? (source.subfolder ?? source.repository) : source.path);
  const { name = fallback, version, commit, capabilities = [] } = locked ?? {};
  const isNamed = source.kind === "npm" || locked !== undefined;
  const facts = { name, isNamed, version, commit, capabilities, lends: [], missingHosts: [] };
  return { identity: source.identity, scope: scope.name, source: text, filters, options, ...facts };
}

function toFaulty(scope: PackageScope, { text, error }: DeclaredFault): InstalledPackage {
  const problem = isAgentError(error) ? error : new AgentError("package_source", error.message, { cause: error });
  const nothing = { filters: {}, isNamed: false, capabilities: [], lends: [], missingHosts: [] };
  // It may hold a password.
  const source = showSource(text);
  return {
    identity: `unknown:${source}`,
    scope: scope.name,
    source,
    name: source,
    ...nothing,
    state: "refused",
    problem,
  };
}

function wordMissing({ text }: Declared, scope: PackageScope): AgentError {
  const shown = toPrintable(text);
  return new AgentError("package_missing", `The package ${shown} is declared in ${scope.settings} and not installed.`, {
    hint: `Run: ${wordInstall(scope)}. To go without it: pi remove ${shown}`,
  });
}

function wordInstall({ name }: PackageScope): string {
  return name === "project" ? "pi install -l" : "pi install";
}

function wordChanged(scope: PackageScope, { name, source }: LockedPackage, reason: string): AgentError {
  return new AgentError("package_changed", `${toPrintable(name)} was not loaded: it ${toPrintable(reason)}.`, {
    hint: `To have it as it was locked: ${wordInstall(scope)}. To find out what changed, compare its folder. Source: ${toPrintable(source)}`,
  });
}
