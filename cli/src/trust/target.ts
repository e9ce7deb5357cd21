/** Finds what a person means by a path: a resource of the project, or the folder of another project. */
import { statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
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
  const [folder] = paths;
  return folder !== undefined && isFolder(folder) ? { folder } : { problem: describeNone(typed) };
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
