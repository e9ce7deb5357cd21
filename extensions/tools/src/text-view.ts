/**
 * Texts as they are searched, with the way back to the original.
 *
 *   plain    CRLF is one LF; everything else as it is
 *   folded   also: kinds of quotes, dashes and spaces are one, composed and decomposed characters too, a lone CR is an
 *            LF, blanks at a line's end are gone
 */
export interface TextView {
  text: string;
  /** Where in the original the piece that became `text[index]` starts. */
  startOf(index: number): number;
  /** Where in the original the piece that became `text[index]` ends. */
  endOf(index: number): number;
}

/** Views a text with LF for every CRLF. */
export function plainView(original: string): TextView {
  if (!original.includes("\r\n")) return { text: original, startOf: (index) => index, endOf: (index) => index + 1 };
  const breaks: number[] = [];
  for (let at = original.indexOf("\r\n"); at !== -1; at = original.indexOf("\r\n", at + 2)) {
    breaks.push(at - breaks.length);
  }
  const startOf = (index: number) => index + countBelow(breaks, index);
  return { text: toLf(original), startOf, endOf: (index) => startOf(index + 1) };
}

/** Views a text so that what looks alike is alike. */
export function foldedView(original: string): TextView {
  const units: string[] = [];
  const starts: number[] = [];
  const ends: number[] = [];
  const add = (unit: string, start: number, end: number) => {
    units.push(unit);
    starts.push(start);
    ends.push(end);
  };
  for (const { 0: piece, 1: plain, 2: blanks, index: start } of original.matchAll(PIECES)) {
    const end = start + piece.length;
    if (plain !== undefined) {
      for (let at = 0; at < plain.length; at++) add(plain[at]!, start + at, start + at + 1);
    } else if (blanks === undefined) {
      for (const unit of foldPiece(piece).split("")) add(unit, start, end);
    } else if (end < original.length && !isBreak(original[end]!)) {
      for (let at = start; at < end; at++) add(blanks[at - start] === "\t" ? "\t" : " ", at, at + 1);
    }
  }
  return { text: units.join(""), startOf: (index) => starts[index]!, endOf: (index) => ends[index]! };
}

export function toLf(text: string): string {
  return text.includes("\r\n") ? text.replaceAll("\r\n", "\n") : text;
}

// A run of plain characters, one of blanks, a line break, or a character with the marks that belong to it.
const PIECES = /([!-~]+(?!\p{M}))|([ \t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]+)|\r\n|[^]\p{M}*/gu;

function foldPiece(piece: string): string {
  if (piece === "\n" || piece === "\r\n" || piece === "\r") return "\n";
  return piece
    .normalize("NFC")
    .replace(/[\u2018-\u201b\u2032]/g, "'")
    .replace(/[\u201c-\u201f\u2033]/g, '"')
    .replace(/[\u2010-\u2015\u2212]/g, "-");
}

function isBreak(character: string): boolean {
  return character === "\n" || character === "\r";
}

/** How many of the sorted numbers are below a limit. */
function countBelow(sorted: readonly number[], limit: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
