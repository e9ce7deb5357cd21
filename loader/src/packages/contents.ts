/** What a package contains: by its manifest's lists, else by the folders that packages of Pi have by convention. */
import { basename, join } from "node:path";
import { type Found, type FoundKind, find } from "../discover.ts";
import { createOwnView, type FileView, Refusal } from "../file-view.ts";
import { readManifest, resolveList } from "../manifest.ts";

export const RESOURCE_LISTS = ["extensions", "skills", "prompts", "themes"] as const;
export type ResourceList = (typeof RESOURCE_LISTS)[number];

/** Paths below the package, with `/`, sorted; what is refused is told with its reason. */
export type PackageContents = Record<ResourceList, ContentItem[]> & { refused: { path: string; reason: string }[] };

export interface ContentItem {
  path: string;
  requires?: Record<string, string>;
}

const KINDS: Record<ResourceList, FoundKind> = {
  extensions: "extension",
  skills: "skill",
  prompts: "prompt",
  themes: "theme",
};
const MAX_DEPTH = 16;

/** Finds what a package's folder contains. What is a single file is one extension. Never fails. */
export async function findContents(
  root: string,
  view: FileView = createOwnView(() => false),
): Promise<PackageContents> {
  const contents: PackageContents = { extensions: [], skills: [], prompts: [], themes: [], refused: [] };
  if (view.kindOf(root) === "file") return { ...contents, extensions: [{ path: basename(root) }] };
  try {
    const manifest = readManifest(view, root);
    const isExplicit = manifest !== undefined && RESOURCE_LISTS.some((list) => manifest[list] !== undefined);
    for (const list of RESOURCE_LISTS) {
      const found = isExplicit
        ? await findListed({ view, root, kind: KINDS[list] }, manifest[list] ?? [], contents)
        : await findDeep(view, KINDS[list], join(root, list));
      take(contents, list, { root, found, requires: manifest?.requires });
    }
    if (!isExplicit && isEmpty(contents)) await findSingle(view, root, contents);
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown;
    contents.refused.push({ path: "package.json", reason: thrown.message });
  }
  return contents;
}

/** Tells whether a package has nothing to load. */
export function isEmpty(contents: PackageContents): boolean {
  return RESOURCE_LISTS.every((list) => contents[list].length === 0);
}

async function findListed(
  { view, root, kind }: { view: FileView; root: string; kind: FoundKind },
  entries: readonly string[],
  contents: PackageContents,
): Promise<Found[]> {
  const off = new Set(entries.filter((entry) => entry.startsWith("-")).map((entry) => join(root, entry.slice(1))));
  const { paths, refused } = resolveList(
    view,
    root,
    entries.filter((entry) => !entry.startsWith("-")),
  );
  contents.refused.push(...refused.map(({ entry, reason }) => ({ path: entry, reason })));
  const found: Found[] = [];
  for (const path of paths.filter((each) => !off.has(each))) {
    found.push(...(kind === "extension" ? await find(kind, view, path) : await findDeep(view, kind, path)));
  }
  return found.filter(({ path }) => !off.has(path));
}

/** Prompts and themes count in every folder below; extensions and skills have rules of their own for that. */
async function findDeep(view: FileView, kind: FoundKind, path: string, depth = 0): Promise<Found[]> {
  const found = await find(kind, view, path);
  if ((kind !== "prompt" && kind !== "theme") || view.kindOf(path) !== "folder" || depth > MAX_DEPTH) return found;
  const names = view.list(path).filter((name) => !name.startsWith(".") && name !== "node_modules");
  for (const name of names.filter((each) => view.kindOf(join(path, each)) === "folder")) {
    found.push(...(await findDeep(view, kind, join(path, name), depth + 1)));
  }
  return found;
}

/** A folder with an `index.ts` and nothing else of all this is one extension. */
async function findSingle(view: FileView, root: string, contents: PackageContents): Promise<void> {
  if (!["index.ts", "index.js"].some((name) => view.kindOf(join(root, name)) === "file")) return;
  take(contents, "extensions", { root, found: await find("extension", view, root) });
}

function take(
  contents: PackageContents,
  list: ResourceList,
  { root, found, requires }: { root: string; found: readonly Found[]; requires?: Record<string, string> },
): void {
  for (const each of found) {
    const path = each.path
      .slice(root.length + 1)
      .split("\\")
      .join("/");
    if (each.refusal !== undefined) contents.refused.push({ path, reason: each.refusal });
    else if (!contents[list].some((known) => known.path === path)) {
      const needed = each.requires ?? (list === "extensions" ? requires : undefined);
      contents[list].push(needed && Object.keys(needed).length > 0 ? { path, requires: needed } : { path });
    }
  }
  contents[list].sort((a, b) => (a.path < b.path ? -1 : 1));
}
