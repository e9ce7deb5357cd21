/**
 * What a settings file declares: `packages`, which Pi reads too, and `piAgent.packages`, for what only this program can
 * load. An entry is a source, or an object with the source and filters.
 */
import type { Json, JsonObject } from "@pi-agent/kernel";
import { Refusal } from "../file-view.ts";
import { isJsonObject } from "../json-check.ts";
import { messageOf, readOwnFile } from "../own-file.ts";
import { toPatterns } from "../pattern.ts";
import { editSettings, type SettingEdit } from "../settings-file.ts";
import { RESOURCE_LISTS, type ResourceList } from "./contents.ts";
import type { PackageContext, PackageScope } from "./context.ts";
import type { Filters } from "./filters.ts";
import { wordSettings } from "./package-error.ts";
import { formatSource, type PackageSource, parseSource } from "./source.ts";

export type DeclaredKey = "packages" | "piAgent.packages";

export interface Declared {
  key: DeclaredKey;
  /** The entry as it stands in the file. */
  entry: string | JsonObject;
  source: PackageSource;
  /** The source's own spelling, to be compared with that of the lock. */
  text: string;
  filters: Filters;
  /** What its extensions are given. */
  options?: Json;
}

/** An entry that cannot be used, with the reason. */
export interface DeclaredFault {
  key: DeclaredKey;
  text: string;
  error: Error;
}

const KEYS: readonly DeclaredKey[] = ["packages", "piAgent.packages"];

/** Reads what a scope's settings file declares. Fails with `package_settings` when the file cannot be read. */
export function readDeclared(
  context: Pick<PackageContext, "home">,
  scope: PackageScope,
): { declared: Declared[]; faults: DeclaredFault[] } {
  const { values, problem } = readOwnFile(scope.settings);
  if (problem) throw wordSettings(problem);
  return toDeclared(values, { folder: scope.folder, home: context.home });
}

/** Takes the declarations out of settings; of two spellings of one package the first counts. */
export function toDeclared(
  values: JsonObject,
  base: { folder: string; home: string },
): { declared: Declared[]; faults: DeclaredFault[] } {
  const declared = new Map<string, Declared>();
  const faults: DeclaredFault[] = [];
  for (const key of KEYS) {
    for (const entry of entriesAt(values, key)) {
      const text =
        typeof entry === "string"
          ? entry
          : isJsonObject(entry) && typeof entry.source === "string"
            ? entry.source
            : undefined;
      if (text === undefined || (typeof entry !== "string" && !isJsonObject(entry))) continue;
      try {
        const source = parseSource(text, base);
        const each = {
          key,
          entry,
          source,
          text: formatSource(source, base.folder),
          filters: filtersOf(entry),
          options: typeof entry === "string" ? undefined : entry.options,
        };
        if (!declared.has(source.identity)) declared.set(source.identity, each);
      } catch (thrown) {
        faults.push({ key, text, error: thrown instanceof Error ? thrown : new Error(messageOf(thrown)) });
      }
    }
  }
  return { declared: [...declared.values()], faults };
}

/**
 * Declares a source, in place of every spelling of the same package; filters of an entry stay. Fails with
 * `settings_broken` and `settings_unwritable`.
 */
export async function declare(
  context: Pick<PackageContext, "home">,
  scope: PackageScope,
  { source, key }: { source: PackageSource; key: DeclaredKey },
): Promise<void> {
  const text = formatSource(source, scope.folder);
  const { declared } = readDeclared(context, scope);
  const known = declared.find((each) => each.source.identity === source.identity);
  if (known?.key === key && known.text === text && textOf(known.entry) === text) return;
  const entry = known && typeof known.entry !== "string" ? { ...known.entry, source: text } : text;
  await replaceEntries(context, scope, source.identity, { key, entry });
}

/** Takes every spelling of a package out of the settings. */
export async function undeclare(
  context: Pick<PackageContext, "home">,
  scope: PackageScope,
  identity: string,
): Promise<void> {
  await replaceEntries(context, scope, identity);
}

