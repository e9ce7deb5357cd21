/** Finds what a person means by a path: a resource of the project, or the folder of another project. */
import { existsSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import type { LoadPlan, PlanItem } from "@pi-agent/loader";
import type { Problem } from "../problem.ts";

export type Target = { item: PlanItem } | { folder: string } | { problem: Problem };

// The file that stands for the whole folder that it lies in.
const WHOLE_FOLDER = /^(SKILL\.md|index\.[cm]?[jt]s)$/;

/**
 * Finds it by the id that the plan has, or by a path from the working directory or from the project's folder. A folder is
 * a resource when a single one fills it.
 */
export function findTarget({ items, project, cwd }: LoadPlan, typed: string): Target {
  const paths = [resolve(cwd, typed), resolve(project, typed)];
  const exact = items.filter(({ id, path }) => id === typed || paths.includes(path));
  const found = exact.length > 0 ? exact : items.filter(({ path }) => fills(path, paths));
  const [item, another] = found;
  if (item && !another) return { item };
  if (another) return { problem: describeMany(typed, found) };
  const [folder = ""] = paths;
  if (!isFolder(folder)) return { problem: describeNone(typed) };
  return isPartOf(realpathSync(folder), { project, cwd }) ? { problem: describePart(typed) } : { folder };
}

/** Tells whether a folder is a mere part of this project: an answer about a part is not widened to the whole. */
function isPartOf(folder: string, { project, cwd }: Pick<LoadPlan, "project" | "cwd">): boolean {
  if (folder === project || folder === cwd || !folder.startsWith(`${project}${sep}`)) return false;
  const isOther = (at: string): boolean => at !== project && (existsSync(join(at, ".git")) || isOther(dirname(at)));
  return !isOther(folder);
}

function describePart(typed: string): Problem {
  return {
    what: `${typed} is a folder of this project, and no resource`,
    why: "an answer about it would be one about the whole project",
    hint: "name a resource, as pi trust show lists them, or leave the path out for the whole project",
  };
}

function fills(path: string, folders: readonly string[]): boolean {
  return WHOLE_FOLDER.test(basename(path)) && folders.includes(dirname(path));
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function describeMany(typed: string, found: readonly PlanItem[]): Problem {
  return {
    what: `${typed} is more than one resource`,
    why: found.map(({ id }) => id).join(", "),
    hint: "name one of them as it stands here",
  };
}

function describeNone(typed: string): Problem {
  return {
    what: `${typed} is no resource of this project, and no folder`,
    why: "nothing of that name would load",
    hint: "pi trust show lists what there is",
  };
}
