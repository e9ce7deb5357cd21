/**
 * How long a text a foreign regular expression may be held against. A backtracking search goes through every way in
 * which the pattern could match: each question and alternative multiplies the ways, each repetition without an upper end
 * can stop at any character.
 */

/** What a search may cost. */
const MAX_STEPS = 10_000_000;
/** Each way may go through the whole pattern. */
const MAX_WAYS = 100_000;
const MAX_LENGTH = 10_000;
const MAX_PATTERN = 500;
/** Of a pattern for names, which have no length to hold them to. */
const MAX_WAYS_OF_NAMES = 100;

/** `ways` to match at one place, times the ways to spread n characters over `ends` open repetitions. */
type Cost = { ways: number; ends: number };
/** `unit` is what one character has to match; groups have none. */
type Atom = Cost & { unit: string | undefined };
type Reader = { pattern: string; at: number };

const ATOM = /\[(?:\\.|[^\]\\])+\]|\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|[^1-9k])|[^\\[\]()|]/uy;
const GROUP = /\((?:\?:|\?<[^=!>]+>|(?!\?))/uy;
const BAR = /\|/y;
const END_OF_GROUP = /\)/y;
const QUANTIFIER = /(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/uy;

const SEPARATOR = /^(?:[- ,;:@/_=&%#!~]|\\[-.^$*+?|/()[\]{}\\])$/;

/** The longest text that a pattern may be held against; `undefined` for one that could search for ever. */
export function maxLengthFor(pattern: string): number | undefined {
  const cost = costOf(pattern);
  if (!cost || cost.ways > MAX_WAYS) return undefined;
  let steps = cost.ways;
  let length = 0;
  // The ways to spread one character more.
  while (length < MAX_LENGTH && (steps *= (length + 1 + cost.ends) / (length + 1)) <= MAX_STEPS) length++;
  return length;
}

/** Whether a search takes no more steps than a few for each character. */
export function isLinear(pattern: string): boolean {
  const cost = costOf(pattern);
  return cost !== undefined && cost.ends <= 1 && cost.ways <= MAX_WAYS_OF_NAMES;
}

function costOf(pattern: string): Cost | undefined {
  if (pattern.length > MAX_PATTERN || !isRegExp(pattern)) return undefined;
  const reader = { pattern, at: 0 };
  const arms = readArms(reader);
  if (!arms || reader.at < pattern.length) return undefined;
  const { ways, ends } = costOfArms(arms);
  const isAnchored = pattern.startsWith("^") && arms.length === 1;
  return { ways, ends: isAnchored ? ends : ends + 1 };
}

function isRegExp(pattern: string): boolean {
  try {
    return new RegExp(pattern, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

/** Reads alternatives up to the end of their group; nothing for what this does not understand. */
function readArms(reader: Reader): Atom[][] | undefined {
  const arms: Atom[][] = [[]];
  while (reader.at < reader.pattern.length && reader.pattern[reader.at] !== ")") {
    if (take(reader, BAR)) {
      arms.push([]);
      continue;
    }
    const atom = readAtom(reader);
    if (!atom) return undefined;
    arms.at(-1)!.push(atom);
  }
  return arms;
}

function readAtom(reader: Reader): Atom | undefined {
  const unit = take(reader, ATOM)?.[0];
  const arms = unit === undefined ? readGroup(reader) : [];
  if (!arms) return undefined;
  const once = unit === undefined ? costOfArms(arms) : { ways: 1, ends: 0 };
  const quantifier = take(reader, QUANTIFIER);
  const cost = quantifier ? repeated(once, quantifier, arms) : once;
  return cost && { ...cost, unit };
}

function readGroup(reader: Reader): Atom[][] | undefined {
  if (!take(reader, GROUP)) return undefined;
  const arms = readArms(reader);
  return arms && take(reader, END_OF_GROUP) ? arms : undefined;
}

function take(reader: Reader, expected: RegExp): RegExpExecArray | undefined {
  expected.lastIndex = reader.at;
  const found = expected.exec(reader.pattern) ?? undefined;
  if (found) reader.at = expected.lastIndex;
  return found;
}

function costOfArms(arms: readonly Atom[][]): Cost {
  let sum = { ways: 0, ends: 0 };
  for (const arm of arms) {
    const ways = arm.reduce((product, atom) => product * atom.ways, 1);
    const ends = arm.reduce((total, atom) => total + atom.ends, 0);
    sum = { ways: sum.ways + ways, ends: Math.max(sum.ends, ends) };
  }
  return sum;
}

function repeated(once: Cost, [, sign, least, comma, most]: RegExpExecArray, arms: Atom[][]): Cost | undefined {
  if (sign === "?") return { ways: once.ways + 1, ends: once.ends };
  if (least !== undefined && (comma === "" || most !== "")) {
    const max = Number(most || least);
    return { ways: (max - Number(least) + 1) * once.ways ** max, ends: once.ends * max };
  }
  if (once.ways === 1 && once.ends === 0) return { ways: 1, ends: 1 };
  return isSeparated(arms) ? { ways: 1, ends: 2 } : undefined;
}

/** Whether each turn of a repeated group can be told from the next, as in `(?:-[a-z]+)*` and `(?:[a-z]+\.)+`. */
function isSeparated(arms: readonly Atom[][]): boolean {
  const [arm = []] = arms;
  const isPlain = arm.every(({ unit, ways, ends }) => unit !== undefined && ways === 1 && ends <= 1);
  if (arms.length > 1 || !isPlain || arm.filter(({ ends }) => ends > 0).length !== 1) return false;
  return separates(arm[0]!, arm.slice(1)) || separates(arm.at(-1)!, arm.slice(0, -1));
}

function separates({ unit = "", ends }: Atom, others: readonly Atom[]): boolean {
  return ends === 0 && SEPARATOR.test(unit) && !others.some((other) => new RegExp(other.unit!, "u").test(unit.at(-1)!));
}
