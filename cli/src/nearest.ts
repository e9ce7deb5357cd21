/** Finds the candidate that `name` was most likely meant to be; `undefined` when none is close. */
export function findNearest(name: string, candidates: Iterable<string>): string | undefined {
  let best: { candidate: string; distance: number } | undefined;
  for (const candidate of candidates) {
    // Of two that are as close, the one of the same length is a swap of letters, which is the likelier slip.
    const distance =
      countEdits(name.toLowerCase(), candidate.toLowerCase()) + (name.length === candidate.length ? 0 : 0.5);
    // A third of the letters may be wrong: more than that is another word.
    if (distance < 1 + candidate.length / 3 && distance < (best?.distance ?? candidate.length)) {
      best = { candidate, distance };
    }
  }
  return best?.candidate;
}

/** Counts the insertions, deletions, replacements and swaps of neighbours that turn `from` into `to`. */
function countEdits(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      if (row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]) {
        cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1);
      }
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length] ?? 0;
}
