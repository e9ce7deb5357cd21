/** Lists the names nearest to what was asked for, best first: near in spelling, or holding it as a part. */
export function nearestNames(wanted: string, names: Iterable<string>, limit = 3): string[] {
  const asked = wanted.toLowerCase();
  // A third of the letters may be wrong, and at least two: more than that is another word.
  const reach = Math.max(2, Math.floor(asked.length / 3));
  // Of two that are as close, the one of the same length is the likelier slip.
  const lengthGap = (name: string) => Math.abs(name.length - asked.length);
  const isPart = (name: string) => asked.length > 2 && name.toLowerCase().includes(asked);
  return [...new Set(names)]
    .map((name) => ({ name, distance: editDistance(asked, name.toLowerCase()) }))
    .filter(({ name, distance }) => distance <= reach || isPart(name))
    .toSorted((a, b) => a.distance - b.distance || lengthGap(a.name) - lengthGap(b.name))
    .slice(0, limit)
    .map(({ name }) => name);
}

/** Counts the insertions, deletions, replacements and swaps of neighbours that turn `from` into `to`. */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const replaced = (last[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
      let cost = Math.min(replaced, (last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1);
      const isSwap = column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (isSwap) cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1);
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length] ?? 0;
}
