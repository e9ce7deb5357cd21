/** Ten extensions on every hook of a turn, in this process, with a model that answers at once. */
import { withBuiltKernel } from "./built-kernel.ts";
import { leastTurnUs, play } from "./in-process.ts";
import { interleave } from "./processes.ts";
import type { Ratio } from "./run.ts";

const TURNS = 10_000;
const SYNCHRONOUS_TURNS_PER_SECOND = 15_000;
const ASYNCHRONOUS_TURN_US = 150;

export async function run(): Promise<Ratio[]> {
  return withBuiltKernel(async (kernel) => {
    const order = { side: "ours", place: kernel, turns: TURNS, listeners: 0 } as const;
    const { synchronous, asynchronous } = await interleave({
      synchronous: () => play({ ...order, hooks: "synchronous" }),
      asynchronous: () => play({ ...order, hooks: "asynchronous" }),
    });
    return [
      {
        what: `synchronous-turns-per-second-${SYNCHRONOUS_TURNS_PER_SECOND}/ours`,
        ratio: (leastTurnUs(synchronous) * SYNCHRONOUS_TURNS_PER_SECOND) / 1e6,
        limit: 1,
      },
      {
        what: `asynchronous-us-per-turn-ours/${ASYNCHRONOUS_TURN_US}`,
        ratio: leastTurnUs(asynchronous) / ASYNCHRONOUS_TURN_US,
        limit: 1,
      },
    ];
  });
}
