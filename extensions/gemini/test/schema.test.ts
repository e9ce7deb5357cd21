import { expect, test } from "vitest";
import { toGeminiSchema } from "../src/schema.ts";

test.each<[string, object, object]>([
  ["const becomes enum", { const: "a" }, { type: "string", enum: ["a"] }],
  ["a constant that is no text or number is told", { const: true }, { description: "(const: true)" }],
  [
    "oneOf becomes anyOf",
    { oneOf: [{ type: "string" }, { type: "null" }] },
    { anyOf: [{ type: "string" }, { type: "null" }] },
  ],
  [
    "allOf becomes one schema",
    {
      allOf: [
        { properties: { a: { type: "string" } }, required: ["a"] },
        { properties: { b: {} }, required: ["b"] },
      ],
    },
    { properties: { a: { type: "string" }, b: {} }, required: ["a", "b"] },
  ],
  ["a bare reference stays", { $ref: "#/definitions/A" }, { $ref: "#/$defs/A" }],
  [
    "a reference beside other keys is what it stands for",
    { $ref: "#/definitions/A", description: "Mine." },
    { type: "integer", minimum: 1, description: "Mine." },
  ],
  [
    "a reference with escaped characters is followed",
    { $ref: "#/definitions/odd~1name%20~0", description: "Mine." },
    { type: "null", description: "Mine." },
  ],
  ["a reference to itself stays one", { $ref: "#/definitions/Tree" }, { $ref: "#/$defs/Tree" }],
  [
    "checks without a form are told in the description",
    { type: "string", description: "A path.", pattern: "^/", minLength: 1 },
    { type: "string", description: 'A path. (pattern: "^/"; minLength: 1)' },
  ],
  [
    "a format that is not taken is told",
    { type: "string", format: "uri" },
    { type: "string", description: '(format: "uri")' },
  ],
  [
    "a required name without a property is left out",
    { type: "object", properties: { a: { type: "string" } }, required: ["a", "b"] },
    { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
  ],
  ["a reference to elsewhere is told", { $ref: "https://x.test/a" }, { description: "(as in https://x.test/a)" }],
  ["a union of types stays", { type: ["string", "null"] }, { type: ["string", "null"] }],
  [
    "closed objects stay closed",
    { type: "object", additionalProperties: false },
    { type: "object", additionalProperties: false },
  ],
  [
    "items and tuples are walked",
    { type: "array", items: { const: 1 }, prefixItems: [{ const: "x" }], maxItems: 3 },
    {
      type: "array",
      items: { type: "number", enum: [1] },
      prefixItems: [{ type: "string", enum: ["x"] }],
      maxItems: 3,
    },
  ],
])("in a schema %s", (_, given, expected) => {
  const definitions = {
    A: { type: "integer", minimum: 1 },
    "odd/name ~": { type: "null" },
    Tree: { type: "object", properties: { next: { $ref: "#/definitions/Tree", description: "Again." } } },
  };
  const root = { type: "object", properties: { it: given }, definitions };
  const { properties, $defs, ...rest } = toGeminiSchema(root as never);
  expect(properties).toEqual({ it: expected });
  expect(rest).toEqual({ type: "object" });
  expect($defs).toMatchObject({ A: { type: "integer" }, Tree: { type: "object" } });
});

test("a union at the top is made an object, and told in words", () => {
  const union = { anyOf: [{ type: "object", properties: { path: { type: "string" } }, required: ["path"] }] };
  expect(toGeminiSchema(union)).toEqual({
    type: "object",
    properties: { path: { type: "string" } },
    required: ["path"],
    description: `The arguments must match this JSON Schema: ${JSON.stringify(union)}`,
  });
});
