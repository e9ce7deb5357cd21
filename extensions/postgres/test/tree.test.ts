import type { Entry } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { mendTree } from "../src/tree.ts";

function entries(...places: [string, string | null][]): Entry[] {
  return places.map(([id, parentId]) => ({
    type: "custom",
    id,
    parentId,
    timestamp: "2026-01-02T03:04:05.678Z",
    customType: "t",
  }));
}
function mended(...places: [string, string | null][]) {
  const { entries: result, problems } = mendTree(entries(...places));
  return { places: result.map(({ id, parentId }) => `${id}<${parentId}`), problems: problems.map(({ kind }) => kind) };
}

test("a sound tree stays as it is, object for object", () => {
  const sound = entries(["a", null], ["b", "a"], ["c", null], ["d", "b"]);
  expect(mendTree(sound)).toEqual({ entries: sound, problems: [] });
});

test("S2 a child that came before its parent stands behind it", () => {
  expect(mended(["a", null], ["c", "b"], ["b", "a"])).toEqual({
    places: ["a<null", "b<a", "c<b"],
    problems: ["order"],
  });
});

test("S2 an entry without its parent follows the one before it", () => {
  expect(mended(["a", null], ["b", "gone"], ["c", "b"])).toEqual({
    places: ["a<null", "b<a", "c<b"],
    problems: ["no_parent"],
  });
  expect(mended(["b", "gone"])).toEqual({ places: ["b<null"], problems: ["no_parent"] });
});

test("S2 a circle is cut, and every entry is there once", () => {
  const { places, problems } = mended(["a", "c"], ["b", "a"], ["c", "b"], ["d", "d"]);
  expect(places).toHaveLength(4);
  expect(new Set(places.map((place) => place[0])).size).toBe(4);
  expect(problems.filter((kind) => kind === "cycle")).toHaveLength(2);
  const seen = new Set(["null"]);
  for (const place of places) {
    const [id = "", parent = ""] = place.split("<");
    expect(seen).toContain(parent);
    seen.add(id);
  }
});
