/**
 * What every session store must do, for the tests of a package that brings one: plain `node:assert`, one loop.
 *
 *   for (const { name, run } of sessionStoreCases()) test(name, () => run(openMyStore));
 */
import { FINDING } from "./conformance/finding.ts";
import { KEEPING } from "./conformance/keeping.ts";
import { playOperations, randomOperations } from "./conformance/operations.ts";
import type { OpenedStore } from "./conformance/play.ts";
import { SHARING } from "./conformance/sharing.ts";

export { type Operation, playOperations, randomOperations } from "./conformance/operations.ts";
export { assertSameEntries, assertSameStores, copySession, keep, type OpenedStore } from "./conformance/play.ts";
export { said, sampleHeader } from "./conformance/samples.ts";

export interface StoreCase {
  name: string;
  /** `open` makes an empty store each time, and answers how to open the same place once more. Clean up after it. */
  run: (open: () => Promise<OpenedStore>) => Promise<void>;
}

const OPERATIONS = 1_000;
const SEED = 20_260_105;

/** Answers the cases. `operations`: how many random ones are played; 1,000 by default. */
export function sessionStoreCases({ operations = OPERATIONS, seed = SEED } = {}): readonly StoreCase[] {
  const cases = Object.entries({ ...KEEPING, ...FINDING, ...SHARING }).map(
    ([name, run]): StoreCase => ({ name, run: async (open) => run(await open()) }),
  );
  cases.push({
    name: `F160 ${operations} random tree operations come to what a naive model comes to`,
    run: async (open) => void (await playOperations(await open(), randomOperations(seed, operations))),
  });
  return cases;
}
