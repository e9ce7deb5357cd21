import { describe, expect, test } from "vitest";
import { parseSession } from "../src/format.ts";
import { header, lines, linesOf, message } from "./support.ts";

/** Each entry as `id<parent`, and the kinds of problems. */
function read(...entries: object[]): { tree: string[]; problems: string[]; isOutdated: boolean } {
  const text = lines(header(), ...entries);
  const parsed = parseSession(text)!;
  expect(parseSession(text)).toEqual(parsed);
  return {
    tree: parsed.entries.map(({ id, parentId }) => `${id}<${parentId ?? ""}`),
    problems: parsed.problems.map(({ kind, entryId }) => `${kind} ${entryId ?? ""}`.trim()),
    isOutdated: parsed.isOutdated,
  };
}

describe("F109 duplicate ids, cycles, missing parents", () => {
  test("a cycle is cut where it begins in the file", () => {
    expect(read(message("a", "b"), message("b", "a"), message("c", "b"))).toEqual({
      tree: ["a<", "b<a", "c<b"],
      problems: ["cycle a"],
      isOutdated: false,
    });
  });

  test("a cycle among later entries leaves those before it connected", () => {
    const { tree, problems } = read(message("a", null), message("b", "d"), message("c", "b"), message("d", "c"));
    expect(tree).toEqual(["a<", "b<a", "c<b", "d<c"]);
    expect(problems).toEqual(["cycle b"]);
  });

  test("an entry that is its own parent follows the one before it", () => {
    const { tree, problems } = read(message("a", null), message("b", "b"), message("c", "b"));
    expect(tree).toEqual(["a<", "b<a", "c<b"]);
    expect(problems).toEqual(["no_parent b"]);
  });

  test("two entries with one id and different content both stay; children belong to the one before them", () => {
    const { tree, problems, isOutdated } = read(
      message("a", null),
      message("x", "a", "first"),
      message("b", "x"),
      message("x", "a", "second"),
      message("c", "x"),
    );
    expect(tree).toEqual(["a<", "x<a", "b<x", "00000005<a", "c<00000005"]);
    expect(problems).toEqual(["duplicate_id x"]);
    expect(isOutdated).toBe(true);
  });

  test("an exact copy of an entry is left out", () => {
    const { tree, isOutdated } = read(message("a", null), message("b", "a"), message("a", null), message("b", "a"));
    expect(tree).toEqual(["a<", "b<a"]);
    expect(isOutdated).toBe(false);
  });

  test("a parent later in the file comes first", () => {
    const { tree, problems } = read(message("a", null), message("c", "b"), message("b", "a"));
    expect(tree).toEqual(["a<", "b<a", "c<b"]);
    expect(problems).toEqual(["order"]);
  });

  test("an entry whose parent is unknown follows the one before it", () => {
    expect(read(message("a", null), message("b", "gone"), message("c", "b")).tree).toEqual(["a<", "b<a", "c<b"]);
    expect(read(message("a", "gone"), message("b", "a")).tree).toEqual(["a<", "b<a"]);
  });

  test("an orphan whose neighbour descends from it makes no cycle", () => {
    const { tree } = read(message("b", "a"), message("a", "gone"));
    expect(tree).toEqual(["b<", "a<b"]);
  });

  test("two roots are two roots", () => {
    expect(read(message("a", null), message("b", null), message("c", "a"))).toEqual({
      tree: ["a<", "b<", "c<a"],
      problems: [],
      isOutdated: false,
    });
  });

  test("an entry before the header is kept", () => {
    const parsed = parseSession(lines(message("a", null), header(), message("b", "a")))!;
    expect(parsed.entries.map(({ id }) => id)).toEqual(["a", "b"]);
    expect(parsed.problems).toEqual([{ kind: "late_header" }]);
  });

  const deep = 100_000;
  const name = (n: number) => n.toString(16).padStart(8, "0");
  const line = (n: number, parent: number | null, more = {}) =>
    linesOf([{ type: "odd", id: name(n), parentId: parent && name(parent), timestamp: "t", ...more }]);
  const chain = () => Array.from({ length: deep }, (_, n) => line(n + 1, n || null));
  const parse = (texts: string[]) => parseSession(linesOf([header()]) + texts.join(""))!;
  const inOrder = (entries: { id: string }[]) => entries.every(({ id }, n) => id === name(n + 1));
  test.each([
    ["from front to back", () => chain(), []],
    ["from back to front", () => chain().reverse(), ["order"]],
    ["as one cycle", () => [line(1, deep), ...chain().slice(1)], ["cycle"]],
  ])(
    "a chain of 100,000 entries loads %s",
    (_, make, kinds) => {
      const { entries, problems } = parse(make());
      expect(entries).toHaveLength(deep);
      expect(inOrder(entries)).toBe(true);
      expect(problems.map(({ kind }) => kind)).toEqual(kinds);
    },
    60_000,
  );

  test("100,000 ids that are taken are all given anew", () => {
    const other = Array.from({ length: deep }, (_, n) => line(n + 1, n || null, { other: true }));
    const { entries } = parse([...chain(), ...other]);
    expect(new Set(entries.map(({ id }) => id)).size).toBe(2 * deep);
  }, 60_000);
});
