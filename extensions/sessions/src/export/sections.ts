/**
 * A tree as a text that is read from top to bottom: the branch where the conversation stands, then each other one.
 *
 *   a ── b ── c ── d        section 1: a b c d
 *        └─ e ── f          section 2, from b: e f ── and so on
 */
import type { Entry } from "@pi-agent/kernel";
import { type Tree, trunkChild } from "./tree.ts";

export interface Section {
  /** The entry that it leaves the other one at; left out for the first, and for another beginning. */
  from?: Entry;
  entries: Entry[];
}

/** Divides a tree so that every entry is in exactly one section. */
export function sectionsOf(tree: Tree): Section[] {
  const onPath = new Set(tree.path().map(({ id }) => id));
  const sections: Section[] = [];
  const waiting: { from?: Entry; start: Entry }[] = [];
  const branchOff = (from: Entry | undefined, next: Entry | undefined) => {
    for (const start of tree.children(from?.id ?? null)) if (start !== next) waiting.push({ from, start });
  };
  const root = trunkChild(tree, onPath, null);
  if (root) waiting.push({ start: root });
  branchOff(undefined, root);
  for (let at = 0; at < waiting.length; at++) {
    const { from, start } = waiting[at]!;
    const entries: Entry[] = [];
    for (let entry: Entry | undefined = start; entry; ) {
      entries.push(entry);
      const next = trunkChild(tree, onPath, entry.id);
      branchOff(entry, next);
      entry = next;
    }
    sections.push({ from, entries });
  }
  return sections;
}
