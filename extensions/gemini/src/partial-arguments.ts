import type { PartialArg } from "@google/genai";
import type { Json, JsonObject } from "@pi-agent/kernel";

/**
 * Sets one piece of streamed arguments at its path: `$.a.b[0]`, or `$['a']`. Text that continues is appended to what is
 * there. Passes over a path that it cannot follow.
 */
export function setPiece(target: JsonObject, piece: PartialArg): void {
  const steps = splitPath(piece.jsonPath ?? "");
  const last = steps.pop();
  if (last === undefined) return;
  let at = target as Record<string | number, Json>;
  steps.forEach((step, index) => {
    const next = steps[index + 1] ?? last;
    if (typeof at[step] !== "object" || at[step] === null) at[step] = typeof next === "number" ? [] : {};
    at = at[step] as Record<string | number, Json>;
  });
  if (piece.stringValue !== undefined) at[last] = (typeof at[last] === "string" ? at[last] : "") + piece.stringValue;
  else if (piece.numberValue !== undefined) at[last] = piece.numberValue;
  else if (piece.boolValue !== undefined) at[last] = piece.boolValue;
  else if ("nullValue" in piece) at[last] = null;
}

function splitPath(path: string): (string | number)[] {
  const steps: (string | number)[] = [];
  for (const [, name, index, quoted] of path.matchAll(/\.([^.[\]]+)|\[(\d+)\]|\[(?:'([^']*)'|"[^"]*")\]/g))
    steps.push(index === undefined ? (name ?? quoted ?? "") : Number(index));
  return steps;
}
