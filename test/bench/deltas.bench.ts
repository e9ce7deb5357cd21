/** One answer of 200,000 text deltas in this process, next to `@earendil-works/pi-agent-core`. */
import { withBuiltKernel } from "./built-kernel.ts";
import { play } from "./in-process.ts";
import { interleave, medianRatio } from "./processes.ts";
import { fetchRival } from "./rivals.ts";
import type { Ratio } from "./run.ts";

const DELTAS = 200_000;

export async function run(): Promise<Ratio[]> {
  const rival = await fetchRival("@earendil-works/pi-agent-core");
  if (rival === undefined) return [];
  return withBuiltKernel(async (kernel) => {
    const compare = async (listeners: number) => {
      const { ours, theirs } = await interleave({
        ours: () => play({ side: "ours", place: kernel, deltas: DELTAS, listeners }),
        theirs: () => play({ side: "theirs", place: rival, deltas: DELTAS, listeners }),
      });
      return medianRatio(ours, theirs, "deltaUs");
    };
    return [
      { what: "us-per-delta-ours/pi-agent-core-one-listener", ratio: await compare(1), limit: 0.5 },
      { what: "us-per-delta-ours/pi-agent-core-five-listeners", ratio: await compare(5), limit: 0.5 },
    ];
  });
}
