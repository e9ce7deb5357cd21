/** Finds what a person means by a package, or by a resource of it. */
import { AgentError, isAgentError } from "@pi-agent/kernel";
import {
  findInstalled,
  type InstalledPackage,
  identityOf,
  nearestNames,
  type PackageContext,
  type PackageScope,
  RESOURCE_LISTS,
  type ResourceList,
  scopeOf,
} from "@pi-agent/loader";
import type { Problem } from "../problem.ts";
import { toTerminalName } from "../terminal-text.ts";

/** A resource of an installed package. */
export interface Resource {
  list: ResourceList;
  path: string;
  isOn: boolean;
}

/** Finds a package by any spelling of its source, or by its name. */
export function findPackage(
  text: string,
  installed: readonly InstalledPackage[],
  base: { folder: string; home: string },
): InstalledPackage | undefined {
  const identity = identityOf(text, base);
  const bare = text.replace(/^npm:/, "");
  return (
    installed.find((each) => each.identity === identity) ??
    installed.find(({ name, source }) => name === bare || source === text)
  );
}

/** What a command was asked to do with a package, in which scope. */
interface Wish {
  context: PackageContext;
  /** With what follows the package. */
  command: readonly [string, string?];
  text: string | undefined;
  scope: PackageScope["name"];
  cwd: string;
}

/** Waits for work on a package; where it is not declared, but in the other scope is, the error says how to reach it. */
export async function withOtherScope<T>(work: Promise<T>, wish: Wish): Promise<T> {
  try {
    return await work;
  } catch (thrown) {
    if (!isAgentError(thrown) || thrown.code !== "package_unknown") throw thrown;
    const hint = (await hintElsewhere(wish)) ?? thrown.hint;
    throw new AgentError(thrown.code, thrown.message, { hint, cause: thrown.cause });
  }
}

/** Says how a package is reached that is declared in the scope that was not meant, where that one may be looked at. */
export async function hintElsewhere({ context, command, text, scope, cwd }: Wish): Promise<string | undefined> {
  const other = scope === "user" ? "project" : "user";
  if (text === undefined || (other === "project" && context.projectDir === undefined)) return undefined;
  const installed = await findInstalled(context, scopeOf(context, other));
  const found = findPackage(text, installed, { folder: cwd, home: context.home });
  const [name, rest] = command;
  const words = [
    "Write: pi",
    name,
    ...(other === "project" ? ["-l"] : []),
    found?.source ?? "",
    ...(rest ? [rest] : []),
  ];
  return found && words.map((word) => toTerminalName(word)).join(" ");
}

/** Lists what can be turned on and off of a package. */
export function listResources({ resources }: InstalledPackage): Resource[] {
  if (!resources) return [];
  return RESOURCE_LISTS.flatMap((list) => resources[list].map(({ path, isOn }) => ({ list, path, isOn })));
}

/** Finds a resource by its path, or by a skill's folder; answers what is wrong where there is none. */
export function findResource(found: InstalledPackage, typed: string): Resource | Problem {
  const all = listResources(found);
  const path = typed.replace(/^\.\//, "").replace(/\/$/, "");
  const resource = all.find((each) => each.path === path) ?? all.find((each) => each.path === `${path}/SKILL.md`);
  if (resource) return resource;
  const what = `${toTerminalName(found.name)} has no ${toTerminalName(typed)}`;
  return {
    what,
    hint: hintNearest(
      path,
      all.map((each) => each.path),
    ),
  };
}

/** Says which name was most likely meant. */
export function hintNearest(typed: string, names: readonly string[]): string {
  const [nearest] = nearestNames(typed, names, 1);
  return nearest === undefined ? "pi config list shows what there is" : `did you mean ${toTerminalName(nearest)}?`;
}
