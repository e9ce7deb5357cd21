import { columnsOf, cutText, toLineText } from "./words.ts";

export interface Column {
  title: string;
  /** Figures stand at the right. */
  isFigure?: boolean;
  /** Gives way to the others, down to this width; the others keep theirs. */
  least?: number;
}

const GAP = "  ";
const LEAST_COLUMNS = 6;
/** Of an output that is no terminal, or of one that does not tell its size. */
const USUAL_WIDTH = 80;

/** How wide an output is. */
export function widthOf(stream: NodeJS.WritableStream): number {
  return (stream as Partial<NodeJS.WriteStream>).columns || USUAL_WIDTH;
}

/** Sets rows below their titles; every line fits in `width`, as far as the columns can give way. */
export function formatTable(columns: readonly Column[], rows: readonly (readonly string[])[], width: number): string {
  const lines = [columns.map(({ title }) => title), ...rows].map((cells) => cells.map(toLineText));
  const widths = columns.map((_, at) => Math.max(...lines.map((cells) => columnsOf(cells[at] ?? ""))));
  shrink(columns, widths, width);
  return lines
    .map(
      (cells) =>
        `${cells
          .map((cell, at) => fit(cell, widths[at] ?? 0, columns[at]))
          .join(GAP)
          .trimEnd()}\n`,
    )
    .join("");
}

function shrink(columns: readonly Column[], widths: number[], width: number): void {
  const total = () => widths.reduce((sum, each) => sum + each + GAP.length, -GAP.length);
  const giveWay = columns.flatMap(({ least }, at) => (least === undefined ? [] : [{ at, least }]));
  // Then the others, where the terminal is narrower than what they hold.
  const all = columns.map((_, at) => ({ at, least: LEAST_COLUMNS }));
  for (const candidates of [giveWay, all]) {
    for (let excess = total() - width; excess > 0; excess--) {
      const widest = candidates
        .filter(({ at, least }) => (widths[at] ?? 0) > least)
        .sort((a, b) => (widths[b.at] ?? 0) - (widths[a.at] ?? 0))[0];
      if (!widest) break;
      widths[widest.at] = (widths[widest.at] ?? 0) - 1;
    }
  }
}

function fit(cell: string, width: number, column: Column | undefined): string {
  const cut = cutText(cell, width);
  const blanks = " ".repeat(Math.max(0, width - columnsOf(cut)));
  return column?.isFigure ? blanks + cut : cut + blanks;
}
