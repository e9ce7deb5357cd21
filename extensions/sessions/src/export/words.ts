/** Numbers of a session, in words. */
import type { Statistics } from "./statistics.ts";

/** Words what was sent and what came back. */
export function wordTokens({ tokens }: Statistics): string {
  const { input, output, cacheRead, cacheWrite, total } = tokens;
  const n = (value: number) => value.toLocaleString("en-US");
  return `${n(total)} tokens (${n(input)} in, ${n(output)} out, ${n(cacheRead)} read from cache, ${n(cacheWrite)} written to it)`;
}

/** Words US dollars; of a little money also the fractions of a cent. */
export function wordCost(cost: number): string {
  return `$${cost.toFixed(cost < 0.1 ? 4 : 2)}`;
}
