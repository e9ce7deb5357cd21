import { expect, test } from "vitest";
import { ATTACKS, MISTAKES } from "../src/index.ts";

const numberOf = (id: string) => id.split("-")[0];
// Every published kind of attack that this kit knows by its number; 19 and 48 are in it to say why they have no cell.
const KINDS = [
  1, 2, 3, 4, 6, 7, 8, 10, 11, 13, 14, 15, 17, 18, 19, 21, 22, 24, 25, 26, 28, 29, 30, 32, 34, 35, 36, 37, 39, 40,
];
const MORE = [42, 43, 45, 47, 48];

test("every numbered attack is there, and more than thirty of our own", () => {
  const numbers = new Set(ATTACKS.map(({ id }) => Number(numberOf(id))).filter((number) => !Number.isNaN(number)));
  expect([...numbers].toSorted((a, b) => a - b)).toEqual([...KINDS, ...MORE]);
  expect(ATTACKS.filter(({ id }) => id.startsWith("own-")).length).toBeGreaterThan(30);
});

test("an id is there once, and can be a part of a file's name", () => {
  const ids = ATTACKS.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.filter((id) => !/^[a-z\d]+(-[a-z\d]+)*$/.test(id))).toEqual([]);
});

test("each of the six mistakes has attacks", () => {
  const made = new Set(ATTACKS.map(({ mistake }) => mistake));
  expect([...made].toSorted()).toEqual(Object.keys(MISTAKES).toSorted());
});
