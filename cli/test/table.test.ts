import { expect, test } from "vitest";
import { formatTable } from "../src/table.ts";

test("columns are as wide as their widest cell", () => {
  expect(
    formatTable([
      ["a", "bb"],
      ["ccc", "d"],
    ]),
  ).toBe("a    bb\nccc  d\n");
});

test("where a table does not fit, the widest column gives way: a text loses its end, a path its beginning", () => {
  const rows = [
    ["kept", "a long description of something"],
    ["kept", "/a/long/path/to/a/file.ts"],
  ];
  expect(formatTable(rows, 20)).toBe("kept  a long descri…\nkept  …/to/a/file.ts\n");
});

test("a table is not cut beyond what can be read", () => {
  expect(formatTable([["123456789012"]], 2)).toBe("12345…\n");
});

test("a table without rows is empty", () => {
  expect(formatTable([], 10)).toBe("");
});
