import { describe, expect, test } from "vitest";
import { cleanCopy, cleanText, fromKey, toKey, toTime } from "../src/clean.ts";

describe("what a database cannot hold", () => {
  test("F149 NUL characters and halves of surrogate pairs are marked, at any depth and in keys", () => {
    const copy = cleanCopy({ "k\0": ["a\0b", { deep: "\uD800" }], plain: "\\u0000", number: 1e2, none: null });
    expect(copy).toEqual({ "k\uFFFD": ["a\uFFFDb", { deep: "\uFFFD" }], plain: "\\u0000", number: 100, none: null });
  });

  test("what is clean stays as it is", () => {
    expect(cleanText("grün 😀\n\t")).toBe("grün 😀\n\t");
  });

  test("a copy for queries is bounded, however long and deep the original", () => {
    const deep = JSON.parse("[".repeat(5_000) + "]".repeat(5_000));
    expect(JSON.stringify(cleanCopy(deep)).length).toBeLessThan(200);
    const long = cleanCopy({ one: "x".repeat(50_000_000), many: Array(100).fill("y".repeat(100_000)) });
    expect(JSON.stringify(long).length).toBeLessThan(4_200_000);
  });

  test("a key named __proto__ is a key like any other", () => {
    expect(JSON.stringify(cleanCopy(JSON.parse('{"__proto__":{"a":1}}')))).toBe('{"__proto__":{"a":1}}');
  });

  test("F160 ids that text refuses have keys of their own, and come back", () => {
    const ids = ["plain", "a\0b", "a\\u0000b", "a\\b", "\uD800", "\\ud800", "q'\"", "x".repeat(300), "a\uFFFDb"];
    const keys = ids.map(toKey);
    expect(new Set(keys).size).toBe(ids.length);
    expect(keys.map(fromKey)).toEqual(ids);
    for (const key of keys) expect(cleanText(key)).toBe(key);
  });

  test("a time that is none, or out of range, is left out", () => {
    expect(toTime("2026-01-02T03:04:05.678Z")).toBe("2026-01-02T03:04:05.678Z");
    for (const text of ["", "yesterday", "+275760-09-13T00:00:00.000Z", "-000001-01-01T00:00:00.000Z", undefined, {}]) {
      expect(toTime(text)).toBeNull();
    }
  });
});
