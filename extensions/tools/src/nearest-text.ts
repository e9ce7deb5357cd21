import { toLf } from "./text-view.ts";
import { cutText, splitLines } from "./truncate.ts";

const MAX_LINES_SHOWN = 8;
const MAX_LINE_SHOWN = 200;
/** Below this share of common characters two lines have nothing to do with each other. */
const MIN_LIKENESS = 0.4;
const LINE_NUMBER = /^\s*\d+\s*[:|\u2192\t-]\s?/;

/** Tells where in a text the nearest to a wanted text stands, and how the two differ first. */
export function nearestText(original: string, wanted: string): string {
  const lines = splitLines(toLf(original));
  const given = splitLines(toLf(wanted));
  const isNumbered = given.length > 0 && given.every((line) => line.trim() === "" || LINE_NUMBER.test(line));
  const sought = isNumbered ? given.map((line) => line.replace(LINE_NUMBER, "")) : given;
  const advice = isNumbered ? "oldText seems to carry line numbers: leave them out. " : "";
  const at = mostAgreed(lines, sought) ?? mostAlike(lines, sought);
  if (at === undefined)
    return `${advice}Nothing in the file is like it. Read the file again and copy the text from it.`;

  const shown = lines.slice(at, at + Math.min(sought.length, MAX_LINES_SHOWN));
  const difference = firstDifference(lines, sought, at);
  return [
    `${advice}The nearest text is at line ${at + 1}:`,
    ...shown.map((line) => cutText(line, MAX_LINE_SHOWN)),
    difference,
  ].join("\n");
}

/** The line where most of the wanted lines stand in their order, white space aside. */
function mostAgreed(lines: readonly string[], wanted: readonly string[]): number | undefined {
  const places = new Map<string, number[]>();
  for (const [index, line] of wanted.entries()) {
    const key = collapse(line);
    if (key === "") continue;
    const known = places.get(key);
    if (known) known.push(index);
    else places.set(key, [index]);
  }
  const votes = new Map<number, number>();
  for (const [number, line] of lines.entries()) {
    for (const index of places.get(collapse(line)) ?? []) {
      if (number >= index) votes.set(number - index, (votes.get(number - index) ?? 0) + 1);
    }
  }
  let best: number | undefined;
  for (const [at, count] of votes) if (best === undefined || count > votes.get(best)!) best = at;
  return best;
}

/** The line where the longest wanted line has its likest counterpart. */
function mostAlike(lines: readonly string[], wanted: readonly string[]): number | undefined {
  const keys = wanted.map(collapse);
  const longest = keys.reduce((best, key, index) => (key.length > keys[best]!.length ? index : best), 0);
  const key = keys[longest] ?? "";
  if (key === "") return undefined;
  let best: { at: number; likeness: number } | undefined;
  for (const [number, line] of lines.entries()) {
    const likeness = likenessOf(key, collapse(line));
    if (likeness >= MIN_LIKENESS && likeness > (best?.likeness ?? 0)) best = { at: number, likeness };
  }
  return best && Math.max(0, best.at - longest);
}

/** The share of two lines that their common start and end make up. */
function likenessOf(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let start = 0;
  while (start < most && a[start] === b[start]) start++;
  let end = 0;
  while (end < most - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  return (2 * (start + end)) / (a.length + b.length);
}

function firstDifference(lines: readonly string[], wanted: readonly string[], at: number): string {
  for (const [index, line] of wanted.entries()) {
    const there = lines[at + index];
    if (there === line) continue;
    if (there === undefined) return `First difference: the file ends after line ${lines.length}, oldText goes on.`;
    let column = 0;
    while (there[column] !== undefined && there[column] === line[column]) column++;
    const place = `line ${at + index + 1}, column ${column + 1}`;
    return `First difference at ${place}: the file has ${visible(there, column)}, oldText has ${visible(line, column)}.`;
  }
  return "The lines are the same; the difference is in the line breaks around them.";
}

function visible(line: string, column: number): string {
  const point = line.codePointAt(column);
  if (point === undefined) return "the end of the line";
  if (point === 9) return "a tab";
  if (point === 32) return "a blank";
  const name = `U+${point.toString(16).toUpperCase().padStart(4, "0")}`;
  const character = String.fromCodePoint(point);
  if (point > 32 && point < 127) return JSON.stringify(character);
  return /[\p{L}\p{N}\p{P}\p{S}]/u.test(character) ? `"${character}" (${name})` : name;
}

function collapse(line: string): string {
  return line.replace(/\s+/gu, " ").trim();
}
