import fc from "fast-check";
import { expect, test } from "vitest";
import { parseJsonc, placeOfKeys, scanJsonc } from "../src/jsonc.ts";

test("reading with places gives what JSON.parse gives, for any JSON however it is laid out", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.integer({ min: 0, max: 4 }), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      expect(scanJsonc(text).value).toEqual(JSON.parse(text));
    }),
  );
});

test("whatever the text, it is a value or a fault with a place in it", () => {
  const pieces = fc.constantFrom(
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"a"',
    '"',
    "\\",
    "1",
    "-",
    "true",
    "//",
    "/*",
    "*/",
    "\n",
    " ",
    "\u0000",
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
      const text = parts.join("");
      try {
        parseJsonc(text);
      } catch (fault) {
        expect(fault).toMatchObject({ name: "JsonFault", offset: expect.any(Number) });
        expect((fault as { offset: number }).offset).toBeLessThanOrEqual(text.length);
      }
    }),
  );
});

test("comments inside strings stay text, and an empty text is an empty object", () => {
  expect(parseJsonc('{ "a": "http://x/*y*/", // z\n}')).toEqual({ a: "http://x/*y*/" });
  expect([parseJsonc(""), parseJsonc(" // nothing\n")]).toEqual([{}, {}]);
});

test("a fault shows one character and no more, since what stands there may be a key", () => {
  expect(() => parseJsonc('{ "key": sk-secret }')).toThrow('expected a value, found "s"');
});

test("a place is found by its keys, or the nearest parent's", () => {
  const text = '{\n  "a": [\n    { "b": 1 },\n    2\n  ]\n}';
  expect(placeOfKeys(text, ["a", "0", "b"])).toEqual({ line: 3, column: 12 });
  expect(placeOfKeys(text, ["a", "1"])).toEqual({ line: 4, column: 5 });
  expect(placeOfKeys(text, ["a", "7"])).toEqual({ line: 2, column: 8 });
});

test("a value that nobody reads, since its key is repeated, may be as deep as it likes", () => {
  const text = `{ "a": ${"[".repeat(300)}${"]".repeat(300)}, "a": 1 }`;
  expect([parseJsonc(text), placeOfKeys(text, ["a"])]).toEqual([{ a: 1 }, { line: 1, column: 1 }]);
});

test("a text of 30 MB of spaces, of one string, of one comment is read or refused, and takes no stack", () => {
  const size = 30 << 20;
  expect(parseJsonc(" ".repeat(size))).toEqual({});
  expect(parseJsonc(`// ${"x".repeat(size)}\n{}`)).toEqual({});
  expect(parseJsonc(`{ "a": "${"x".repeat(size)}", }`)).toMatchObject({ a: expect.stringMatching(/^xx/) });
  expect(() => parseJsonc(`"${"x".repeat(size)}`)).toThrow("expected a string that ends on its line");
  expect(() => parseJsonc(`/*${"x".repeat(size)}`)).toThrow('expected a value, found "/"');
});
