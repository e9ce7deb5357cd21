import type { Adapter, Way } from "./adapter.ts";
import type { Attack } from "./attack.ts";
import { SHARED_FAILURES } from "./judge.ts";
import { type Cell, findHarmless, startWith } from "./start.ts";

export interface RunOptions {
  attacks: readonly Attack[];
  /** Which cells. Default: all that exist. */
  wants?: (attack: Attack, way: Way) => boolean;
  /** Which attacks get a world of their own, beside those that need it. */
  isAlone?: (attack: Attack) => boolean;
  /** How many starts at a time. Default 2. */
  width?: number;
}

/** Runs every attack over every way in, in as few starts as can be. */
export async function runAttacks(adapter: Adapter, options: RunOptions): Promise<Cell[]> {
  const { attacks, wants = () => true, isAlone = () => false, width = 2 } = options;
  const tasks = adapter.ways.flatMap((way) => {
    const there = attacks.filter((attack) => existsFor(attack, way) && wants(attack, way));
    return group(there, isAlone).map((together) => () => startOrSplit(adapter, way, together));
  });
  return (await inParallel(tasks, width)).flat();
}

/** Finds the attacks that leave no mark even where nothing stands against them. */
export async function runControls(
  adapter: Adapter,
  { attacks, width = 2 }: Pick<RunOptions, "attacks" | "width">,
): Promise<{ attack: Attack; why: string }[]> {
  const provable = attacks.filter(({ control }) => control === "trusted" || !("none" in control));
  const tasks = group(provable, () => false).map((together) => () => findHarmless(adapter, together));
  return (await inParallel(tasks, width)).flat();
}

/** Tells whether an attack can be tried by a way. */
export function existsFor({ ways }: Attack, way: Way): boolean {
  return (ways?.only?.includes(way.id) ?? true) && !ways?.not?.includes(way.id);
}

/** A failure of several is looked for in halves, until it has an owner. */
async function startOrSplit(adapter: Adapter, way: Way, attacks: readonly Attack[]): Promise<Cell[]> {
  const cells = await startWith(adapter, way, attacks);
  if (attacks.length === 1 || !cells.some(({ verdict }) => SHARED_FAILURES.has(verdict))) return cells;
  const middle = Math.ceil(attacks.length / 2);
  const halves = [attacks.slice(0, middle), attacks.slice(middle)];
  return (await Promise.all(halves.map((half) => startOrSplit(adapter, way, half)))).flat();
}

/** Those that get along share a project: the answer has to be the same. */
function group(attacks: readonly Attack[], isAlone: (attack: Attack) => boolean): Attack[][] {
  const groups = new Map<string, Attack[]>();
  for (const attack of attacks) {
    const key =
      isAlone(attack) || attack.alone !== undefined ? `alone ${attack.id}` : (attack.trust ?? "nobody was asked");
    groups.set(key, [...(groups.get(key) ?? []), attack]);
  }
  return [...groups.values()];
}

async function inParallel<T>(tasks: readonly (() => Promise<T>)[], width: number): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const work = async () => {
    for (let at = next++; at < tasks.length; at = next++) results[at] = await tasks[at]!();
  };
  await Promise.all(Array.from({ length: width }, work));
  return results;
}
