import { afterAll, beforeAll, expect, test } from "vitest";
import { createHouseAdapter } from "../src/house-adapter.ts";
import {
  ATTACKS,
  type Attack,
  type Cell,
  existsFor,
  isFailure,
  listFailures,
  runAttacks,
  runControls,
  type Way,
} from "../src/index.ts";

const isSoak = process.env.SOAK === "1";
const LIMIT_MS = isSoak ? 3_600_000 : 600_000;
const adapter = createHouseAdapter();
let cells: Cell[] = [];
let harmless: { attack: Attack; why: string }[] = [];

// What happens after an answer needs three starts each time: once for every kind of way.
const AFTER_AN_ANSWER: ReadonlySet<string> = new Set(["print", "interactive", "sdk-mode", "reload"]);

/**
 * Attacks that share a project go by every way; one that needs its own goes by one of them, another than the next does:
 * every other one by those that start no process.
 */
function wants(attack: Attack, way: Way): boolean {
  if (isSoak) return true;
  if (attack.alone === undefined) return attack.trust === undefined || AFTER_AN_ANSWER.has(way.id);
  const ways = adapter.ways.filter((each) => existsFor(attack, each));
  const embedded = ways.filter(({ id }) => id === "sdk" || id === "sdk-mode");
  const at = ATTACKS.indexOf(attack);
  const chosen = at % 2 === 0 && embedded.length > 0 ? embedded : ways;
  return way === chosen[Math.floor(at / 2) % chosen.length];
}

beforeAll(async () => {
  const proved = ATTACKS.filter(({ alone }) => isSoak || alone === undefined);
  harmless = await runControls(adapter, { attacks: proved });
  cells = await runAttacks(adapter, { attacks: ATTACKS, wants, isAlone: () => isSoak, width: 4 });
}, LIMIT_MS);
afterAll(() => adapter.close?.());

test.for(ATTACKS.map((attack) => [attack.id, attack] as const))(
  "attack %s comes to nothing by any way in",
  ([id, { title }]) => {
    const failures = cells.filter((cell) => cell.attack.id === id && isFailure(cell));
    expect(listFailures(failures), title).toEqual([]);
  },
);

test("every attack that could leave a mark leaves one where nothing is against it", () => {
  expect(harmless.map(({ attack, why }) => `${attack.id}: ${why}`)).toEqual([]);
});
