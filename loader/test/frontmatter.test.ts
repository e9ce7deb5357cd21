import { expect, test } from "vitest";
import { loadYaml, readFrontmatter } from "../src/frontmatter.ts";

const parseYaml = await loadYaml();
const read = (text: string) => readFrontmatter(text, parseYaml);

test.each([
  ["---\nname: x\n---\nbody", { name: "x" }],
  ["\uFEFF---\r\nname: x\r\ntext: |\r\n  a\r\n  b\r\n---\r\nbody", { name: "x", text: "a\nb\n" }],
  ["---\nname: x\n---", { name: "x" }],
  ["---\nname: !!js/function 'x'\n---\n", { name: "x" }],
  ["---\nname: 012 # comment\nlist: [a, b]\n---\n", { name: 12, list: ["a", "b"] }],
])("front matter is read: %j", (text, expected) => {
  expect(read(text)).toEqual(expected);
});

test.each([
  ["no front matter", "name: x"],
  ["an empty one", "---\n---\n"],
  ["one without an end", "---\nname: x\n"],
  ["a list", "---\n- a\n---\n"],
  ["broken YAML", "---\na: [\n---\n"],
  [
    "a bomb of aliases",
    `---\na: &a [x, x, x, x, x]\n${["b", "c", "d", "e", "f", "g"].map((key, index) => `${key}: &${key} [${`*${"abcdef"[index]}, `.repeat(9)}x]`).join("\n")}\n---\n`,
  ],
])("%s is none", (_what, text) => {
  expect(read(text)).toBeUndefined();
});
