/**
 * The diff of an edit, out of its replaced stretches; the rest of the file is not compared.
 *
 *   spans ─► regions of whole lines ─► changes: the lines that differ ─► hunks: changes with context ─► text
 */
import type { Span } from "./edit-match.ts";
import { cutText } from "./truncate.ts";

const CONTEXT_LINES = 4;
/** Characters of a line in the display; a minified file has lines of megabytes. */
const MAX_DISPLAY_LINE = 1_000;
/** A longer patch is left out of the details, which every session keeps. */
const MAX_PATCH_LENGTH = 256 * 1_024;
/** Beyond so many differing lines a region is shown as replaced whole. */
const MAX_DIFFERENCES = 1_000;

export type EditDiff = {
  /** For people: sign, line number, text; `...` where lines are left out. */
  diff: string;
  /** Unified. Left out when it is very long. */
  patch?: string;
  /** In the new text. */
  firstChangedLine: number;
};

/** Lines that gave way to others. Indexes are 0-based; every line keeps its line break. */
interface Change {
  oldStart: number;
  newStart: number;
  removed: readonly string[];
  added: readonly string[];
}

interface Region {
  start: number;
  end: number;
  spans: Span[];
}

interface Line {
  sign: "-" | "+" | " ";
  number: number;
  text: string;
}

interface Hunk {
  oldStart: number;
  newStart: number;
  lines: Line[];
}

/** Makes the diff of an edit from the original and its spans, which are in the order of the text. */
export async function diffOf(path: string, original: string, spans: readonly Span[]): Promise<EditDiff> {
  const oldLines = linesOf(original);
  const changes = await changesOf(original, spans);
  const hunks = hunksOf(changes, oldLines);
  const patch = formatPatch(path, hunks);
  return {
    diff: formatDisplay(hunks),
    ...(patch.length <= MAX_PATCH_LENGTH ? { patch } : {}),
    firstChangedLine: (changes[0]?.newStart ?? 0) + 1,
  };
}

async function changesOf(original: string, spans: readonly Span[]): Promise<Change[]> {
  const changes: Change[] = [];
  let offset = 0;
  let line = 0;
  let shift = 0;
  for (const region of regionsOf(original, spans)) {
    line += countBreaks(original, offset, region.start);
    offset = region.start;
    const removed = linesOf(original.slice(region.start, region.end));
    const added = linesOf(rewritten(original, region));
    changes.push(...(await refine({ oldStart: line, newStart: line + shift, removed, added })));
    shift += added.length - removed.length;
  }
  return changes;
}

/** Widens spans to whole lines, and joins those that share one. */
function regionsOf(original: string, spans: readonly Span[]): Region[] {
  const regions: Region[] = [];
  for (const span of spans) {
    const start = span.start === 0 ? 0 : original.lastIndexOf("\n", span.start - 1) + 1;
    const end = lineEnd(original, span, start);
    const last = regions.at(-1);
    if (last && start < last.end) {
      last.end = Math.max(last.end, end);
      last.spans.push(span);
    } else regions.push({ start, end, spans: [span] });
  }
  return regions;
}

function lineEnd(original: string, span: Span, lineStart: number): number {
  const before = original.slice(lineStart, span.start) + span.text;
  const isWholeLines = span.end > lineStart && original[span.end - 1] === "\n";
  // Lines that are gone, or still end: nothing flows together with the line that follows.
  if (isWholeLines && (before === "" || before.endsWith("\n"))) return span.end;
  const newline = original.indexOf("\n", span.end);
  return newline === -1 ? original.length : newline + 1;
}

function rewritten(original: string, { start, end, spans }: Region): string {
  let at = start;
  let text = "";
  for (const span of spans) {
    text += original.slice(at, span.start) + span.text;
    at = span.end;
  }
  return text + original.slice(at, end);
}

