/** Numbers of a session, in words. */
import type { Statistics } from "./statistics.ts";

/** Words what there is of it, on all branches. */
export function wordHoldings(counts: Statistics): string {
  const { userMessages, assistantMessages, toolResults, toolCalls, entries } = counts;
  const said = `${userMessages} prompts, ${assistantMessages} answers, ${toolResults} results of ${toolCalls} calls`;
  return `${said}; ${entries} entries on all branches`;
}

/** Words what was sent, what came back, and what that cost. */
export function wordExpense(counts: Statistics): string {
  return `${wordTokens(counts)}; ${wordCost(counts.cost)}`;
}

function wordTokens({ tokens }: Statistics): string {
  const { input, output, cacheRead, cacheWrite, total } = tokens;
  const n = (value: number) => value.toLocaleString("en-US");
  return `${n(total)} tokens (${n(input)} in, ${n(output)} out, ${n(cacheRead)} read from cache, ${n(cacheWrite)} written to it)`;
}

/** Words US dollars; of a little money also the fractions of a cent. */
function wordCost(cost: number): string {
  return `$${cost.toFixed(cost < 0.1 ? 4 : 2)}`;
}
