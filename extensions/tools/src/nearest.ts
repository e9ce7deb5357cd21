import { existsSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { linkTarget, namesIn, showPath } from "./paths.ts";
import { ToolFailure } from "./result.ts";

const MAX_NAMES_COMPARED = 5_000;
const MAX_NAMES_LISTED = 8;

/** Tells that a path does not exist, and which existing one is nearest to it. */
export function missingPath(path: string, shown: string, cwd: string): ToolFailure {
  return new ToolFailure("ENOENT", `Path not found: ${shown}`, nearestHint(path, cwd));
}

/** Names the existing path that is nearest to a missing one; of a broken link, where it leads. */
export function nearestHint(path: string, cwd: string): string {
  const target = linkTarget(path);
  if (target !== undefined) return `It is a symbolic link to ${target}, which does not exist.`;
  let missing = path;
  while (dirname(missing) !== missing && !existsSync(dirname(missing))) missing = dirname(missing);
  const folder = dirname(missing);
  const names = namesIn(folder);
  const near = nearestName(basename(missing), names.slice(0, MAX_NAMES_COMPARED));
  if (near !== undefined) {
    const whole = join(folder, near) + path.slice(missing.length);
    return `The nearest that exists: ${showPath(existsSync(whole) ? whole : join(folder, near), cwd)}`;
  }
  const listed = names.slice(0, MAX_NAMES_LISTED).join(", ") || "nothing";
  const more = names.length > MAX_NAMES_LISTED ? ` and ${names.length - MAX_NAMES_LISTED} more` : "";
  return `The nearest folder that exists: ${showPath(folder, cwd)} (it holds ${listed}${more})`;
}

/** The name that is most like the wanted one; `undefined` when none is like it. */
export function nearestName(wanted: string, names: readonly string[]): string | undefined {
  let best: { name: string; distance: number } | undefined;
  for (const name of names) {
    const distance = likeness(wanted.toLowerCase(), name.toLowerCase());
    if (distance !== undefined && (!best || distance < best.distance)) best = { name, distance };
  }
  return best?.name;
}

/** A distance that is small for alike names, `undefined` for others. */
function likeness(a: string, b: string): number | undefined {
  if (a === b) return 0;
  const most = Math.max(1, Math.floor(Math.max(a.length, b.length) / 3));
  if (Math.abs(a.length - b.length) <= most) {
    const distance = editDistance(a, b);
    if (distance <= most) return distance;
  }
  // The same name with another extension.
  const stem = a.slice(0, a.length - extname(a).length);
  return stem !== "" && stem === b.slice(0, b.length - extname(b).length) ? most : undefined;
}

/** Letters to add, drop, change, or swap with their neighbour. */
function editDistance(a: string, b: string): number {
  let earlier: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? earlier[j - 2]! + 1 : Infinity;
      next.push(Math.min(changed, swapped, row[j]! + 1, next[j - 1]! + 1));
    }
    earlier = row;
    row = next;
  }
  return row[b.length]!;
}