/** Leaves out of a change what is the same on both sides. */
async function refine(change: Change): Promise<Change[]> {
  const { removed, added } = change;
  const most = Math.min(removed.length, added.length);
  let head = 0;
  while (head < most && removed[head] === added[head]) head++;
  let tail = 0;
  while (tail < most - head && removed.at(-1 - tail) === added.at(-1 - tail)) tail++;
  const trimmed: Change = {
    oldStart: change.oldStart + head,
    newStart: change.newStart + head,
    removed: removed.slice(head, removed.length - tail),
    added: added.slice(head, added.length - tail),
  };
  if (trimmed.removed.length === 0 && trimmed.added.length === 0) return [];
  return trimmed.removed.length > 1 && trimmed.added.length > 1 ? split(trimmed) : [trimmed];
}

/** Splits a change at the lines within it that are the same on both sides. */
async function split(change: Change): Promise<Change[]> {
  const { diffArrays } = await import("diff/lib/diff/array.js");
  const parts = diffArrays([...change.removed], [...change.added], { maxEditLength: MAX_DIFFERENCES });
  if (!parts) return [change];
  const changes: Change[] = [];
  let { oldStart, newStart } = change;
  let open: Change | undefined;
  for (const { value, added, removed } of parts) {
    if (!added && !removed) open = undefined;
    else {
      if (!open) changes.push((open = { oldStart, newStart, removed: [], added: [] }));
      if (added) open.added = value;
      else open.removed = value;
    }
    if (!added) oldStart += value.length;
    if (!removed) newStart += value.length;
  }
  return changes;
}

function hunksOf(changes: readonly Change[], oldLines: readonly string[]): Hunk[] {
  const hunks: Hunk[] = [];
  // The old line up to which the current hunk goes, and what to add to an old index for the new one.
  let at = 0;
  let shift = 0;
  const context = (hunk: Hunk, end: number) => {
    for (; at < Math.min(end, oldLines.length); at++) {
      hunk.lines.push({ sign: " ", number: at + shift, text: oldLines[at]! });
    }
  };
  for (const [index, { oldStart, newStart, removed, added }] of changes.entries()) {
    let hunk = hunks.at(-1);
    if (!hunk || oldStart - at > CONTEXT_LINES) {
      at = Math.max(at, oldStart - CONTEXT_LINES);
      hunk = { oldStart: at, newStart: at + newStart - oldStart, lines: [] };
      hunks.push(hunk);
    }
    shift = newStart - oldStart;
    context(hunk, oldStart);
    hunk.lines.push(...removed.map((text, line): Line => ({ sign: "-", number: oldStart + line, text })));
    hunk.lines.push(...added.map((text, line): Line => ({ sign: "+", number: newStart + line, text })));
    at = oldStart + removed.length;
    shift += added.length - removed.length;
    context(hunk, Math.min(at + CONTEXT_LINES, changes[index + 1]?.oldStart ?? Infinity));
  }
  return hunks;
}

function formatDisplay(hunks: readonly Hunk[]): string {
  const last = hunks.at(-1)?.lines.reduce((most, { number }) => Math.max(most, number), 0) ?? 0;
  const width = String(last + 1).length;
  return hunks
    .map(({ lines }) =>
      lines
        .map(({ sign, number, text }) => {
          return `${sign}${String(number + 1).padStart(width)} ${cutText(text.replace(/\r?\n$/, ""), MAX_DISPLAY_LINE)}`;
        })
        .join("\n"),
    )
    .join(`\n ${" ".repeat(width)} ...\n`);
}

function formatPatch(path: string, hunks: readonly Hunk[]): string {
  const parts = [`--- ${path}\n+++ ${path}\n`];
  for (const { oldStart, newStart, lines } of hunks) {
    const range = (start: number, without: "-" | "+") => {
      const count = lines.filter(({ sign }) => sign !== without).length;
      return `${count === 0 ? start : start + 1},${count}`;
    };
    parts.push(`@@ -${range(oldStart, "+")} +${range(newStart, "-")} @@\n`);
    for (const { sign, text } of lines) {
      parts.push(sign, text, text.endsWith("\n") ? "" : "\n\\ No newline at end of file\n");
    }
  }
  return parts.join("");
}

/** Splits after every LF, so that each line but perhaps the last ends with one. */
function linesOf(text: string): string[] {
  return text === "" ? [] : text.split(/(?<=\n)/);
}

function countBreaks(text: string, start: number, end: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", start); at !== -1 && at < end; at = text.indexOf("\n", at + 1)) count++;
  return count;
}
