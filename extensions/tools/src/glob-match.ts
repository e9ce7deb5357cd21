/**
 * Matches globs in time that grows with pattern times name, however many wildcards there are.
 *
 *   pattern ─► alternatives of its braces ─► parts between slashes ─► characters
 */

/** Stands for any number of items: characters of a name for `*`, parts of a path for `**`. */
const ANY = Symbol("any");
type Step<T> = typeof ANY | ((item: T) => boolean);

const MAX_ALTERNATIVES = 256;

/** Matches one part of a path, or with `ANY` any number of them. */
export type PartStep = Step<string>;

/**
 * Makes the matcher of a glob for whole paths; one that is the pattern itself matches, as `[x].ts`. Throws an Error that
 * says what is wrong with the pattern.
 */
export function globMatcher(pattern: string, isCaseless: boolean): (path: string) => boolean {
  const patterns = alternativesOf(pattern).map((each) => each.split("/").map((part) => partStep(part)));
  return (path) => {
    const text = isCaseless ? path.toLowerCase() : path;
    const parts = text.split("/");
    return text === pattern || patterns.some((steps) => matchSteps(steps, parts));
  };
}

/**
 * Holds steps against items, all of them. Going back to the last wildcard alone is enough: an earlier one could only
 * leave less to match.
 */
export function matchSteps<T>(steps: readonly Step<T>[], items: readonly T[]): boolean {
  let step = 0;
  let wildcard = -1;
  let tried = 0;
  for (let at = 0; at < items.length; ) {
    const current = steps[step];
    if (current === ANY) {
      wildcard = step++;
      tried = at;
    } else if (current?.(items[at]!)) {
      step++;
      at++;
    } else {
      if (wildcard === -1) return false;
      step = wildcard + 1;
      at = ++tried;
    }
  }
  return steps.slice(step).every((rest) => rest === ANY);
}

/** Makes the step of one part of a pattern, without braces. Throws an Error for a set that does not end. */
export function partStep(part: string, isAlone = false): PartStep {
  if (!isAlone && /^\*{2,}$/.test(part)) return ANY;
  if (!/[*?[\\]/.test(part)) return (name) => name === part;
  TOKEN.lastIndex = 0;
  const steps = Array.from(part.matchAll(TOKEN), ([token]) => characterStep(token));
  return (name) => matchSteps(steps, Array.from(name));
}

// An escaped character, a set, or any one character.
const TOKEN = /\\[^]|\[[!^]?\]?(?:\\[^]|[^\]\\])*\]|[^]/gu;

function characterStep(token: string): Step<string> {
  if (token === "*") return ANY;
  if (token === "?") return () => true;
  if (token === "[") throw new Error("a [ stands alone (write \\[ for the character)");
  if (token.startsWith("[")) return setStep(token);
  const wanted = token.length > 1 && token.startsWith("\\") ? token.slice(1) : token;
  return (character) => character === wanted;
}

function setStep(token: string): Step<string> {
  const isNegated = /^\[[!^]/.test(token);
  const members = (token.slice(isNegated ? 2 : 1, -1).match(/\\[^]|[^]/gu) ?? []).map((each) =>
    each.length > 1 && each.startsWith("\\") ? { text: each.slice(1), isPlain: true } : { text: each, isPlain: false },
  );
  const ranges: [number, number][] = [];
  for (let at = 0; at < members.length; at++) {
    const first = members[at]!.text.codePointAt(0)!;
    const isRange = members[at + 1]?.text === "-" && !members[at + 1]!.isPlain && at + 2 < members.length;
    ranges.push([first, isRange ? members[(at += 2)]!.text.codePointAt(0)! : first]);
  }
  return (character) => {
    const code = character.codePointAt(0)!;
    return ranges.some(([from, to]) => code >= from && code <= to) !== isNegated;
  };
}

/** Writes out `{a,b}` and `{1..3}`; braces without either are characters. */
function alternativesOf(pattern: string): string[] {
  const { texts, at } = readAlternatives(pattern, 0, false);
  if (at < pattern.length) throw new Error("a } has no { before it");
  return texts;
}

interface Alternatives {
  texts: string[];
  /** Where the reading stopped. */
  at: number;
}

/** Reads up to the end, or inside braces up to their next `,` or `}`. */
function readAlternatives(pattern: string, start: number, isInside: boolean): Alternatives {
  let texts = [""];
  let at = start;
  while (at < pattern.length) {
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(pattern)![0];
    if (token === "}" || (isInside && token === ",")) break;
    if (token === "]") throw new Error("a ] stands alone (write \\] for the character)");
    let tails = [token];
    at += token.length;
    if (token === "{") ({ texts: tails, at } = readBraces(pattern, at));
    if (texts.length * tails.length > MAX_ALTERNATIVES) {
      throw new Error(`its braces stand for more than ${MAX_ALTERNATIVES} alternatives (search in several calls)`);
    }
    texts = texts.flatMap((head) => tails.map((tail) => head + tail));
  }
  return { texts, at };
}

function readBraces(pattern: string, start: number): Alternatives {
  const members: string[][] = [];
  for (let at = start; ; at++) {
    const { texts, at: end } = readAlternatives(pattern, at, true);
    members.push(texts);
    at = end;
    if (pattern[at] === "}") {
      const all = members.flat();
      const only = members.length === 1;
      return { texts: only ? all.flatMap((text) => rangeOf(text) ?? [`\\{${text}\\}`]) : all, at: at + 1 };
    }
    if (pattern[at] === undefined) throw new Error("a { is not closed (write \\{ for the character)");
  }
}

function rangeOf(text: string): string[] | undefined {
  const [, from, to] = /^(\w)\.\.(\w)$/.exec(text) ?? /^(\d+)\.\.(\d+)$/.exec(text) ?? [];
  if (from === undefined || to === undefined) return undefined;
  const isNumber = /^\d+$/.test(from) && /^\d+$/.test(to);
  if (!isNumber) return [`[${from}-${to}]`];
  const [low, high] = [Number(from), Number(to)].sort((a, b) => a - b) as [number, number];
  const count = Math.min(high - low + 1, MAX_ALTERNATIVES + 1);
  return Array.from({ length: count }, (_, index) => String(low + index));
}
