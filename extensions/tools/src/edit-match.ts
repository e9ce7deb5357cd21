/**
 * Finds and applies the replacements of one edit, all of them against the original text, all or none.
 *
 *   oldText ─► exactly once?   ─► its span
 *              not at all      ─► once in the folded view? ─► its span, said to be approximate
 *              several times   ─► failure with count and lines
 */
import { nearestText } from "./nearest-text.ts";
import { ToolFailure } from "./result.ts";
import { foldedView, plainView, type TextView, toLf } from "./text-view.ts";

export interface Replacement {
  oldText: string;
  newText: string;
}

/** A stretch of the original, in UTF-16 units, and what takes its place there. */
export interface Span {
  start: number;
  end: number;
  text: string;
}

export interface Edited {
  text: string;
  /** In the order of the text. */
  spans: Span[];
  /** Which edits matched only after folding, and the line they matched at. */
  approximate: { edit: number; line: number }[];
}

interface Found {
  edit: number;
  start: number;
  end: number;
  isApproximate: boolean;
}

const MAX_LINES_NAMED = 10;
/** More than this are not counted. */
const MAX_PLACES = 200;
/** UTF-16 units; in a longer text only exact matches are looked for, because folding takes many times its size. */
const MAX_FOLDED_LENGTH = 8 * 1_024 * 1_024;

/**
 * Fails with `no_edits`, `empty_old_text`, `no_change`, `not_found`, `ambiguous`, `overlap`; then nothing is to be
 * written.
 */
export function applyEdits(original: string, edits: readonly Replacement[]): Edited {
  if (edits.length === 0) throw new ToolFailure("no_edits", "edits must contain at least one replacement.");
  const plain = plainView(original);
  let folded: TextView | undefined;
  const found = edits.map((edit, index) => {
    const name = nameOf(index, edits.length);
    assertSensible(edit, name, original);
    const exact = findOnce(plain, toLf(edit.oldText), name);
    if (exact) return { edit: index, ...exact, isApproximate: false };
    if (original.length <= MAX_FOLDED_LENGTH) folded ??= foldedView(original);
    const near = folded && findFolded(folded, edit.oldText, name);
    if (near) return { edit: index, ...near, isApproximate: true };
    throw notFound(original, edit.oldText, name);
  });
  found.sort((a, b) => a.start - b.start);
  assertApart(found);

  const spans = found.map(({ edit, start, end }) => {
    return { start, end, text: adaptEndings(edits[edit]!.newText, original, start, end) };
  });
  const text = splice(original, spans);
  if (text === original) throw noChange("The edits leave the file as it is.");
  const approximate = found
    .filter(({ isApproximate }) => isApproximate)
    .map(({ edit, start }) => ({ edit, line: lineAt(original, start) }));
  return { text, spans, approximate };
}

/** Counts lines at LF; the first is 1. */
function lineAt(text: string, index: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < index; at = text.indexOf("\n", at + 1)) line++;
  return line;
}

function nameOf(index: number, count: number): string {
  return count === 1 ? "oldText" : `edits[${index}].oldText`;
}

function assertSensible({ oldText, newText }: Replacement, name: string, original: string): void {
  if (oldText === "") {
    const hint = original === "" ? "The file is empty: fill it with write." : "Give the text that is to be replaced.";
    throw new ToolFailure("empty_old_text", `${name} is empty.`, hint);
  }
  if (oldText === newText) throw noChange(`${name} and its newText are the same.`);
}

function findOnce(view: TextView, wanted: string, name: string): { start: number; end: number } | undefined {
  const places = findAll(view.text, wanted);
  if (places.length === 0) return undefined;
  if (places.length > 1) throw ambiguous(view.text, places, name);
  return spanOf(view, places[0]!, wanted.length);
}

function findFolded(view: TextView, oldText: string, name: string): { start: number; end: number } | undefined {
  const wanted = foldedView(oldText).text;
  return wanted.trim() === "" ? undefined : findOnce(view, wanted, name);
}

function spanOf(view: TextView, at: number, length: number): { start: number; end: number } {
  return { start: view.startOf(at), end: view.endOf(at + length - 1) };
}

/** Finds the places, overlapping ones too; of very many the first ones, one more than are counted. */
function findAll(text: string, wanted: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + 1)) {
    if (places.push(at) > MAX_PLACES) break;
  }
  return places;
}

function ambiguous(text: string, places: readonly number[], name: string): ToolFailure {
  const lines = linesOf(text, places);
  const named = lines.slice(0, MAX_LINES_NAMED).join(", ");
  const isCut = places.length > MAX_PLACES;
  const more = lines.length > MAX_LINES_NAMED || isCut ? ", …" : "";
  const count = isCut ? `more than ${MAX_PLACES}` : places.length;
  const where = `${lines.length === 1 ? "line" : "lines"} ${named}${more}`;
  const message = `Found ${count} occurrences of ${name} (${where}); it must match exactly one place.`;
  return new ToolFailure("ambiguous", message, "Nothing was written. Give more of the text around the place you mean.");
}

/** The lines of places that are in the order of the text, each once. */
function linesOf(text: string, places: readonly number[]): number[] {
  const lines = new Set<number>();
  let line = 1;
  let next = text.indexOf("\n");
  for (const place of places) {
    for (; next !== -1 && next < place; next = text.indexOf("\n", next + 1)) line++;
    lines.add(line);
  }
  return [...lines];
}

function notFound(original: string, oldText: string, name: string): ToolFailure {
  const hint = `Nothing was written. ${nearestText(original, oldText)}`;
  return new ToolFailure(
    "not_found",
    `Could not find ${name} in the file; it must match exactly, white space included.`,
    hint,
  );
}

function noChange(message: string): ToolFailure {
  return new ToolFailure("no_change", `No change: ${message}`, "Nothing was written.");
}

function assertApart(found: readonly Found[]): void {
  for (const [index, next] of found.entries()) {
    const earlier = found[index - 1];
    if (!earlier || earlier.end <= next.start) continue;
    const [first, second] = [earlier.edit, next.edit].sort((a, b) => a - b);
    const message = `edits[${first}] and edits[${second}] overlap in the file.`;
    throw new ToolFailure("overlap", message, "Nothing was written. Merge them into one edit.");
  }
}

/** Gives inserted line breaks the ending of what they replace, else of the line they are put into. */
function adaptEndings(newText: string, original: string, start: number, end: number): string {
  const replaced = original.slice(start, end);
  const text = adaptLoneCr(toLf(newText), replaced, original[end]);
  if (!text.includes("\n")) return text;
  const ending = /\r?\n/.exec(replaced)?.[0] ?? endingAround(original, start);
  return ending === "\n" ? text : text.replaceAll("\n", ending);
}

/** A lone CR stays where one was before, as in the log of a progress bar; any other is meant as a line break. */
function adaptLoneCr(text: string, replaced: string, next: string | undefined): string {
  if (!text.includes("\r")) return text;
  if (!/\r(?!\n)/.test(replaced)) return text.replaceAll("\r", "\n");
  // Before a line break it would become part of that.
  return next === "\r" || next === "\n" ? text.replace(/\r+$/, "") : text;
}

function endingAround(original: string, start: number): string {
  const after = original.indexOf("\n", start);
  const at = after === -1 ? original.lastIndexOf("\n") : after;
  if (at > 0 && original[at - 1] === "\r") return "\r\n";
  return at === -1 && original.includes("\r") ? "\r" : "\n";
}

function splice(original: string, spans: readonly Span[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end, text } of spans) {
    parts.push(original.slice(at, start), text);
    at = end;
  }
  parts.push(original.slice(at));
  return parts.join("");
}
