/**
 * Which files in a folder are extensions, skills, prompts, themes and agents. One set of rules for the person's own
 * folders and for a project's: what differs is the view that they look through.
 */
import { basename, extname, join, relative } from "node:path";
import { type FileKind, type FileView, INSIDE, Refusal } from "./file-view.ts";
import { type IsIgnored, readIgnoreFile } from "./ignore-rules.ts";
import { type Manifest, readManifest, resolveList } from "./manifest.ts";
import { matchesPattern, toPatterns } from "./pattern.ts";
import { realPathOf } from "./places.ts";

/** A resource, or something that would be one if it could be accepted. */
export interface Found {
  /** The file that is loaded. */
  path: string;
  /** The file, or the folder with all that belongs to it. */
  root: string;
  requires?: Record<string, string>;
  /** Why it is not opened. */
  refusal?: string;
}

export type FoundKind = "extension" | "skill" | "prompt" | "theme" | "agent";

interface Entry {
  name: string;
  path: string;
  kind: FileKind;
}

const REFUSALS: Record<FileKind, string> = {
  link: "is a link",
  folder: "is a folder",
  project: INSIDE,
  file: "is not a regular file",
  other: "is not a regular file",
  missing: "is not there",
};

/** An ignore file's rules, and the folder that they hold for. */
type Rules = readonly { base: string; isIgnored: IsIgnored }[];

const IGNORE_FILES = [".gitignore", ".ignore", ".fdignore"];
const CODE = [".ts", ".js"];
const GONE = "is named in its package.json, and is not there";
const MAX_DEPTH = 32;

/** Finds what a folder or a file holds of a kind. What is not there holds nothing. */
export async function find(kind: FoundKind, view: FileView, path: string): Promise<Found[]> {
  try {
    switch (view.kindOf(path)) {
      case "missing":
        return [];
      case "folder":
        return await findInFolder(kind, view, path);
      case "file":
        return [{ path, root: path }];
      default:
        return [refuse(path, view)];
    }
  } catch (thrown) {
    return [toRefused(path, thrown)];
  }
}

/** Finds the skills of a folder; `isLooseAllowed`: Markdown files directly in it count. */
export async function findSkills(view: FileView, folder: string, isLooseAllowed: boolean): Promise<Found[]> {
  try {
    if (view.kindOf(folder) === "missing") return [];
    if (view.kindOf(folder) !== "folder") return [refuse(folder, view)];
    return await walkSkills({ view, seen: new Set() }, folder, { isLooseAllowed, rules: [], depth: 0 });
  } catch (thrown) {
    return [toRefused(folder, thrown)];
  }
}

function findInFolder(kind: FoundKind, view: FileView, folder: string): Promise<Found[]> {
  if (kind === "extension") return findExtensions(view, folder);
  if (kind === "skill") return findSkills(view, folder, true);
  return findFiles(view, folder, kind === "theme" ? ".json" : ".md");
}

/** A folder is one package (manifest, else index.ts, else index.js), or it is looked through one level deep. */
async function findExtensions(view: FileView, folder: string): Promise<Found[]> {
  const own = findPackage(view, folder);
  if (own.some(({ refusal }) => refusal !== GONE)) return own;
  const { entries } = listVisible(view, folder, []);
  const found = entries.flatMap((entry): Found[] => {
    if (entry.kind === "folder") return orRefused(entry.path, () => findPackage(view, entry.path));
    if (!isPossibly(entry, CODE)) return [];
    return [entry.kind === "file" ? { path: entry.path, root: entry.path } : refuse(entry.path, view)];
  });
  return [...own, ...found];
}

