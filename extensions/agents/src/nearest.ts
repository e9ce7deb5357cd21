/** Finds the name that is most like what was written; `undefined` where none is. */
export function nearestName(written: string, names: Iterable<string>): string | undefined {
  const wanted = written.toLowerCase();
  let best: { name: string; distance: number } | undefined;
  for (const name of names) {
    if (Math.abs(name.length - wanted.length) > reachOf(wanted)) continue;
    const distance = editDistance(wanted, name.toLowerCase());
    if (distance <= reachOf(wanted) && (!best || distance < best.distance)) best = { name, distance };
  }
  return best?.name;
}

/** A third of the letters may be wrong, and of a short name two, as long as one is right. */
function reachOf(wanted: string): number {
  return Math.min(Math.max(2, Math.floor(wanted.length / 3)), wanted.length - 1);
}

/** Letters to add, to drop, to change, or to swap with their neighbour. */
function editDistance(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const isSame = from[i - 1] === to[j - 1];
      const isSwapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const changed = rows[i - 1]![j - 1]! + (isSame ? 0 : 1);
      const swapped = isSwapped ? rows[i - 2]![j - 2]! + 1 : Number.POSITIVE_INFINITY;
      row.push(Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, changed, swapped));
    }
    rows.push(row);
  }
  return rows[from.length]![to.length]!;
}
