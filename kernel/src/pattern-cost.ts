/**
 * How long a foreign regular expression may search. A backtracking search over n characters takes up to n ^ degree steps,
 * where each repetition that is not inside another one adds a degree, and a pattern that may begin anywhere one more.
 */

/** By degree: what a search may cost is kept near 10 million steps. */
const MAX_LENGTHS: readonly number[] = [10_000, 10_000, 10_000, 400, 100];
const MAX_PATTERN = 500;
const LOOKAROUND_OR_BACK_REFERENCE = /^(?:\(\?<?[=!]|\\[1-9k])/;
const REPETITION = /^(?:[*+]|\{\d+(,?)\d*\})/;

/** The longest text that a pattern may be held against; `undefined` for one that could search for ever. */
export function maxLengthFor(pattern: string): number | undefined {
  const degree = degreeOf(pattern);
  return degree === undefined ? undefined : MAX_LENGTHS[degree];
}

/** Whether a search takes no more steps than a few for each character. */
export function isLinear(pattern: string): boolean {
  const degree = degreeOf(pattern);
  return degree !== undefined && degree <= 1;
}

function degreeOf(pattern: string): number | undefined {
  if (pattern.length > MAX_PATTERN || !isRegExp(pattern)) return undefined;
  const repetitions = countRepetitions(pattern);
  return repetitions === undefined || pattern.startsWith("^") ? repetitions : repetitions + 1;
}

function isRegExp(pattern: string): boolean {
  try {
    return new RegExp(pattern, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

/** Counts repetitions; no number when one of them repeats what branches or repeats itself. */
function countRepetitions(pattern: string): number | undefined {
  let degree = 0;
  /** For each open group: whether what is in it can match in more than one way. */
  const open = [false];
  for (let i = 0; i < pattern.length; i++) {
    const rest = pattern.slice(i);
    if (LOOKAROUND_OR_BACK_REFERENCE.test(rest)) return undefined;
    const last = open.length - 1;
    const char = pattern[i];
    if (char === "\\") i++;
    else if (char === "[") i += classLength(rest);
    else if (char === "(") open.push(false);
    else if (char === "|" || char === "?") open[last] = true;
    else if (REPETITION.test(rest)) {
      open[last] = true;
      degree++;
    } else if (char === ")") {
      const isAmbiguous = open.pop();
      if (isAmbiguous && REPETITION.test(pattern.slice(i + 1))) return undefined;
      open[last - 1] ||= isAmbiguous ?? false;
    }
    // `(?:` and `(?<name>` are no questions.
    if (char === "(" && pattern[i + 1] === "?") i++;
  }
  return degree;
}

/** How far the end of a class lies from its beginning. */
function classLength(rest: string): number {
  for (let i = 1; i < rest.length; i++) {
    if (rest[i] === "\\") i++;
    else if (rest[i] === "]" && i > 1) return i;
  }
  return rest.length;
}
