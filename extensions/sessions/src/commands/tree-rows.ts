/**
 * The tree of a session in lines. The branch where the conversation stands keeps to the left; each other one is set in,
 * below the entry that it leaves:
 *
 *   a1b2c3d4  you: add a test
 *   b2c3d4e5  pi: Done.
 *   c3d4e5f6  ├─ you: now in Python
 *   d4e5f6a7  │  pi: Here it is.
 *   e5f6a7b8  you: now in Rust  <- here
 */
import type { Entry } from "@pi-agent/kernel";
import { type Told, tellEntry } from "../export/told.ts";
import { labelsOf, type Tree, trunkChild } from "../export/tree.ts";
import { oneLine } from "../one-line.ts";

export interface Row {
  id: string;
  line: string;
  isHere: boolean;
}

export interface RowOptions {
  /** Also what a list leaves out: calls and results of tools, changes of the model. */
  isAll?: boolean;
}

interface Open {
  entry: Entry;
  depth: number;
  isFirst: boolean;
}

const TEXT_CHARS = 64;
// Branches of branches of branches: further in nothing can be read.
const MAX_DEPTH = 8;
const HERE = "  <- here";

/** Words every entry that is worth a line, top to bottom. */
export function treeRows(tree: Tree, { isAll = false }: RowOptions = {}): Row[] {
  const onPath = new Set(tree.path().map(({ id }) => id));
  const labels = labelsOf(tree);
  const rows: Row[] = [];
  let here: Row | undefined;
  const open: Open[] = openChildren(tree, { onPath, id: null, depth: 0 });
  for (let next = open.pop(); next; next = open.pop()) {
    const { entry, depth } = next;
    const label = labels.get(entry.id)?.label;
    const told = tellEntry(entry);
    const isShown = isAll || !told.isMinor || label !== undefined;
    if (isShown) {
      const row = { id: entry.id, line: toLine(told, { ...next, label }), isHere: false };
      rows.push(row);
      if (onPath.has(entry.id)) here = row;
    }
    const children = openChildren(tree, { onPath, id: entry.id, depth });
    // What is not shown does not begin its branch: the one after it does.
    if (next.isFirst && !isShown) {
      const goesOn = children.find((child) => child.depth === depth);
      if (goesOn) goesOn.isFirst = true;
    }
    open.push(...children);
  }
  if (here) {
    here.isHere = true;
    here.line += HERE;
  }
  return rows;
}

/** The children of an entry in the order in which they are to be popped: those that branch off, then the one that goes on. */
function openChildren(
  tree: Tree,
  { onPath, id, depth }: { onPath: ReadonlySet<string>; id: string | null; depth: number },
): Open[] {
  const trunk = trunkChild(tree, onPath, id);
  const others = tree.children(id).filter((child) => child !== trunk);
  const aside = others.map((entry) => ({ entry, depth: depth + 1, isFirst: true }));
  const own = trunk ? [{ entry: trunk, depth, isFirst: false }] : [];
  return [...own, ...aside.reverse()];
}

function toLine({ who, text }: Told, { entry, depth, isFirst, label }: Open & { label: string | undefined }): string {
  const shownDepth = Math.min(depth, MAX_DEPTH);
  const lead = shownDepth === 0 ? "" : `${"│  ".repeat(shownDepth - 1)}${isFirst ? "├─ " : "│  "}`;
  const said = text === "" ? who : `${who}: ${text}`;
  const cut = said.length > TEXT_CHARS ? `${said.slice(0, TEXT_CHARS - 1)}…` : said;
  return oneLine(`${entry.id}  ${lead}${cut}${label === undefined ? "" : `  [${label}]`}`);
}
