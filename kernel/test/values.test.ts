import { expect, test } from "vitest";
import { copyPlain, seal, toJson } from "../src/values.ts";

test("K7 K9 F133: a cycle is copied once round, however it branches", () => {
  const parent: { name: string; children: unknown[] } = { name: "p", children: [] };
  for (let i = 0; i < 3; i++) parent.children.push({ name: `c${i}`, parent });
  const children = [0, 1, 2].map((i) => ({ name: `c${i}`, parent: "(cyclic)" }));
  expect(toJson(parent)).toEqual({ name: "p", children });
});

test("K7: what is shared, and no cycle, is copied wherever it is", () => {
  const part = { x: 1 };
  expect(toJson({ a: part, b: [part, part] })).toEqual({ a: { x: 1 }, b: [{ x: 1 }, { x: 1 }] });
});

test("K7 F133: a copy ends after 100,000 parts, also where little is shared often or a list is nothing but long", () => {
  let value: unknown = "end";
  for (let i = 0; i < 150; i++) value = { left: value, right: value };
  for (const large of [
    value,
    Object.assign([], { length: 4_000_000_000 }),
    new Set(Array.from({ length: 200_000 }, (_, i) => i)),
  ]) {
    const text = JSON.stringify(toJson(large));
    expect(text.length).toBeLessThan(5_000_000);
    expect(text).toContain("(too large)");
  }
});

test("K7: a copy may be given as much room as it needs", () => {
  const long = Array.from({ length: 150_000 }, () => 1);
  expect(toJson({ long }, Number.POSITIVE_INFINITY)).toEqual({ long });
});

test.each<[what: string, value: unknown, becomes: unknown]>([
  ["a buffer", Buffer.alloc(20_000_000), "(20000000 bytes)"],
  ["a view", new DataView(new ArrayBuffer(8), 4), "(4 bytes)"],
  ["an array buffer", new ArrayBuffer(8), "(8 bytes)"],
  ["a shared buffer", new SharedArrayBuffer(8), "(8 bytes)"],
  ["a date", new Date(0), "1970-01-01T00:00:00.000Z"],
  ["a date that is none", new Date(Number.NaN), null],
  ["an error", Object.assign(new TypeError("broken"), { secret: 1 }), { name: "TypeError", message: "broken" }],
  ["a set", new Set([1, "a"]), [1, "a"]],
  ["a map", new Map<unknown, unknown>([["k", { v: 1 }]]), [["k", { v: 1 }]]],
  [
    "an instance of a class",
    new (class {
      x = 1;
      #y = 2;
      get y() {
        return this.#y;
      }
    })(),
    { x: 1 },
  ],
  ["a list with holes", Object.assign([], { 1: "x" }), [null, "x"]],
  [
    "what cannot be looked at",
    new Proxy(
      {},
      {
        getPrototypeOf() {
          throw new Error("no");
        },
      },
    ),
    "(cannot be read)",
  ],
])("K7 F133: in a copy, %s becomes something readable and small", (_what, value, becomes) => {
  expect(toJson({ value })).toEqual({ value: becomes });
});

test("K7: a key called __proto__ is copied like any other", () => {
  const given: unknown = JSON.parse('{"__proto__":{"x":1}}');
  const copy = toJson(given);
  expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
  expect(JSON.stringify(copy)).toBe('{"__proto__":{"x":1}}');
});

test("K7: a copy reads what is computed once, shares nothing with its original, and leaves what is not plain to be refused", () => {
  let reads = 0;
  const given = {
    list: [{ x: 1 }],
    get text() {
      return `read ${++reads}`;
    },
    big: 1n,
  };
  const copy = copyPlain(given) as typeof given;
  expect(copy).toEqual({ list: [{ x: 1 }], text: "read 1", big: 1n });
  expect(seal(copy)).toMatch(/bigint/);
  expect(Object.isFrozen(given.list[0])).toBe(false);
  expect(copy.text).toBe("read 1");
});

test("K7: a thing is refused that would be written as more than ten million parts, and sharing alone is no harm", () => {
  const tower = (height: number) => {
    let value: object = {};
    for (let i = 0; i < height; i++) value = { left: value, right: value };
    return value;
  };
  expect(seal(tower(10))).toBeUndefined();
  expect(seal(tower(150))).toMatch(/parts/);
});
