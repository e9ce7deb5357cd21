/**
 * Plays one side once, in a process of its own: `node --expose-gc play.ts '{"side": …}'`. Prints its figures as JSON.
 */
import { setImmediate as breathe } from "node:timers/promises";
import type { CreatePlayer, Play, Step } from "./driver.ts";

/** What to play: turns with a tool call before the answer, or one answer in deltas. */
export interface PlayOrder {
  side: "ours" | "theirs" | "bare";
  /** Where the side's code lies. */
  place: string;
  turns?: number;
  deltas?: number;
  /** Default 1. */
  listeners?: number;
  hooks?: Play["hooks"];
}

/** `growth` is the last thousand turns' time divided by the first's. Of a deltas play only `deltaUs` is there. */
export type PlayFigures = Record<"turnUs" | "heapBytes" | "growth" | "deltaUs", number>;

// Enough for the compiler of hot code to have settled.
const WARM_UP_TURNS = 3_000;
const WARM_UP_DELTAS = 10_000;
const THOUSAND = 1_000;
const DONE: Step = { deltas: ["done"] };

const order = JSON.parse(process.argv[2]!) as PlayOrder;
const { create } = (await import(`./${order.side}.ts`)) as { create: CreatePlayer };
console.log(
  JSON.stringify(order.deltas === undefined ? await playTurns(order.turns!) : await playDeltas(order.deltas)),
);

async function playTurns(turns: number) {
  await play((turn) => (turn < WARM_UP_TURNS ? { call: { n: turn } } : DONE));
  const marks: number[] = [];
  const { ms, heapBytes } = await play((turn) => {
    if (turn % THOUSAND === 0) marks.push(performance.now());
    return turn < turns ? { call: { n: turn } } : DONE;
  });
  const thousandMs = (index: number) => marks.at(index)! - marks.at(index - 1)!;
  return { turnUs: (1_000 * ms) / turns, heapBytes: heapBytes / turns, growth: thousandMs(-1) / thousandMs(1) };
}

async function playDeltas(count: number) {
  const deltas = Array.from({ length: count }, () => "lorem ipsum dolor ");
  await play(() => ({ deltas: deltas.slice(0, WARM_UP_DELTAS) }));
  const { ms } = await play(() => ({ deltas }));
  return { deltaUs: (1_000 * ms) / count };
}

async function play(step: Play["step"]): Promise<{ ms: number; heapBytes: number }> {
  const listeners = Array.from({ length: order.listeners ?? 1 }, () => () => {});
  const player = await create(order.place, { step, listeners, hooks: order.hooks });
  const before = await measureHeap();
  const startedAt = performance.now();
  await player.run();
  const ms = performance.now() - startedAt;
  const heapBytes = (await measureHeap()) - before;
  // Also keeps it alive until its heap is measured.
  if (player.messageCount() === 0) throw new Error("The run left no message.");
  return { ms, heapBytes };
}

async function measureHeap(): Promise<number> {
  await breathe();
  globalThis.gc!();
  globalThis.gc!();
  return process.memoryUsage().heapUsed;
}
