/**
 * Where things are: the working directory, the project's boundary, the agent directory.
 *
 *   boundary = the nearest ancestor of the real working directory with an entry named `.git`, else that directory
 *
 * Only names are looked at here; nothing is opened.
 */
import { lstatSync, realpathSync, type Stats, statSync } from "node:fs";
import { devNull, homedir, userInfo } from "node:os";
import { dirname, isAbsolute, join, resolve, sep } from "node:path";
import { AgentError } from "@pi-agent/kernel";

export interface Places {
  /** Real. */
  cwd: string;
  /** Real; the key that a trust decision is bound to. */
  boundary: string;
  /** The person's own files. A place where nothing can be when `foreignAgentDir` is set. */
  agentDir: string;
  /** The real path of the one that was asked for, when it is a part of the project and so the project's word. */
  foreignAgentDir?: string;
  /** The person's `~/.agents/skills`, unless that too is a part of the project. */
  homeSkills?: string;
  home: string;
}

/** Finds the places for a working directory. Fails with `no_cwd` when it is not there. */
export function findPlaces(options: { cwd: string; env: NodeJS.ProcessEnv; agentDir?: string }): Places {
  const cwd = realFolder(options.cwd);
  const boundary = findBoundary(cwd);
  const home = options.env.HOME || homedir();
  const agentDir = resolve(cwd, options.agentDir ?? agentDirOf(options.env));
  const skills = join(home, ".agents", "skills");
  const isOwnDir = isOwn(agentDir, join(".pi", "agent"), boundary);
  return {
    cwd,
    boundary,
    home,
    agentDir: isOwnDir ? agentDir : devNull,
    foreignAgentDir: isOwnDir ? undefined : realPathOf(agentDir),
    homeSkills: isOwn(skills, join(".agents", "skills"), boundary) ? realPathOf(skills) : undefined,
  };
}

/** Finds the agent directory: `PI_CODING_AGENT_DIR`, where `~` is the home directory, or `~/.pi/agent`. */
export function agentDirOf(env: NodeJS.ProcessEnv): string {
  const home = env.HOME || homedir();
  const named = env.PI_CODING_AGENT_DIR;
  return named ? resolve(expandHome(named, home)) : join(home, ".pi", "agent");
}

/** Finds the boundary of the project around a folder, as the file system spells it. Fails with `no_cwd`. */
export function findBoundary(cwd: string): string {
  const start = realFolder(cwd);
  return findGitAbove(start) ?? start;
}

/** Tells whether `path` is `folder` or lies below it, compared name by name. */
export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** Tells whether a path leads into the project, and not to what is the person's own there. */
export function belongsToProject({ boundary, agentDir, homeSkills }: Places, path: string): boolean {
  const real = realPathOf(path);
  if (!isInside(real, boundary)) return false;
  return ![agentDir, homeSkills].some((own) => own !== undefined && isInside(real, realPathOf(own)));
}

/** Resolves links as far as the path exists; the rest is kept as it is spelled. Opens nothing. */
export function realPathOf(path: string): string {
  const parent = dirname(path);
  if (parent === path) return path;
  // Looking first: most of what is asked for is not there, and an error costs more than a look.
  if (!lookAt(path)) return join(realPathOf(parent), path.slice(parent.length));
  try {
    return realpathSync.native(path);
  } catch {
    return join(realPathOf(parent), path.slice(parent.length));
  }
}

/** Looks at what stands at a path, following no link; `undefined` where there is nothing, or nothing to be seen. */
export function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Replaces a leading `~`. */
function expandHome(path: string, home: string): string {
  if (path === "~") return home;
  return path.startsWith("~/") ? join(home, path.slice(2)) : path;
}

/** Makes an absolute path of one that a person wrote relative to `base`. */
export function resolveFrom(base: string, path: string, home: string): string {
  const expanded = expandHome(path, home);
  return isAbsolute(expanded) ? resolve(expanded) : resolve(base, expanded);
}

/** The folders from `from` up to `to`, innermost first. */
export function foldersUpTo(from: string, to: string): string[] {
  const folders = [from];
  for (let at = from; at !== to && dirname(at) !== at; ) {
    at = dirname(at);
    folders.push(at);
  }
  return folders;
}

function realFolder(cwd: string): string {
  try {
    const real = realpathSync.native(cwd);
    if (statSync(real).isDirectory()) return real;
  } catch (cause) {
    throw noFolder(cwd, cause);
  }
  throw noFolder(cwd);
}

function noFolder(cwd: string, cause?: unknown): AgentError {
  return new AgentError("no_cwd", `The working directory ${cwd} is not there, or is no folder.`, {
    hint: "Change to a folder that exists.",
    cause,
  });
}

function findGitAbove(start: string): string | undefined {
  return foldersUpTo(start, "").find((folder) => lookAt(join(folder, ".git")));
}

// A folder of the person's that lies inside the project would let the project speak for the person (T4): only the
// account's own one, which no repository brought along, is believed there.
function isOwn(folder: string, belowHome: string, boundary: string): boolean {
  const real = realPathOf(folder);
  if (!isInside(real, boundary)) return true;
  const account = userInfo();
  if (real !== realPathOf(join(account.homedir, belowHome)) || findGitAbove(real)) return false;
  const stats = lookAt(real);
  return !stats || account.uid < 0 || stats.uid === account.uid;
}

/** Says how a path leaves the project: by its spelling, or through a link on the way; `undefined` when it does not. */
export function findWayOut(boundary: string, path: string): string | undefined {
  if (path.includes("\0") || !isInside(path, boundary)) return "leaves the project";
  const isThroughLink = foldersUpTo(path, boundary).some((each) => each !== boundary && lookAt(each)?.isSymbolicLink());
  return isThroughLink ? "is a link, or is reached through one" : undefined;
}
