import type { JsonObject } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { isObjectSchema, resolveReference, toObjectSchema } from "../src/object-schema.ts";

const text = { type: "string" };
const number = { type: "number" };

test("only an object without a union or a reference at its top is plain", () => {
  expect(isObjectSchema({ type: "object", properties: { a: { anyOf: [text, number] } } })).toBe(true);
  expect(isObjectSchema({ type: "object", oneOf: [] })).toBe(false);
  expect(isObjectSchema({ $ref: "#/$defs/A" })).toBe(false);
});

test("a union becomes an object with the properties of all arms, and what all arms require", () => {
  const schema: JsonObject = {
    anyOf: [
      { type: "object", properties: { kind: { const: "a" }, path: text }, required: ["kind", "path"] },
      { type: "object", properties: { kind: { const: "b" }, line: number }, required: ["kind"] },
    ],
  };
  expect(toObjectSchema(schema)).toEqual({
    type: "object",
    properties: { kind: { anyOf: [{ const: "a" }, { const: "b" }] }, path: text, line: number },
    required: ["kind"],
  });
});

test("a reference is followed, the parts of allOf are one, and definitions stay", () => {
  const $defs: JsonObject = {
    A: { allOf: [{ properties: { x: text }, required: ["x"] }, { properties: { y: number } }] },
  };
  expect(toObjectSchema({ $ref: "#/$defs/A", $defs })).toEqual({
    type: "object",
    properties: { x: text, y: number },
    required: ["x"],
    $defs,
  });
});

test("a reference to itself ends", () => {
  expect(toObjectSchema({ $ref: "#" })).toEqual({ type: "object", properties: {} });
});

test("a reference is read as a JSON pointer in a fragment: ~1, ~0 and %xx, and a lone % is itself", () => {
  const root: JsonObject = { $defs: { "a/b": text, "c~d": number, "e f": text, "100%": number } };
  const found = ["a~1b", "c~0d", "e%20f", "100%"].map((name) => resolveReference(`#/$defs/${name}`, root));
  expect(found).toEqual([text, number, text, number]);
  expect([resolveReference("#/$defs/none", root), resolveReference("other.json", root)]).toEqual([
    undefined,
    undefined,
  ]);
});
