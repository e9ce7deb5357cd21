import type { Entry } from "@pi-agent/kernel";
import { everyEntry, labelsOf, placeIn, type Tree } from "../export/tree.ts";
import { sessionError } from "../problems.ts";

// Of fewer characters nobody means an id.
const LEAST_CHARS = 3;
const MAX_LISTED = 5;

/**
 * Finds the entry that a person names: by its id, the beginning of it, its label, or `.` for where the conversation
 * stands. Fails with `no_such_entry`.
 */
export function findEntry(tree: Tree, reference: string): Entry {
  const exact = reference === "." ? placeIn(tree) : tree.get(reference);
  if (exact) return exact;
  const wanted = reference.toLowerCase();
  const labelled = [...labelsOf(tree)].filter(([, { label }]) => label.toLowerCase() === wanted).map(([id]) => id);
  const begun = reference.length < LEAST_CHARS ? [] : [...everyEntry(tree)].map(({ id }) => id);
  const found = labelled.length > 0 ? labelled : begun.filter((id) => id.startsWith(reference));
  const entry = found.length === 1 ? tree.get(found[0]!) : undefined;
  if (entry) return entry;
  const several = `Several entries are meant by ${JSON.stringify(reference)}: ${found.slice(0, MAX_LISTED).join(", ")}.`;
  const none = `There is no entry ${JSON.stringify(reference)} in this session.`;
  throw sessionError(
    "no_such_entry",
    found.length > 1 ? several : none,
    "/tree shows the entries with their ids; give the whole id, or a label.",
  );
}
