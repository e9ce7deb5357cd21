/** What a package's package.json says to those who import, as Node reads it. Data, of a stranger maybe. */
import { isJsonObject } from "./json-check.ts";

// Deeper than this no package nests its conditions.
const MAX_DEPTH = 32;

/** Reads a package.json; one that is no JSON object says nothing. */
export function parseManifest(bytes: Buffer): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(bytes.toString("utf8").replace(/^\uFEFF/, ""));
    return isJsonObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

/** Finds what a package exports as `subpath` (`.` or `./…`), below its folder; `undefined` where it exports nothing such. */
export function findExport(exports: unknown, subpath: string, conditions: ReadonlySet<string>): string | undefined {
  const isMap = isJsonObject(exports) && Object.keys(exports).some((key) => key.startsWith("."));
  const found = look(isMap ? exports : { ".": exports }, subpath, conditions);
  return found !== undefined && isOwnTarget(found) ? found : undefined;
}

/** Finds what a package's own code means by `name` (`#…`): a path below its folder, or another package. */
export function findImport(imports: unknown, name: string, conditions: ReadonlySet<string>): string | undefined {
  const found = isJsonObject(imports) ? look(imports, name, conditions) : undefined;
  if (found === undefined || isOwnTarget(found) || found.startsWith("node:")) return found;
  return /^(?:[./#]|[a-z][a-z\d+.-]*:)/i.test(found) ? undefined : found;
}

function look(map: Record<string, unknown>, key: string, conditions: ReadonlySet<string>): string | undefined {
  if (Object.hasOwn(map, key) && !key.includes("*")) return choose(map[key], conditions) ?? undefined;
  let best: { before: string; name: string; star: string } | undefined;
  for (const name of Object.keys(map)) {
    const [before = "", after, more] = name.split("*");
    if (after === undefined || more !== undefined) continue;
    if (!key.startsWith(before) || !key.endsWith(after) || key.length < name.length) continue;
    const isBetter =
      !best ||
      before.length > best.before.length ||
      (before.length === best.before.length && name.length > best.name.length);
    if (isBetter) best = { before, name, star: key.slice(before.length, key.length - after.length) };
  }
  if (!best) return undefined;
  const { star } = best;
  return choose(map[best.name], conditions)?.replaceAll("*", () => star);
}

/** Answers `null` where the package closes the door, `undefined` where no condition fits. */
function choose(target: unknown, conditions: ReadonlySet<string>, depth = 0): string | null | undefined {
  if (typeof target === "string" || target === null) return target;
  if (depth > MAX_DEPTH) return undefined;
  if (Array.isArray(target)) {
    const chosen = target.map((each) => choose(each, conditions, depth + 1));
    return chosen.find((each) => typeof each === "string");
  }
  if (!isJsonObject(target)) return undefined;
  for (const [condition, each] of Object.entries(target)) {
    if (condition !== "default" && !conditions.has(condition)) continue;
    const chosen = choose(each, conditions, depth + 1);
    if (chosen !== undefined) return chosen;
  }
  return undefined;
}

function isOwnTarget(target: string): boolean {
  if (!target.startsWith("./") || /[\0\\]|%2f|%5c/i.test(target)) return false;
  const names = target.slice(2).split("/");
  return !names.some((name) => /^(?:\.|%2e){1,2}$|^node_modules$/i.test(name));
}
