/** Loads an agent for the current folder and reloads it so many times: `node --expose-gc reloads.ts 1000`. */
import { setImmediate as breathe } from "node:timers/promises";
import { load } from "@pi-agent/loader";

interface Change {
  first: number;
  last: number;
}
export interface ReloadFigures {
  /** The mean over the first and the last hundred reloads. */
  heap: Change;
  /** After the first and after the last reload. */
  resources: Change;
  listeners: Change;
  /** How often a factory ran. */
  loaded: number;
}

const HUNDRED = 100;
// Often enough for a mean; a collection costs more than a reload.
const EVERY = 10;

const reloads = Number(process.argv[2]);
// What the extensions count in.
const bench = { loaded: 0, told: 0 };
Object.assign(globalThis, { bench });

const loaded = await load({ cwd: process.cwd() });
const heaps: number[] = [];
const counts: { resources: number; listeners: number }[] = [];
for (let index = 1; index <= reloads; index++) {
  await loaded.host.reload();
  if (index === 1 || index === reloads) counts.push(await countLiving());
  if (index % EVERY === 0) heaps.push(await measureHeap());
}
await loaded.dispose();
const samples = HUNDRED / EVERY;
const figures: ReloadFigures = {
  heap: { first: mean(heaps.slice(0, samples)), last: mean(heaps.slice(-samples)) },
  resources: { first: counts[0]!.resources, last: counts[1]!.resources },
  listeners: { first: counts[0]!.listeners, last: counts[1]!.listeners },
  loaded: bench.loaded,
};
console.log(JSON.stringify(figures));

/** Counts what keeps the process open, and who listens: to the process, and in the extensions to one event. */
async function countLiving() {
  bench.told = 0;
  await loaded.agent.dispatch("session_info_changed", {});
  const onProcess = process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0);
  await breathe();
  return { resources: process.getActiveResourcesInfo().length, listeners: bench.told + onProcess };
}

async function measureHeap(): Promise<number> {
  await breathe();
  globalThis.gc!();
  return process.memoryUsage().heapUsed;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
