/**
 * Turns in this process with a model that answers at once and one trivial tool: next to `@earendil-works/pi-agent-core`
 * and to the bare loop, and whether a turn costs the same with a long history behind it.
 */
import { withBuiltKernel } from "./built-kernel.ts";
import type { PlayFigures } from "./drivers/play.ts";
import { leastTurnUs, play } from "./in-process.ts";
import { interleave, median, medianRatio } from "./processes.ts";
import { fetchRival } from "./rivals.ts";
import type { Ratio } from "./run.ts";

const TURNS = 10_000;
const LONG = 100_000;
const TURNS_PER_SECOND = 30_000;

export async function run(): Promise<Ratio[]> {
  const rival = await fetchRival("@earendil-works/pi-agent-core");
  return withBuiltKernel(async (kernel) => [...(await compare(kernel, rival)), ...(await testFlat(kernel))]);
}

async function compare(kernel: string, rival: string | undefined): Promise<Ratio[]> {
  const { ours, bare, theirs } = await interleave({
    ours: () => play({ side: "ours", place: kernel, turns: TURNS }),
    bare: () => play({ side: "bare", place: "", turns: TURNS }),
    theirs: rival === undefined ? undefined : () => play({ side: "theirs", place: rival, turns: TURNS }),
  });
  const ratios: Ratio[] = [
    {
      what: `turns-per-second-${TURNS_PER_SECOND}/ours`,
      ratio: (leastTurnUs(ours) * TURNS_PER_SECOND) / 1e6,
      limit: 1,
    },
    // What the bare loop does in a second next to what is asked of ours: 132,000 / 30,000.
    { what: "us-per-turn-ours/bare-loop", ratio: medianRatio(ours, bare, "turnUs"), limit: 4.4 },
  ];
  if (theirs.length === 0) return ratios;
  return [
    { what: "us-per-turn-ours/pi-agent-core", ratio: medianRatio(ours, theirs, "turnUs"), limit: 0.1 },
    ...ratios,
    { what: "heap-bytes-per-turn-ours/pi-agent-core", ratio: medianRatio(ours, theirs, "heapBytes"), limit: 1.3 },
  ];
}

async function testFlat(kernel: string): Promise<Ratio[]> {
  const order = { side: "ours", place: kernel, turns: LONG } as const;
  const { silent, heard } = await interleave({
    silent: () => play({ ...order, listeners: 0 }),
    heard: () => play({ ...order, listeners: 1 }),
  });
  const growth = (rounds: PlayFigures[]) => median(rounds.map((figures) => figures.growth));
  return [
    { what: "us-per-turn-last/first-thousand-of-100000", ratio: growth(silent), limit: 1.2 },
    { what: "us-per-turn-last/first-thousand-of-100000-every-event-heard", ratio: growth(heard), limit: 1.2 },
  ];
}
