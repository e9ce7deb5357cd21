/**
 * Which folders are worktrees of one repository. It decides nothing: another worktree's record is only named (T1).
 *
 *   W/.git ──── gitdir: R/.git/worktrees/w ───► R/.git/worktrees/w
 *     ▲                                            │
 *     └──────────── its file gitdir ◄──────────────┘      both name each other, or W is none
 *
 * 1. Short regular files are read as text; git is not run.
 * 2. A path that a stranger wrote could lead to another machine: it is followed only into a repository that a project
 *    which the person decided about belongs to.
 */
import { basename, dirname, join, resolve } from "node:path";
import { readRegularFile } from "./file-view.ts";
import { lookAt, realPathOf } from "./places.ts";

/** The longest path, with the word before it and the name after it. */
export const MAX_POINTER_BYTES = 4_200;

/**
 * Finds the projects among `known` that are worktrees of the same repository as `boundary`, which is a linked one; all
 * are real paths. Nothing for a folder that is none, or that its repository does not know. Never fails.
 */
export function findTwins(boundary: string, known: () => readonly string[]): string[] {
  const admin = readPointer(join(boundary, ".git"));
  if (admin === undefined) return [];
  const twins = known().filter((project) => project !== boundary && worktreesAt(project) === dirname(admin));
  return twins.length > 0 && isNamedBack(admin, boundary) ? twins : [];
}

/** Where the repository that a project belongs to keeps what it knows of its linked worktrees. */
function worktreesAt(project: string): string | undefined {
  const git = join(project, ".git");
  if (lookAt(git)?.isDirectory()) return join(git, "worktrees");
  const admin = readPointer(git);
  return admin !== undefined && isNamedBack(admin, project) ? dirname(admin) : undefined;
}

/** The folder that a linked worktree's `.git` names as what its repository knows of it. */
function readPointer(git: string): string | undefined {
  const named = readLine(git, "gitdir: ");
  const admin = named === undefined ? undefined : resolve(dirname(git), named);
  return admin !== undefined && basename(dirname(admin)) === "worktrees" ? admin : undefined;
}

function isNamedBack(admin: string, worktree: string): boolean {
  const named = readLine(join(admin, "gitdir"));
  if (named === undefined || basename(named) !== ".git") return false;
  return realPathOf(dirname(resolve(admin, named))) === worktree;
}

/** The one line of a file, without what it begins with. */
function readLine(path: string, start = ""): string | undefined {
  if (!lookAt(path)?.isFile()) return undefined;
  try {
    const [line = "", ...rest] = readRegularFile(path, MAX_POINTER_BYTES).toString().split("\n");
    return line.startsWith(start) && rest.join("") === "" ? line.slice(start.length) : undefined;
  } catch {
    // What cannot be read is no proof.
    return undefined;
  }
}
