import { expect, test } from "vitest";
import { sampleArguments } from "../../src/conformance/sample-arguments.ts";
import { findMisfit, listRefusedDefaults, listSchemaProblems } from "../../src/conformance/schema-rules.ts";

const SOUND = {
  type: "object",
  properties: {
    path: { type: "string", minLength: 8, pattern: "^[a-z]+$" },
    mode: { enum: ["fast", "slow"] },
    count: { anyOf: [{ type: "integer", minimum: 3 }, { type: "null" }] },
    list: { type: "array", items: { type: "boolean" }, minItems: 2 },
    deep: { type: "object", properties: { on: { type: "boolean", default: true } }, required: ["on"] },
    left: { type: "string" },
  },
  required: ["path", "mode", "count", "list", "deep"],
  additionalProperties: false,
};

test("arguments are made of what a schema requires, and fit it", async () => {
  const sample = sampleArguments(SOUND);
  expect(sample).toEqual({ path: "sampleee", mode: "fast", count: 3, list: [false, false], deep: { on: true } });
  expect(await findMisfit(SOUND, sample)).toBeUndefined();
  expect(listSchemaProblems(SOUND)).toEqual([]);
});

const UNSOUND: [string, object, string][] = [
  ["a type that there is not", { type: "text" }, 'has the type "text"'],
  ["properties that are a list", { type: "object", properties: [] }, "has properties that are no object"],
  ["a property that is no schema", { properties: { a: "string" } }, "(schema).a is no schema"],
  ["a required property that there is not", { properties: {}, required: ["a"] }, 'requires "a"'],
  ["a required that is no list", { required: true }, "requires something that is no list"],
  ["an enum that is no list", { enum: "a" }, "has an enum that is no list"],
  ["a union without arms", { anyOf: [] }, "has anyOf without arms"],
  ["a union with a bad arm", { anyOf: [{ type: "nil" }] }, '(schema).anyOf[0] has the type "nil"'],
  ["a pattern that is none", { pattern: "(" }, "has a pattern that is none"],
  ["items that are no schema", { items: 1 }, "(schema).items is no schema"],
];
for (const [name, schema, problem] of UNSOUND) {
  test(`${name} is told with its place`, () => {
    expect(listSchemaProblems(schema)).toEqual([expect.stringContaining(problem)]);
  });
}

test("a default is held against its own schema, however deep it stands", async () => {
  const schema = { properties: { deep: { properties: { size: { type: "integer", minimum: 10, default: 1 } } } } };
  expect(await listRefusedDefaults(schema)).toEqual([expect.stringContaining("(schema).deep.size does not take")]);
  expect(await listRefusedDefaults(SOUND)).toEqual([]);
});
