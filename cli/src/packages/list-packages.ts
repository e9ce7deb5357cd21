/** What `pi list` tells of each package, as data and as a table. */
import { type InstalledPackage, mergeInstalled, type Newer, type PackageScope } from "@pi-agent/loader";
import { formatTable } from "../table.ts";
import { toTerminalName } from "../terminal-text.ts";
import { countContents, problemOf } from "./word-package.ts";

export interface ListedPackage extends InstalledPackage {
  /** The project declares it as well, and its entry counts. */
  isOverridden: boolean;
  /** What `pi update` would install, the newest there is, or why neither is known. Only where it was asked for. */
  newer?: Newer;
}

/** Puts what both scopes declare together. */
export function joinPackages(installed: readonly InstalledPackage[], newer: readonly Newer[] = []): ListedPackage[] {
  const of = (scope: PackageScope["name"]) => installed.filter((each) => each.scope === scope);
  const counts = new Set(
    mergeInstalled(of("user"), of("project")).map(({ scope, identity }) => `${scope} ${identity}`),
  );
  return installed.map((each, at) => {
    const { scope, identity } = each;
    const isChange = each.filters.autoload === false;
    return { ...each, isOverridden: !isChange && !counts.has(`${scope} ${identity}`), newer: newer[at] };
  });
}

/** Prints packages as JSON: one object for each, the person's first. */
export function printJson(packages: readonly ListedPackage[]): string {
  const data = packages.map(({ newer, problem, resources, ...each }) => {
    const fault = problemOf({ state: each.state, problem });
    return {
      ...each,
      wanted: newer?.wanted,
      latest: newer?.latest,
      newerUnknown: newer?.reason,
      resources,
      problem: fault && { code: fault.code, message: fault.message, hint: fault.hint },
    };
  });
  return `${JSON.stringify(data, undefined, 2)}\n`;
}

/** Prints packages as a table for each scope. `hasNewer`: what is newer was asked for. */
export function printTable(packages: readonly ListedPackage[], options: { hasNewer: boolean; width?: number }): string {
  const scopes = [
    ["Yours, in every project", packages.filter(({ scope }) => scope === "user")],
    ["Of this project", packages.filter(({ scope }) => scope === "project")],
  ] as const;
  return scopes
    .filter(([, listed]) => listed.length > 0)
    .map(([title, listed]) => `${title}\n${printScope(listed, options)}`)
    .join("\n");
}

function printScope(
  listed: readonly ListedPackage[],
  { hasNewer, width }: { hasNewer: boolean; width?: number },
): string {
  const head = ["  name", "version", ...(hasNewer ? ["wanted", "latest"] : []), "state", "contains", "source"];
  const rows = listed.map(({ name, version, commit, newer, state, isOverridden, resources, source }) => {
    const newest = hasNewer ? [shorten(newer?.wanted), newer?.latest] : [];
    const whose = isOverridden ? `${state}, the project's counts` : state;
    const cells = [name, version ?? shorten(commit), ...newest, whose, countContents(resources), source];
    return cells.map((cell, at) => `${at === 0 ? "  " : ""}${toTerminalName(cell ?? "-")}`);
  });
  return formatTable([head, ...rows], width);
}

/** Of a commit the first digits tell enough. */
function shorten(version: string | undefined): string | undefined {
  return version !== undefined && /^[0-9a-f]{40,64}$/.test(version) ? version.slice(0, 12) : version;
}
