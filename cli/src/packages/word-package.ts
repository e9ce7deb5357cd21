/** Words packages that are installed. What they are called is theirs: nothing in it reaches the terminal as it is. */
import type { AgentError } from "@pi-agent/kernel";
import { type InstalledPackage, RESOURCE_LISTS, type Selection } from "@pi-agent/loader";
import { toTerminalName } from "../terminal-text.ts";

/** The name with the version, for git with the commit. */
export function nameOf({ name, version, commit }: Pick<InstalledPackage, "name" | "version" | "commit">): string {
  return toTerminalName([name, version ?? commit?.slice(0, 12)].filter((part) => part !== undefined).join(" "));
}

/** Counts what a package contains, and what of it is on: `2 extensions, 1 of 3 skills`. */
export function countContents(resources: Selection | undefined): string {
  if (!resources) return "";
  const counts = RESOURCE_LISTS.flatMap((list) => {
    const all = resources[list].length;
    const on = resources[list].filter(({ isOn }) => isOn).length;
    if (all === 0) return [];
    if (on < all) return [`${on} of ${all} ${list}`];
    return [`${all} ${all === 1 ? list.slice(0, -1) : list}`];
  });
  return counts.join(", ") || "nothing that can be loaded";
}

/** Tells what is true of a package that is installed, a line each. `verb` begins the first. */
export function wordInstalled(verb: string, found: InstalledPackage): string[] {
  const { scope, resources, state, missingHosts } = found;
  const whose = scope === "user" ? "for you" : "for this project";
  return [
    `${verb} ${nameOf(found)} ${whose}: ${countContents(resources)}.`,
    ...(state === "disabled" ? ["All of it is turned off: pi config turns it on."] : []),
    ...missingHosts.map(
      (host) => `It needs ${toTerminalName(host)}, which nothing here lends: what imports it will not load.`,
    ),
  ];
}

/** Why a package does not load; `undefined` for one that does, or whose resources are all turned off. */
export function problemOf({ state, problem }: Pick<InstalledPackage, "state" | "problem">): AgentError | undefined {
  return state === "ok" || state === "disabled" ? undefined : problem;
}

/** Tells what is true of a resource after it was turned on or off. */
export function wordTurned(of: InstalledPackage, path: string, on: boolean): string {
  return `${on ? "On" : "Off"}: ${toTerminalName(path)} of ${toTerminalName(of.name)}`;
}
