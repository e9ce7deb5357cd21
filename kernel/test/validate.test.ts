import { beforeAll, expect, test } from "vitest";
import { prepareValidation, validate } from "../src/validate.ts";

beforeAll(prepareValidation);

const object = (properties: object, required: string[] = Object.keys(properties)) =>
  ({ type: "object", properties, required }) as never;

const COERCED: [claim: string, schema: never, given: unknown, becomes: unknown][] = [
  ["a number in a string", object({ n: { type: "integer" } }), { n: "5" }, { n: 5 }],
  ["a boolean in a string", object({ b: { type: "boolean" } }), { b: "true" }, { b: true }],
  ["a number where text is asked for", object({ s: { type: "string" } }), { s: 5 }, { s: "5" }],
  ["an array in a string", object({ a: { type: "array", items: { type: "number" } } }), { a: "[1, 2]" }, { a: [1, 2] }],
  [
    "one value where a list is asked for",
    object({ a: { type: "array", items: { type: "string" } } }),
    { a: "x" },
    { a: ["x"] },
  ],
  ["an object in a string", object({ o: object({ n: { type: "number" } }) }), { o: '{"n":"1"}' }, { o: { n: 1 } }],
  ["null for what may be left out", object({ s: { type: "string" } }, []), { s: null }, {}],
  [
    "an arm that fits as it is, before one that has to be bent",
    object({ u: { anyOf: [{ type: "number" }, { type: "string" }] } }),
    { u: "5" },
    { u: "5" },
  ],
  [
    "the first arm that can be bent",
    object({ u: { anyOf: [{ type: "number" }, { type: "boolean" }] } }),
    { u: "5" },
    { u: 5 },
  ],
];

test.each(COERCED)("K3: %s is mended", (_claim, schema, given, becomes) => {
  expect(validate(schema, given)).toEqual({ ok: true, value: becomes });
});

test("K3: what cannot be mended is told path by path", () => {
  const validation = validate(object({ edits: { type: "array", items: object({ old: { type: "string" } }) } }), {
    edits: [{ old: {} }, {}],
  });
  expect(validation).toMatchObject({ ok: false });
  expect((validation as { problem: string }).problem).toMatch(/- edits\.0\.old: .*string.*came: \{\}/);
  expect((validation as { problem: string }).problem).toMatch(/- edits\.1: .*old/);
});

test("K3: a pattern that could keep a search busy for ever is left out, a simple one is kept", () => {
  const runaway = object({ s: { type: "string", pattern: "^(a+)+$" } });
  expect(validate(runaway, { s: `${"a".repeat(40)}!` })).toMatchObject({ ok: true });
  const simple = object({ s: { type: "string", pattern: "^[a-z]+$" } });
  expect(validate(simple, { s: "A" })).toMatchObject({ ok: false });
});

test("K3: a property may be called pattern, and __proto__ stays a plain key", () => {
  expect(validate(object({ pattern: { type: "string" } }), { pattern: "(a+)+" })).toMatchObject({ ok: true });
  const given = JSON.parse('{"n":"1","__proto__":{"polluted":true}}') as unknown;
  expect(validate(object({ n: { type: "number" } }), given)).toMatchObject({ ok: true });
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});
