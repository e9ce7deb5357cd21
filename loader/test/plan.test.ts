import { expect, test } from "vitest";
import { digestMembers, type Member } from "../src/plan.ts";

const file = (path: string, text: string, type: Member["type"] = "file"): Member => ({
  path: `/p/${path}`,
  type,
  content: Buffer.from(text),
});
const digest = (...members: Member[]) => digestMembers("/p", members);

test("the digest of a resource does not depend on the order of its files", () => {
  expect(digest(file("a", "1"), file("b", "2"))).toBe(digest(file("b", "2"), file("a", "1")));
});

test.each([
  ["a byte moves between neighbours", [file("a", "xy"), file("b", "z")], [file("a", "x"), file("b", "yz")]],
  ["a byte moves from the name into the content", [file("ab", "c")], [file("a", "bc")]],
  ["a file is renamed", [file("a", "1")], [file("b", "1")]],
  ["a file is split", [file("a", "12")], [file("a", "1"), file("b", "2")]],
  ["line ends change", [file("a", "1\n")], [file("a", "1\r\n")]],
  ["the executable bit is set", [file("a", "1")], [file("a", "1", "executable")]],
  ["a link takes the place of a file with its target's name", [file("a", "b")], [file("a", "b", "link")]],
  ["a link points elsewhere", [file("a", "b", "link")], [file("a", "c", "link")]],
])("the digest changes when %s", (_what, before, after) => {
  expect(digest(...before)).not.toBe(digest(...after));
});

test("the same tree has the same digest wherever it lies", () => {
  const there = { ...file("a", "1"), path: "/elsewhere/a" };
  expect(digestMembers("/elsewhere", [there])).toBe(digest(file("a", "1")));
});
