const GAP = "  ";
// What a cell can be read in.
const LEAST_WIDTH = 6;

/**
 * Sets rows in columns as wide as their widest cell; ends with a line feed. Where they do not fit in `width` the widest
 * give way: a text loses its end, a path its beginning.
 */
export function formatTable(rows: readonly (readonly string[])[], width = Number.POSITIVE_INFINITY): string {
  const widths = fitColumns(rows, width);
  const lines = rows.map((row) =>
    row.map((cell, column) => cutCell(cell, widths[column] ?? 0).padEnd(widths[column] ?? 0)).join(GAP),
  );
  return lines.map((line) => `${line.trimEnd()}\n`).join("");
}

function fitColumns(rows: readonly (readonly string[])[], width: number): number[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  }
  let excess = widths.reduce((sum, each) => sum + each + GAP.length, -GAP.length) - width;
  for (; excess > 0; excess--) {
    const widest = Math.max(...widths);
    if (widest <= LEAST_WIDTH) break;
    widths[widths.lastIndexOf(widest)] = widest - 1;
  }
  return widths;
}

function cutCell(cell: string, width: number): string {
  if (cell.length <= width) return cell;
  const isPath = cell.includes("/") && !cell.includes(" ");
  return isPath ? `…${cell.slice(cell.length - width + 1)}` : `${cell.slice(0, width - 1)}…`;
}
