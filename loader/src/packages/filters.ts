/** Which resources of a package are on, by the filters of its entry in the settings. */
import { basename, dirname } from "node:path";
import { Refusal } from "../file-view.ts";
import { matchesPattern, toPatterns } from "../pattern.ts";
import { type ContentItem, type PackageContents, RESOURCE_LISTS, type ResourceList } from "./contents.ts";

/**
 * Per list: absent leaves all on, `[]` none. Plain patterns choose, `!pattern` takes away, then `+path` and `-path` turn
 * single ones on and off. `autoload: false` starts with none, and every pattern turns on or off, in its order.
 */
export type Filters = Partial<Record<ResourceList, readonly string[]>> & { autoload?: boolean };

export type Selection = Record<ResourceList, (ContentItem & { isOn: boolean })[]>;

/** Says of each resource whether it is on. `base`: what is on before, where the filters are a change to that. */
export function select(contents: PackageContents, filters: Filters, base?: Selection): Selection {
  const selected = {} as Selection;
  for (const list of RESOURCE_LISTS) {
    const patterns = filters[list];
    const wasOn = (path: string) => base?.[list].find((each) => each.path === path)?.isOn ?? filters.autoload !== false;
    selected[list] = contents[list].map((item) => ({
      ...item,
      isOn:
        patterns === undefined
          ? wasOn(item.path)
          : isOn(item.path, patterns, filters.autoload === false ? wasOn : undefined),
    }));
  }
  return selected;
}

/** Tells whether a package has resources and all of them are off. */
export function isDisabled(selection: Selection): boolean {
  const all = RESOURCE_LISTS.flatMap((list) => selection[list]);
  return all.length > 0 && all.every((each) => !each.isOn);
}

/** The filters with one resource turned on or off and all others as they were; what then says nothing is left out. */
export function turn(
  contents: PackageContents,
  filters: Filters,
  { list, path, on }: { list: ResourceList; path: string; on: boolean },
): Filters {
  const before = select(contents, filters)[list];
  const wanted = before.map((each) => (each.path === path ? on : each.isOn));
  const patterns = filters[list] ?? [];
  const kept = patterns.filter((pattern) => pattern.startsWith("!") || toBare(pattern) !== path);
  const exact = `${on ? "+" : "-"}${path}`;
  // A list with nothing but `+` leaves the rest on, so the first one after an empty list is a plain choice.
  // An empty list would also turn off what a later version brings.
  const shorter = kept.length > 0 ? [kept] : [];
  const all = before.flatMap((each, at) => (wanted[at] ? [each.path] : []));
  const candidates = [undefined, ...shorter, [...kept, exact], [...kept, path], [...patterns, exact], patterns, all];
  const found = candidates.find((candidate) => {
    const after = select(contents, { ...filters, [list]: candidate })[list];
    return after.every((each, at) => each.isOn === wanted[at]);
  });
  return { ...filters, [list]: found };
}

function isOn(path: string, patterns: readonly string[], inOrder?: (path: string) => boolean): boolean {
  if (inOrder) {
    return patterns.reduce((on, pattern) => (matches(path, pattern) ? !/^[!-]/.test(pattern) : on), inOrder(path));
  }
  const [plain, not, plus, minus] = [/^[^!+-]/, /^!/, /^\+/, /^-/].map((sign) =>
    patterns.filter((each) => sign.test(each)),
  );
  // With nothing but exact changes, all is on but for them.
  const hasChosen = plain!.length > 0 || patterns.length === 0;
  let on = !hasChosen || plain!.some((pattern) => matches(path, pattern));
  if (not!.some((pattern) => matches(path, pattern))) on = false;
  if (plus!.some((pattern) => matches(path, pattern))) on = true;
  if (minus!.some((pattern) => matches(path, pattern))) on = false;
  return on;
}

function matches(path: string, pattern: string): boolean {
  const bare = toBare(pattern);
  const names = [path, basename(path)];
  if (basename(path) === "SKILL.md") names.push(dirname(path), basename(dirname(path)));
  if (/^[+-]/.test(pattern)) return names.slice(0, 1).concat(names.slice(2, 3)).includes(bare);
  return patternsOf(bare).some((each) => names.some((name) => matchesPattern(name, each)));
}

function toBare(pattern: string): string {
  return pattern.replace(/^[!+-]/, "").replace(/^\.\//, "");
}

function patternsOf(bare: string): ReturnType<typeof toPatterns> {
  try {
    return toPatterns([bare], "the settings");
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown;
    // Found when the entry was read, where it is told: here it matches nothing.
    return [];
  }
}
