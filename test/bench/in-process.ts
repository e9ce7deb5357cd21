import { join } from "node:path";
import type { PlayFigures, PlayOrder } from "./drivers/play.ts";
import { runNode } from "./processes.ts";

const PLAY = join(import.meta.dirname, "drivers", "play.ts");

/** Plays one side once in a process of its own, so that no side's heap weighs on the other. */
export async function play(order: PlayOrder): Promise<PlayFigures> {
  const { stdout } = await runNode({ args: ["--expose-gc", PLAY, JSON.stringify(order)] });
  return JSON.parse(stdout) as PlayFigures;
}

/** The time of a turn with the least beside it: for a figure without a rival, since other work on a machine only adds. */
export function leastTurnUs(rounds: readonly PlayFigures[]): number {
  return Math.min(...rounds.map(({ turnUs }) => turnUs));
}
