/**
 * Which files decide what the agent loads, obeys and hands out, and so are not for its file tools to write unasked.
 *
 *   path ─► links followed, also those that lead to nothing yet ─► by name ─► by folder ─► hard links
 *
 * Folders are compared by device and inode too: a second way to one (another spelling, a mount) is the same folder.
 */
import { type Dirent, lstatSync, readdirSync, readlinkSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { foldersUpTo, isInside, lookAt, type Places, realPathOf } from "./places.ts";

export interface Protection {
  /** Where the path really leads. */
  path: string;
  /** What is there, worded to follow "which"; `undefined` where anything may be written. */
  what?: string;
}

export interface Guarded {
  places: Places;
  /** Files that are loaded as the person's own, wherever they lie. */
  loaded: readonly { path: string; kind: string }[];
  /** How many files a hard link is compared with; beyond, it counts as protected. */
  maxEntries?: number;
}

interface Root {
  /** Real. */
  path: string;
  what: string;
}

const LOADS = "holds what a project loads";
// Wherever they lie: any folder may be the next project, and git, direnv, npm and editors obey theirs unasked.
const NAMES: Readonly<Record<string, string>> = {
  ".pi": LOADS,
  ".agents": LOADS,
  ".git": "holds what git runs and obeys",
  "pi.lock.json": "says which packages are installed",
  "pi.lock.previous.json": "says which packages were installed",
  ".envrc": "is run by other programs",
  ".npmrc": "is obeyed by other programs",
  "tasks.json": "is run by other programs",
};
const OWN = "belongs to the agent's own folder";
const OWN_NAMES: Readonly<Record<string, string>> = {
  "trust.json": "holds your decisions about projects",
  "trust.d": "holds your decisions about projects",
  cache: "holds code that you approved",
  "settings.json": "holds your settings",
  "models.json": "says where your requests go",
  "auth.json": "holds your keys",
  "keybindings.json": "holds your key bindings",
  extensions: "holds your extensions",
  packages: "holds your packages",
  "project-packages": "holds the packages of projects",
  skills: "holds your skills",
  prompts: "holds your prompts",
  agents: "holds your agents",
};
const OWN_SKILLS = "holds your skills";
// As many as Linux follows.
const MAX_LINKS = 40;
// Looked through in a tenth of a second.
const MAX_ENTRIES = 20_000;

/** Finds out whether writing to a path takes the person's word. Opens no file. Fails where links lead in a circle. */
export function findProtection(path: string, guarded: Guarded): Protection {
  const real = followAll(path);
  const own = ownRoots(guarded);
  const what = findOwn(real, own) ?? findName(real, guarded.places) ?? findHardLink(real, guarded, own);
  return what === undefined ? { path: real } : { path: real, what };
}

/** Follows every link of a path, also one that leads to what is not there yet. */
function followAll(path: string, hops = MAX_LINKS): string {
  const real = realPathOf(path);
  const link = foldersUpTo(real, "").find((each) => lookAt(each)?.isSymbolicLink());
  if (link === undefined) return real;
  if (hops === 0) throw new Error(`The links of ${path} lead in a circle.`);
  return followAll(join(resolve(dirname(link), readlinkSync(link)), relative(link, real)), hops - 1);
}

function ownRoots({ places, loaded }: Guarded): Root[] {
  const { agentDir, foreignAgentDir, homeSkills, boundary } = places;
  const folder = foreignAgentDir ?? agentDir;
  const linked = [folder, ...RESOURCES.map((name) => join(folder, name))].flatMap((each) => linksIn(each, folder));
  // What is linked from there may be the very project that is worked on: that waits for trust by itself.
  const isAround = (path: string) => isInside(boundary, path);
  const toPart = (path: string) => [partOf(path), path].map(realPathOf).find((each) => !isAround(each)) ?? path;
  const others = [
    ...linked,
    ...(homeSkills === undefined ? [] : [{ path: homeSkills, what: OWN_SKILLS }]),
    ...loaded.map(({ path, kind }) => ({ path: toPart(path), what: `is loaded as your own ${kind}` })),
  ];
  return [{ path: realPathOf(folder), what: OWN }, ...others.filter(({ path }) => !isAround(path))];
}

const RESOURCES = ["extensions", "skills", "prompts", "agents", "themes"];

/** What is a link in a folder of the agent's own belongs there, wherever it leads. */
function linksIn(folder: string, agentDir: string): Root[] {
  return entriesOf(folder)
    .filter((entry) => entry.isSymbolicLink())
    .flatMap(({ name }) => {
      const path = join(folder, name);
      try {
        return [{ path: followAll(path), what: wordOwn(relative(agentDir, path)) }];
      } catch {
        // It leads nowhere, and nothing can be written through it.
        return [];
      }
    });
}

/** The folder of an extension or skill that is one, else its file. */
function partOf(path: string): string {
  return /^(?:index\.[^.]+|SKILL\.md)$/.test(basename(path)) ? dirname(path) : path;
}

function findOwn(real: string, roots: readonly Root[]): string | undefined {
  const ids = new Map(roots.map((root) => [idOf(statOf(root.path)), root]));
  ids.delete(undefined);
  for (const at of foldersUpTo(real, "")) {
    const root = ids.get(idOf(statOf(at))) ?? roots.find(({ path }) => path === at);
    if (root) return root.what === OWN ? wordOwn(relative(at, real)) : root.what;
  }
  // Whoever moves or empties a folder does so with all that it holds.
  return roots.some(({ path }) => isInside(path, real)) ? "holds files of the agent's own" : undefined;
}

function wordOwn(below: string): string {
  const [name = ""] = below.split(sep);
  return Object.hasOwn(OWN_NAMES, name) ? OWN_NAMES[name]! : OWN;
}

/** Names are folded: where the file system does so, another case is the same file. */
function findName(real: string, { boundary }: Places): string | undefined {
  // A repository may itself lie below such a name, as worktrees do.
  const isBelow = isInside(real, boundary) && lookAt(join(boundary, ".git")) !== undefined;
  const names = (isBelow ? relative(boundary, real) : real).split(sep).map((name) => name.toLowerCase());
  const found = names.find((name, at) => Object.hasOwn(NAMES, name) && isMeant(names, at));
  return found && NAMES[found];
}

function isMeant(names: readonly string[], at: number): boolean {
  return names[at] !== "tasks.json" || names[at - 1] === ".vscode";
}

function findHardLink(
  real: string,
  { places, maxEntries = MAX_ENTRIES }: Guarded,
  own: readonly Root[],
): string | undefined {
  const stats = statOf(real);
  if (!stats?.isFile() || stats.nlink === 1) return undefined;
  const { cwd, boundary } = places;
  const ofProject = foldersUpTo(cwd, boundary).flatMap((folder) => [join(folder, ".pi"), join(folder, ".agents")]);
  const ofGit = [join(boundary, ".git", "hooks"), join(boundary, ".git", "config")];
  const id = idOf(stats);
  const left = { entries: maxEntries };
  const roots = [...own.map(({ path }) => path), ...ofProject, ...ofGit];
  if (roots.some((root) => hasFile(root, id, left))) return "is a second name of a file that is not written unasked";
  return left.entries > 0 ? undefined : "has a second name, and there are too many files to find out which";
}

function hasFile(path: string, id: string | undefined, left: { entries: number }): boolean {
  if (left.entries-- <= 0) return false;
  const stats = lookAt(path);
  if (stats?.isFile()) return idOf(stats) === id;
  return stats?.isDirectory() === true && entriesOf(path).some(({ name }) => hasFile(join(path, name), id, left));
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // Not there, or no folder: nothing is in it.
    return [];
  }
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function idOf(stats: Stats | undefined): string | undefined {
  return stats && `${stats.dev}:${stats.ino}`;
}
