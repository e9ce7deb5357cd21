/**
 * What keeps the process alive or listens to it, counted before and after a reload: what is more afterwards was left by
 * an old instance, or is the new one's. The counts have no owner: the extensions that were unloaded are candidates.
 */

/** How many there are of each thing, by its name in a sentence. */
export type Holdings = ReadonlyMap<string, number>;

// What comes and goes with single operations.
const PASSING = /^(?:Immediate|TickObject|.*Req(?:Callback|Promise|Wrap)?|(?:Write|Shutdown)Wrap)$/;
// What was closed may take a moment until it is gone.
const LOOKS = 5;
const LOOK_MS = 20;

/** Counts timers, handles and the process's listeners. */
export function countHoldings(): Holdings {
  const counts = new Map<string, number>();
  const add = (name: string, number: number) => counts.set(name, (counts.get(name) ?? 0) + number);
  for (const type of process.getActiveResourcesInfo()) if (!PASSING.test(type)) add(toName(type), 1);
  for (const event of process.eventNames()) {
    add(`listener for ${JSON.stringify(String(event))} of the process`, process.listenerCount(event));
  }
  return counts;
}

/** Lists what there is more of than before, once what was closed has had time to go. */
export async function findLeft(before: Holdings): Promise<{ name: string; number: number }[]> {
  let left = compare(before, countHoldings());
  for (let look = 1; left.length > 0 && look < LOOKS; look++) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    left = compare(before, countHoldings());
  }
  return left;
}

function compare(before: Holdings, after: Holdings): { name: string; number: number }[] {
  const grown = [...after].map(([name, number]) => ({ name, number: number - (before.get(name) ?? 0) }));
  return grown.filter(({ number }) => number > 0);
}

function toName(type: string): string {
  return type === "Timeout" ? "timer" : `handle of type ${type}`;
}