function findPackage(view: FileView, folder: string): Found[] {
  const manifest = readManifest(view, folder);
  const listed = manifest?.extensions ? findListed(view, folder, manifest) : [];
  if (listed.length > 0) return listed;
  for (const name of ["index.ts", "index.js"]) {
    const path = join(folder, name);
    const kind = view.kindOf(path);
    if (kind === "file") return [{ path, root: folder, requires: manifest?.requires }];
    if (kind !== "missing" && kind !== "folder") return [refuse(path, view)];
  }
  // A pattern may match nothing; a path was meant.
  const gone = (manifest?.extensions ?? []).filter((entry) => !/^!|[*?{]/.test(entry) && !isThere(view, folder, entry));
  return gone.map((entry) => ({ path: join(folder, entry), root: folder, refusal: GONE }));
}

function isThere(view: FileView, folder: string, entry: string): boolean {
  return view.kindOf(join(folder, entry)) !== "missing";
}

function findListed(view: FileView, folder: string, manifest: Manifest): Found[] {
  const { paths, refused } = resolveList(view, folder, manifest.extensions ?? []);
  const found = paths.flatMap((path): Found[] => {
    if (view.kindOf(path) === "folder") return path === folder ? [] : findPackageFiles(view, path, manifest);
    if (view.kindOf(path) !== "file") return [refuse(path, view)];
    return [{ path, root: folder, requires: manifest.requires }];
  });
  return [
    ...found.map((each) => ({ ...each, root: folder })),
    ...refused.map(({ entry, reason }) => ({ path: join(folder, entry), root: folder, refusal: reason })),
  ];
}

function findPackageFiles(view: FileView, folder: string, { requires }: Manifest): Found[] {
  const own = findPackage(view, folder);
  if (own.length > 0) return own;
  return view
    .list(folder)
    .filter((name) => !name.startsWith(".") && CODE.includes(extname(name)))
    .map((name) => join(folder, name))
    .map((path) => (view.kindOf(path) === "file" ? { path, root: folder, requires } : refuse(path, view)));
}

async function findFiles(view: FileView, folder: string, extension: string): Promise<Found[]> {
  const { entries } = listVisible(view, folder, []);
  return entries
    .filter((entry) => entry.kind !== "folder" && isPossibly(entry, [extension]))
    .map(({ path, kind }) => (kind === "file" ? { path, root: path } : refuse(path, view)));
}

async function walkSkills(
  walk: { view: FileView; seen: Set<string> },
  folder: string,
  at: { isLooseAllowed: boolean; rules: Rules; depth: number },
): Promise<Found[]> {
  const { view, seen } = walk;
  const real = realPathOf(folder);
  // Links of the person's own may lead back up.
  if (seen.has(real)) return [];
  seen.add(real);
  if (at.depth > MAX_DEPTH) throw new Refusal(`is nested deeper than ${MAX_DEPTH} folders`);
  const { entries, rules } = listVisible(view, folder, at.rules);
  const skill = entries.find(({ name, kind }) => name === "SKILL.md" && kind !== "folder" && kind !== "missing");
  if (skill) return [skill.kind === "file" ? { path: skill.path, root: folder } : refuse(skill.path, view)];
  const found: Found[] = [];
  for (const { name, path, kind } of entries) {
    if (kind === "folder") {
      const below = { isLooseAllowed: true, rules, depth: at.depth + 1 };
      found.push(...(await walkSkills(walk, path, below).catch((thrown: unknown) => [toRefused(path, thrown)])));
    } else if (extname(name) === ".md" && kind === "file") {
      if (at.isLooseAllowed) found.push({ path, root: path });
    } else if (isPossibly({ name, path, kind }, [".md"])) found.push(refuse(path, view));
  }
  return found;
}

/** The entries of a folder that are neither hidden, nor dependencies, nor ignored, and the rules that hold below. */
function listVisible(view: FileView, folder: string, above: Rules): { entries: Entry[]; rules: Rules } {
  const names = view.list(folder);
  const rules = [...above];
  for (const name of IGNORE_FILES.filter((each) => names.includes(each))) {
    const path = join(folder, name);
    if (view.kindOf(path) === "file")
      rules.push({ base: folder, isIgnored: readIgnoreFile(view.read(path).toString("utf8"), name) });
  }
  const entries = names
    .filter((name) => !name.startsWith(".") && name !== "node_modules")
    .map((name) => ({ name, path: join(folder, name), kind: view.kindOf(join(folder, name)) }))
    .filter(({ path, kind }) => !isIgnored({ view, rules }, path, kind === "folder"));
  return { entries, rules };
}

function isIgnored({ view, rules }: { view: FileView; rules: Rules }, path: string, isFolder: boolean): boolean {
  return rules.some((each) => {
    view.assertTimeLeft();
    return each.isIgnored(relative(each.base, path), isFolder);
  });
}

/** A file of that extension, or a link that may be one or may be a folder. */
function isPossibly({ name, kind }: Entry, extensions: string[]): boolean {
  if (kind === "missing") return false;
  return extensions.includes(extname(name)) || (["link", "project"].includes(kind) && extname(name) === "");
}

function refuse(path: string, view: FileView): Found {
  return { path, root: path, refusal: REFUSALS[view.kindOf(path)] };
}

function orRefused(path: string, look: () => Found[]): Found[] {
  try {
    return look();
  } catch (thrown) {
    return [toRefused(path, thrown)];
  }
}

function toRefused(path: string, thrown: unknown): Found {
  if (thrown instanceof Refusal) return { path, root: path, refusal: thrown.message };
  throw thrown;
}

/**
 * Takes out what a settings list switches off: `!pattern` and `-path` take away, `+path` brings back. Both are matched
 * with the path below `base`, the name, and for a skill its folder. A list that cannot be used refuses all of `folder`.
 */
export function dropSwitchedOff(
  found: readonly Found[],
  { view, folder, base, list }: { view: FileView; folder: string; base: string; list: readonly string[] },
): Found[] {
  const listed = (sign: string) => list.filter((entry) => entry.startsWith(sign)).map((entry) => entry.slice(1));
  const named = (sign: string) => new Set(listed(sign).map((entry) => entry.replace(/^\.\//, "")));
  const [off, on] = [named("-"), named("+")];
  return orRefused(folder, () => {
    const patterns = toPatterns(listed("!"), "the settings");
    return found.filter((each) => {
      const names = namesOf(each, base);
      if (names.some((name) => off.has(name))) return false;
      if (names.some((name) => on.has(name))) return true;
      return !patterns.some((pattern) => {
        view.assertTimeLeft();
        return names.some((name) => matchesPattern(name, pattern));
      });
    });
  });
}

function namesOf({ path }: Found, base: string): string[] {
  const own = basename(path) === "SKILL.md" ? [relative(base, join(path, ".."))] : [];
  return [relative(base, path), path, ...own].flatMap((name) => [name, basename(name)]);
}
