import { afterAll, beforeAll, expect, test } from "vitest";
import { ATTACKS, type Cell, drawTable, isFailure, runAttacks } from "../attack-kit/src/index.ts";
import { fetchRival } from "../bench/rivals.ts";
import { createPiAdapter } from "./pi-adapter.ts";

const modules = await fetchRival("@earendil-works/pi-coding-agent");
const adapter = modules === undefined ? undefined : createPiAdapter(modules);
// What lets Pi hang or fail would be looked for among all others, over and over.
const MAY_END_IT = /^(47|24|22|10|25|own-71|own-75)/;
let cells: Cell[] = [];

beforeAll(async () => {
  if (adapter) cells = await runAttacks(adapter, { attacks: ATTACKS, isAlone: ({ id }) => MAY_END_IT.test(id) });
});

afterAll(() => {
  if (adapter) console.log(drawTable(adapter, ATTACKS, cells));
});

test("the attacks can be tried on Pi: its adapter works by every way in", (context) => {
  if (!adapter) return context.skip("needs the npm registry");
  expect(cells.filter(({ verdict }) => verdict === "failed")).toEqual([]);
  // What is held back in every way is known, and so is what is not: the adapter sees the difference.
  const working = adapter.ways.filter(({ id }) => cells.some((cell) => cell.way === id && !isFailure(cell)));
  expect(working.map(({ id }) => id)).toEqual(adapter.ways.map(({ id }) => id));
});
