import { expect, test } from "vitest";
import { parseStrictJson } from "../src/strict-json.ts";

const parse = (text: string) => parseStrictJson(Buffer.from(text));

test("plain JSON is read", () => {
  expect(parse(`{ "a": [{ "b": "\\"x\\": {" }, { "b": 2 }], "c": { "a": null } }`)).toEqual({
    a: [{ b: '"x": {' }, { b: 2 }],
    c: { a: null },
  });
});

test.each([
  ["", "nothing"],
  ["{", "a cut text"],
  [`{ "a": 1, "a": 2 }`, "a repeated key"],
  [`{ "a": 1, "\\u0061": 2 }`, "a repeated key that is spelled differently"],
  [`[{ "x": { "a": 1, "b": {}, "a": 2 } }]`, "a repeated key further down"],
  [`{ "__proto__": {} }`, "__proto__"],
  [`{ "\\u005f_proto__": {} }`, "__proto__ in disguise"],
  [`{ "a": 1 } // x`, "a comment"],
  [`{ "a": 1, }`, "a trailing comma"],
])("T6: %j is refused: %s", (text) => {
  expect(() => parse(text)).toThrow();
});

test("T6: bytes that are no UTF-8 are refused", () => {
  expect(() => parseStrictJson(Buffer.from([0x22, 0xff, 0x22]))).toThrow();
});
