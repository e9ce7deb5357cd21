import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { isIgnored, isLeftOut, type Rules, rulesAbove, rulesOf } from "./ignore-rules.ts";
import { systemReason, throwIfAborted } from "./result.ts";

export interface WalkRequest {
  root: string;
  signal: AbortSignal | undefined;
  /** Called for a directory's entries, in the order of names, then for what is below them; `false` ends the walk. */
  onEntry: (entry: WalkEntry) => boolean;
}

interface WalkEntry {
  /** Relative to the root, with `/` between its parts. */
  path: string;
  name: string;
  isDirectory: boolean;
}

export interface WalkReport {
  /** Ignore rules left something out. */
  hasIgnored: boolean;
  /** Ignore rules leave out the root itself; it was walked all the same. */
  isFromIgnored: boolean;
  /** Directories that could not be read, each with the reason. */
  unreadable: string[];
}

/** Between two looks at what else there is to do, such as an abort. */
const SLICE_MS = 20;

interface Place {
  path: string;
  /** Relative to the root, with `/` at its end; empty for the root. */
  prefix: string;
  rules: readonly Rules[];
}

/** Walks a directory tree without `.git`, without what ignore rules leave out, and without following links. */
export async function walk(request: WalkRequest): Promise<WalkReport> {
  const { root, signal } = request;
  const isFromIgnored = isLeftOut(root);
  const report: WalkReport = { hasIgnored: false, isFromIgnored, unreadable: [] };
  const places: Place[] = [{ path: root, prefix: "", rules: isFromIgnored ? [] : rulesAbove(root) }];
  const breathe = createBreath(signal);
  while (places.length > 0) {
    const below = await enter(places.pop()!, { request, report, breathe });
    if (!below) break;
    places.push(...below.reverse());
  }
  return report;
}

/** Makes a pause that takes place only when it is time for one. Fails with `aborted`. */
function createBreath(signal: AbortSignal | undefined): () => Promise<void> | undefined {
  let until = performance.now() + SLICE_MS;
  throwIfAborted(signal);
  return () => {
    if (performance.now() < until) return undefined;
    return nextTurn().then(() => {
      throwIfAborted(signal);
      until = performance.now() + SLICE_MS;
    });
  };
}

interface Walking {
  request: WalkRequest;
  report: WalkReport;
  breathe: () => Promise<void> | undefined;
}

/** Tells a directory's entries; answers the directories in it, or `undefined` when the walk is to end. */
async function enter(place: Place, { request, report, breathe }: Walking): Promise<Place[] | undefined> {
  const entries = entriesOf(place, report);
  const names = new Set(entries.map(({ name }) => name));
  const own = rulesOf(place.path, (name) => names.has(name));
  const rules = own ? [...place.rules, own] : place.rules;
  const below: Place[] = [];
  for (const entry of entries) {
    const pause = breathe();
    if (pause) await pause;
    if (entry.name === ".git") continue;
    const path = join(place.path, entry.name);
    const isDirectory = entry.isDirectory();
    if (isIgnored(path, isDirectory, rules)) {
      report.hasIgnored = true;
      continue;
    }
    const shown = place.prefix + entry.name;
    if (!request.onEntry({ path: shown, name: entry.name, isDirectory })) return undefined;
    if (isDirectory) below.push({ path, prefix: `${shown}/`, rules });
  }
  return below;
}

function entriesOf({ path, prefix }: Place, report: WalkReport): Dirent[] {
  try {
    const entries = readdirSync(path, { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (cause) {
    const reason = systemReason(cause);
    if (reason === undefined || prefix === "") throw cause;
    report.unreadable.push(`${prefix} (${reason})`);
    return [];
  }
}