/** Writes the filters of a declared package; empty ones make the entry a plain source again. */
export async function writeFilters(
  context: Pick<PackageContext, "home">,
  scope: PackageScope,
  { source, key, entry, text }: Declared,
  filters: Filters,
): Promise<void> {
  const lists = Object.entries(filters).filter(([, value]) => value !== undefined);
  const others =
    typeof entry === "string" ? {} : Object.fromEntries(Object.entries(entry).filter(([name]) => !isFilter(name)));
  const isPlain = lists.length === 0 && Object.keys(others).every((name) => name === "source");
  const written = isPlain ? text : { ...others, source: text, ...Object.fromEntries(lists) };
  await replaceEntries(context, scope, source.identity, { key, entry: written });
}

async function replaceEntries(
  { home }: Pick<PackageContext, "home">,
  scope: PackageScope,
  identity: string,
  put?: { key: DeclaredKey; entry: Json },
): Promise<void> {
  const isSame = (entry: Json) => identityOf(entry, { folder: scope.folder, home }) === identity;
  await editSettings(scope.settings, (values) =>
    KEYS.flatMap((key) =>
      editList(key, entriesAt(values, key), { isSame, entry: put?.key === key ? put.entry : undefined }),
    ),
  );
}

/** Puts an entry in the place of the first that is the same, or at the end, and takes the others out. */
function editList(
  key: DeclaredKey,
  before: readonly Json[],
  { isSame, entry }: { isSame: (entry: Json) => boolean; entry: Json | undefined },
): SettingEdit[] {
  const keys = key.split(".");
  const same = before.flatMap((each, at) => (isSame(each) ? [at] : []));
  const [first] = same;
  const rest = entry === undefined ? same : same.slice(1);
  const removals = rest.toReversed().map((at) => ({ keys: [...keys, at], value: undefined }));
  if (entry === undefined) return removals;
  if (first === undefined && before.length === 0) return [{ keys, value: [entry] }];
  if (first === undefined) return [{ keys: [...keys, before.length], value: entry, isNew: true }];
  if (JSON.stringify(before[first]) === JSON.stringify(entry)) return removals;
  return [...removals, { keys: [...keys, first], value: entry }];
}

function identityOf(entry: Json, base: { folder: string; home: string }): string | undefined {
  const text = textOf(entry);
  try {
    return text === undefined ? undefined : parseSource(text, base).identity;
  } catch {
    // An entry that means nothing stays as it is.
    return undefined;
  }
}

function textOf(entry: Json): string | undefined {
  if (typeof entry === "string") return entry;
  return isJsonObject(entry) && typeof entry.source === "string" ? entry.source : undefined;
}

function entriesAt(values: JsonObject, key: DeclaredKey): Json[] {
  const holder = key === "packages" ? values : values.piAgent;
  const list = isJsonObject(holder) ? holder.packages : undefined;
  return Array.isArray(list) ? list : [];
}

/** Fails with an `Error` for what is no filter: one that is misspelt would leave all on. */
function filtersOf(entry: string | JsonObject): Filters {
  if (typeof entry === "string") return {};
  const lists = RESOURCE_LISTS.flatMap((list): [ResourceList, string[]][] => {
    const value = entry[list];
    if (value === undefined) return [];
    if (!Array.isArray(value) || !value.every((each) => typeof each === "string"))
      throw new Error(`"${list}" must be a list of patterns`);
    assertPatterns(list, value);
    return [[list, value]];
  });
  const { autoload } = entry;
  if (autoload !== undefined && typeof autoload !== "boolean") throw new Error('"autoload" must be true or false');
  const slip = Object.keys(entry).find((key) => !KNOWN.has(key) && LIKE_A_FILTER.test(key));
  if (slip !== undefined)
    throw new Error(`"${slip}" is no filter: there are ${RESOURCE_LISTS.join(", ")} and autoload`);
  return { ...Object.fromEntries(lists), ...(autoload === false ? { autoload } : {}) };
}

const KNOWN: ReadonlySet<string> = new Set(["source", "options", "autoload", ...RESOURCE_LISTS]);
const LIKE_A_FILTER = /^(?:extension|skill|prompt|theme|auto_?load|enabled?|disabled?)s?$/i;

function assertPatterns(list: string, patterns: readonly string[]): void {
  try {
    toPatterns(
      patterns.map((each) => each.replace(/^[!+-]/, "")),
      `its ${list}`,
    );
  } catch (thrown) {
    throw thrown instanceof Refusal ? new Error(`it ${thrown.message}`) : thrown;
  }
}

function isFilter(name: string): boolean {
  return name === "autoload" || RESOURCE_LISTS.some((list) => list === name);
}
