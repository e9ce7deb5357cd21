/** Lists the names nearest to what was asked for, best first: near in spelling, or holding it as a part. */
export function nearestNames(wanted: string, names: Iterable<string>, limit = 3): string[] {
  const asked = wanted.toLowerCase();
  // A third of the letters may be wrong, and at least two: more than that is another word.
  const reach = Math.max(2, Math.floor(asked.length / 3));
  const isPart = (name: string) => asked.length > 2 && name.toLowerCase().includes(asked);
  return [...new Set(names)]
    .map((name) => ({ name, distance: editDistance(asked, name.toLowerCase()) }))
    .filter(({ name, distance }) => distance <= reach || isPart(name))
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, limit)
    .map(({ name }) => name);
}

/** Counts the insertions, deletions and replacements that turn `from` into `to`. */
function editDistance(from: string, to: string): number {
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const replaced = (last[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    last = current;
  }
  return last[to.length] ?? 0;
}
