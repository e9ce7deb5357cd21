const CONTEXT_LINES = 3;

/** Makes a unified diff of two texts with one hunk around all that differs; empty when nothing does. */
export function diffTexts(path: string, before: string, after: string): string {
  if (before === after) return "";
  const [old, fresh] = [before.split("\n"), after.split("\n")];
  const head = countSame(old, fresh);
  const tail = countSame(old.slice(head).reverse(), fresh.slice(head).reverse());
  const from = Math.max(0, head - CONTEXT_LINES);
  const lead = old.slice(from, head);
  const removed = old.slice(head, old.length - tail);
  const added = fresh.slice(head, fresh.length - tail);
  const trail = old.slice(old.length - tail).slice(0, CONTEXT_LINES);
  const same = lead.length + trail.length;
  return [
    `--- a/${path}`,
    `+++ b/${path}`,
    `@@ -${from + 1},${same + removed.length} +${from + 1},${same + added.length} @@`,
    ...lead.map((line) => ` ${line}`),
    ...removed.map((line) => `-${line}`),
    ...added.map((line) => `+${line}`),
    ...trail.map((line) => ` ${line}`),
  ].join("\n");
}

function countSame(a: readonly string[], b: readonly string[]): number {
  const end = a.findIndex((line, index) => line !== b[index]);
  return end < 0 ? Math.min(a.length, b.length) : end;
}
