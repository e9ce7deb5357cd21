/** What a folder's package.json says about the extension package in it, under `pi`. Data, of a stranger maybe. */
import { isAbsolute, join, relative, sep } from "node:path";
import { type FileView, Refusal } from "./file-view.ts";
import { isJsonObject } from "./json-check.ts";
import { MAX_PATTERNS, matchesPattern, type Pattern, toPatterns } from "./pattern.ts";
import { isInside } from "./places.ts";

const MANIFEST_LISTS = ["extensions", "skills", "prompts", "themes"] as const;
type ManifestList = (typeof MANIFEST_LISTS)[number];

export type Manifest = Partial<Record<ManifestList, string[]>> & {
  /** Services that must be there first, each with the package that provides it. */
  requires?: Record<string, string>;
};

/** What a manifest's list comes to: files and folders that are there, and entries that are refused, as written. */
export interface ManifestPaths {
  paths: string[];
  refused: { entry: string; reason: string }[];
}

// Deep enough for a build's output; a manifest that needs more can name the folder.
const MAX_GLOB_DEPTH = 8;
const WHERE = "its package.json";

/** Reads the manifest in a folder; `undefined` where there is none. Fails with a `Refusal` when it is no JSON object. */
export function readManifest(view: FileView, folder: string): Manifest | undefined {
  const path = join(folder, "package.json");
  if (view.kindOf(path) === "missing") return undefined;
  const parsed = parse(readBytes(view, path));
  if (!isJsonObject(parsed)) throw new Refusal("has a package.json that is no valid JSON object");
  if (!isJsonObject(parsed.pi)) return undefined;
  const manifest: Manifest = {};
  for (const list of MANIFEST_LISTS) {
    const value = parsed.pi[list];
    if (Array.isArray(value) && value.every((each) => typeof each === "string")) manifest[list] = value;
  }
  const { requires } = parsed.pi;
  if (isJsonObject(requires)) {
    manifest.requires = Object.fromEntries(
      Object.entries(requires).filter((pair): pair is [string, string] => typeof pair[1] === "string"),
    );
  }
  return manifest;
}

/**
 * Resolves a manifest's list: paths and patterns, `!` taking away. What leaves the folder is refused. Fails with a
 * `Refusal` for more than can be matched.
 */
export function resolveList(view: FileView, folder: string, entries: readonly string[]): ManifestPaths {
  // Manifests may name each other's folders over and over without anything being opened again.
  view.assertTimeLeft();
  if (entries.length > MAX_PATTERNS) throw new Refusal(`lists more than ${MAX_PATTERNS} entries in ${WHERE}`);
  const toBare = (entry: string) => entry.replace(/^[!+]/, "");
  const without = toPatterns(entries.filter((entry) => entry.startsWith("!")).map(toBare), WHERE);
  const refused: ManifestPaths["refused"] = [];
  const paths = new Set<string>();
  let files: string[] | undefined;
  for (const entry of entries.filter((each) => !each.startsWith("!")).map(toBare)) {
    const reason = findEscape(entry);
    if (reason !== undefined) refused.push({ entry, reason });
    else if (/[*?]/.test(entry)) {
      files ??= listFiles(view, folder, MAX_GLOB_DEPTH);
      for (const path of selectMatching({ view, folder, files }, toPatterns([entry], WHERE))) paths.add(path);
    } else paths.add(join(folder, entry));
  }
  const unwanted = new Set(selectMatching({ view, folder, files: [...paths] }, without));
  return { paths: [...paths].filter((path) => !unwanted.has(path) && view.kindOf(path) !== "missing"), refused };
}

// Of Linux, the longest of all.
export const MAX_PATH = 4_096;

/** Says why a path in a manifest cannot be one of its own folder's; `undefined` when it can. */
export function findEscape(entry: string): string | undefined {
  if (entry.length > MAX_PATH) return "is longer than a path can be";
  if (isAbsolute(entry) || /^[a-z][a-z\d+.-]*:/i.test(entry)) return "is not a path below the package";
  if (/[\0\\]/.test(entry)) return "holds a character that no path here may have";
  return isInside(join(sep, "package", entry), join(sep, "package")) ? undefined : "leaves the package";
}

function selectMatching(
  { view, folder, files }: { view: FileView; folder: string; files: readonly string[] },
  patterns: readonly Pattern[],
): string[] {
  return files.filter((path) => {
    const name = relative(folder, path);
    return patterns.some((pattern) => {
      view.assertTimeLeft();
      return matchesPattern(name, pattern);
    });
  });
}

function listFiles(view: FileView, folder: string, depth: number): string[] {
  if (depth === 0) return [];
  return view
    .list(folder)
    .filter((name) => !name.startsWith(".") && name !== "node_modules")
    .map((name) => join(folder, name))
    .flatMap((path) => (view.kindOf(path) === "folder" ? listFiles(view, path, depth - 1) : [path]));
}

function readBytes(view: FileView, path: string): Buffer {
  try {
    return view.read(path);
  } catch (thrown) {
    if (thrown instanceof Refusal) throw new Refusal(`has a package.json that ${thrown.message}`, { cause: thrown });
    throw thrown;
  }
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8").replace(/^\uFEFF/, ""));
  } catch {
    return undefined;
  }
}
