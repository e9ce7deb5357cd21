import { extname, join } from "node:path";
import { type ProjectView, Refusal } from "./file-view.ts";
import { isInside, lookAt, realPathOf } from "./places.ts";
import { belowBoundary, digestBytes, type Member, type PlanItem } from "./plan.ts";

// From T2: what belongs to a resource is followed up to this.
export const MAX_FILES = 2_000;
export const MAX_BYTES = 20 << 20;
const MAX_DEPTH = 32;

/** The files and links below a folder, or why they are too many, worded to follow the folder's name. */
export interface Listing {
  paths: string[];
  excess?: string;
}

/** Lists what lies below a folder, and opens none of it. Fails with a `Refusal` where that cannot be seen. */
export function listMembers(view: ProjectView, root: string, isLeftOut: (name: string) => boolean): Listing {
  const paths: string[] = [];
  let bytes = 0;
  let excess: string | undefined;
  const walk = (folder: string, depth: number) => {
    if (depth > MAX_DEPTH) throw new Refusal(`is nested deeper than ${MAX_DEPTH} folders`);
    for (const name of view.list(folder).filter((each) => !isLeftOut(each))) {
      const path = join(folder, name);
      const kind = view.kindOf(path);
      if (kind === "folder") walk(path, depth + 1);
      else if (kind !== "missing") {
        paths.push(path);
        bytes += lookAt(path)?.size ?? 0;
      }
      if (paths.length > MAX_FILES) excess = `has more than ${MAX_FILES} files`;
      else if (bytes > MAX_BYTES) excess = `is larger than ${MAX_BYTES >> 20} MB`;
      if (excess !== undefined) return;
    }
  };
  walk(root, 0);
  return { paths, excess };
}

/**
 * Reads everything that belongs to a resource: the file, or all files below its folder. A link counts by its target,
 * which must lie in the same folder. Fails with a `Refusal`.
 */
export function readMembers(view: ProjectView, root: string, maxFileBytes?: number): Member[] {
  if (view.kindOf(root) !== "folder") return [readMember(view, root, maxFileBytes)];
  // What git keeps is no part of a resource, and is never looked into.
  const { paths, excess } = listMembers(view, root, (name) => name === ".git");
  if (excess !== undefined) throw new Refusal(excess);
  return paths.map((path) => readWithin(view, root, path));
}

/** Reads one file or link of those that belong to a folder. Fails with a `Refusal` that names it. */
export function readWithin(view: ProjectView, root: string, path: string): Member {
  if (view.kindOf(path) === "link") {
    if (!isInside(realPathOf(path), root)) throw new Refusal(`holds a link that leaves it: ${path}`);
    return readLink(view, path);
  }
  try {
    return readMember(view, path);
  } catch (thrown) {
    if (thrown instanceof Refusal) throw new Refusal(`holds a file that ${thrown.message}: ${path}`, { cause: thrown });
    throw thrown;
  }
}

/** Reads a file. Fails with a `Refusal`. */
export function readMember(view: ProjectView, path: string, maxFileBytes?: number): Member {
  const isExecutable = ((lookAt(path)?.mode ?? 0) & 0o111) !== 0;
  return { path, type: isExecutable ? "executable" : "file", content: view.read(path, maxFileBytes) };
}

/** Reads where a link leads. Fails with a `Refusal`. */
export function readLink(view: ProjectView, path: string): Member {
  return { path, type: "link", content: Buffer.from(view.readLink(path)) };
}

const SCRIPT_ENDS = new Set(
  ".sh .bash .zsh .fish .ksh .py .rb .pl .php .lua .js .mjs .cjs .ts .mts .cts .ps1 .bat .cmd .exe .awk .tcl .r".split(
    " ",
  ),
);

/** Lists the files that are to be run, relative to the boundary; `undefined` where there are none. */
export function findScripts(members: readonly Member[], boundary: string): Pick<PlanItem, "mayRun"> | undefined {
  const scripts = members.filter(isScript).map(({ path }) => belowBoundary(boundary, path));
  return scripts.length > 0 ? { mayRun: scripts.sort() } : undefined;
}

/** What of a member its digest is made of, as a text. */
export function toText({ type, content }: Member): string {
  return type === "link" ? `link ${content.toString("utf8")}` : digestBytes(content);
}

/** Tells whether a file is one to run: by its bit, its first line or its name. */
function isScript({ path, type, content }: Member): boolean {
  if (type === "link") return false;
  return (
    type === "executable" ||
    content.subarray(0, 2).toString("latin1") === "#!" ||
    SCRIPT_ENDS.has(extname(path).toLowerCase())
  );
}
