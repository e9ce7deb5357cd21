import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { createAgent, type JsonObject } from "../src/index.ts";
import { prepareValidation, validate } from "../src/validate.ts";
import { handles, prompt } from "./named.ts";
import { calls, resultTexts, scripted, tool } from "./scripted.ts";

beforeAll(prepareValidation);

const object = (properties: object, required: string[] = Object.keys(properties), more: object = {}) =>
  ({ type: "object", properties, required, ...more }) as never;
const string = { type: "string" };
const number = { type: "number" };
const list = { type: "array", items: string };

const MENDED: [what: string, schema: never, given: unknown, becomes: unknown][] = [
  [
    "a list in a text, where a union takes a list or nothing",
    object({ a: { anyOf: [list, { type: "null" }] } }),
    { a: '["x"]' },
    { a: ["x"] },
  ],
  [
    "an object in a text within a list",
    object({ a: { type: "array", items: object({ n: number }) } }),
    { a: ['{"n":"1"}'] },
    { a: [{ n: 1 }] },
  ],
  [
    "a list in a text, of numbers in texts",
    object({ a: { type: "array", items: number } }),
    { a: '["1","2"]' },
    { a: [1, 2] },
  ],
  ["all arguments in a text", object({ n: number }), '{"n":1}', { n: 1 }],
  [
    "null for what may be left out, within a list",
    object({ a: { type: "array", items: object({ n: number }, []) } }),
    { a: [{ n: null }] },
    { a: [{}] },
  ],
  [
    "a union of objects by what fits",
    object({ u: { oneOf: [object({ a: number }), object({ b: number })] } }),
    { u: { b: "2" } },
    { u: { b: 2 } },
  ],
  [
    "a boolean in a text, where a union takes number or boolean",
    object({ u: { anyOf: [number, { type: "boolean" }] } }),
    { u: "false" },
    { u: false },
  ],
  ["a number with blanks", object({ n: number }), { n: " 7 " }, { n: 7 }],
];

test.each(MENDED)("K3: %s is mended", (_what, schema, given, becomes) => {
  expect(validate(schema, given)).toEqual({ ok: true, value: becomes });
});

const KEPT: [what: string, schema: never, given: JsonObject][] = [
  ["a text that looks like a list, where text is asked for", object({ s: string }), { s: '["x"]' }],
  [
    "a text that looks like a list, where a union takes text first or last",
    object({ s: { anyOf: [list, string] } }),
    { s: '["x"]' },
  ],
  ["a text that looks like a number, where a union takes text", object({ s: { anyOf: [number, string] } }), { s: "5" }],
  ["null where null is taken", object({ s: { type: ["string", "null"] } }, []), { s: null }],
  ["null where an arm takes it", object({ s: { anyOf: [string, { type: "null" }] } }, []), { s: null }],
  ["what the schema does not name", object({ s: string }), { s: "x", more: { deep: [1] } }],
  ["an empty text", object({ s: string }), { s: "" }],
];

test.each(KEPT)("K3: %s stays as it is", (_what, schema, given) => {
  const validation = validate(schema, structuredClone(given));
  expect(validation).toEqual({ ok: true, value: given });
});

const REFUSED: [what: string, schema: never, given: unknown, told: RegExp][] = [
  ["null for what is required", object({ s: string }), { s: null }, /- s: .*string.*came: null/],
  ["an empty text for a number", object({ n: number }), { n: "" }, /- n: .*number.*came: ""/],
  ["a half number for a whole one", object({ n: { type: "integer" } }), { n: 1.5 }, /- n: .*integer.*came: 1\.5/],
  ["a word for a boolean", object({ b: { type: "boolean" } }), { b: "maybe" }, /- b: .*boolean.*came: "maybe"/],
  ["a text that is half a list", object({ a: { type: "array", items: number } }), { a: "[1, 2" }, /- a/],
  [
    "a key too many, where none is allowed",
    object({ s: string }, ["s"], { additionalProperties: false }),
    { s: "x", extra: 1 },
    /extra|additional/,
  ],
  ["no arguments at all", object({ s: string }), undefined, /arguments/],
  ["a list of arguments", object({ s: string }), ["x"], /./],
  ["what is none of the words", object({ w: { enum: ["a", "b"] } }), { w: "c" }, /- w: .*came: "c"/],
];

test.each(REFUSED)(
  "K3: %s is refused, and the path, what was expected and what came are told",
  (_what, schema, given, told) => {
    const validation = validate(schema, given);
    expect(validation).toMatchObject({ ok: false, problem: expect.stringMatching(told) });
  },
);

test("K3: every bad path is named, and a long value is cut", () => {
  const schema = object({ a: number, b: { type: "array", items: number }, c: object({ d: number }) });
  const validation = validate(schema, { a: "x".repeat(5_000), b: [1, {}], c: { d: [] } });
  const { problem } = validation as { problem: string };
  for (const path of ["a", "b.1", "c.d"]) expect(problem).toMatch(new RegExp(`^- ${path.replace(".", "\\.")}: `, "m"));
  expect(problem.length).toBeLessThan(1_500);
});

test("K3: what came is not changed where it has to be mended, so that the transcript keeps what the model said", async () => {
  const agent = createAgent({
    extensions: [scripted(calls(["1", "a", { n: "5" }])), tool("a", undefined, { parameters: object({ n: number }) })],
  });
  await prompt(agent);
  expect(resultTexts(agent)["1"]).toBe('{"n":5}');
  expect(agent.transcript.project()[1]?.content).toMatchObject([{ arguments: { n: "5" } }]);
});

test("K3: what a hook changed is coerced and validated like what the model sent", async () => {
  const agent = createAgent({
    extensions: [
      scripted(calls(["1", "a", { n: 1 }], ["2", "a", { n: 2 }])),
      tool("a", undefined, { parameters: object({ n: number }) }),
      handles("h", "tool_call", (event: { toolCallId: string; input: JsonObject }) => {
        event.input.n = event.toolCallId === "1" ? "7" : "many";
      }),
    ],
  });
  await prompt(agent);
  expect(resultTexts(agent)["1"]).toBe('{"n":7}');
  expect(resultTexts(agent)["2"]).toMatch(/- n: .*"many"/);
});

test("K3: prepareArguments mends before validation, and its throw is an error result", async () => {
  const mends = tool("mends", undefined, {
    parameters: object({ n: number }),
    prepareArguments: (args) => ({ n: (args as { count: number }).count }),
  });
  const throws = tool("throws", undefined, {
    prepareArguments: () => {
      throw new Error("cannot prepare");
    },
  });
  const agent = createAgent({
    extensions: [scripted(calls(["1", "mends", { count: 3 }], ["2", "throws"])), mends, throws],
  });
  await prompt(agent);
  expect(resultTexts(agent)).toMatchObject({ 1: '{"n":3}', 2: expect.stringContaining("cannot prepare") });
});

const circular: { type: string; properties: Record<string, unknown> } = { type: "object", properties: {} };
circular.properties.self = circular;

test.each<[string, unknown]>([
  ["is nothing", undefined],
  ["is no schema", 7],
  ["is of a type that is none", { type: "nonsense" }],
  ["has a pattern that is none", object({ s: { type: "string", pattern: "(" } })],
  ["goes round in a circle", circular],
  ["refers to what is not there", object({ s: { $ref: "#/nowhere" } })],
])("K7: a tool whose schema %s does not break the loop", async (_what, parameters) => {
  const agent = createAgent({
    extensions: [scripted(calls(["1", "a", { s: "x" }])), tool("a", () => "ran", { parameters: parameters as never })],
  });
  expect((await agent.run("go")).outcome).toBe("done");
  expect(Object.keys(resultTexts(agent))).toEqual(["1"]);
});

/** Patterns that keep a backtracking search busy for hours on the text beside them. */
const RUNAWAYS: [pattern: string, text: string][] = [
  ["^(a+)+$", "a"],
  ["^((a+))+$", "a"],
  ["^(?:(?:a+)b?)+$", "a"],
  ["^(a|a)*$", "a"],
  ["^(a|aa)+$", "a"],
  ["^([a-z]+)*$", "a"],
  ["^(?<n>a+)+$", "a"],
  ["^(.*)*x$", "a"],
  ["^(a{1,})+$", "a"],
  ["^(a?){60}a{60}$", "a"],
  ["^a*a*a*a*a*a*a*a*b$", "a"],
  ["(x+x+)+y", "x"],
  ["^(([a-z])+.)+[A-Z]([a-z])+$", "a"],
  ["^(\\w+\\s?)*$", "a"],
  [`^${"(a|a)".repeat(28)}$`, "a"],
  [`^${"(?:a|ab|b)".repeat(26)}$`, "ab"],
  [`^${"a?".repeat(30)}a{30}$`, "a"],
  [`${"a?".repeat(20)}a*a*b`, "a"],
  ["^(a{1,9}){30}$", "a"],
  ["^(?:(?:-a*a*)*-)*$", "-a"],
  ["^x|a*a*a*a*b", "a"],
];

test("K3: no pattern of a foreign schema can keep a call busy for ever, neither as a pattern nor for names", async () => {
  const program = `
    import { prepareValidation, validate } from ${JSON.stringify(new URL("../src/validate.ts", import.meta.url).href)};
    await prepareValidation();
    for (const [pattern, text] of ${JSON.stringify(RUNAWAYS)}) {
      for (const length of [15, 29, 40, 100, 390, 4_400, 9_000]) {
        process.stdout.write(JSON.stringify(pattern) + " on " + length + "; ");
        const value = text.repeat(length) + "!";
        validate({ type: "object", properties: { s: { type: "string", pattern } } }, { s: value });
        validate({ type: "object", patternProperties: { [pattern]: { type: "string" } } }, { [value]: 1 });
        validate({ type: "object", properties: { default: { type: "string", pattern } } }, { default: value });
        validate({ type: "object", propertyNames: { pattern } }, { [value]: 1 });
        validate({ type: "object", properties: { u: { anyOf: [{ type: "number" }, { type: "string", pattern }] } } }, { u: value });
      }
    }
    console.log("all done");
  `;
  const flags = ["--conditions", "@pi-agent/source", "--input-type=module", "--eval", program];
  const { stdout } = await promisify(execFile)(process.execPath, flags, { timeout: 15_000 }).catch(
    (thrown: { stdout: string }) => thrown,
  );
  expect(stdout).toMatch(/all done\n$/);
});

/** Patterns as schemas have them, with a text each takes and one it does not. */
const USUAL: [what: string, pattern: string, fits: string, fitsNot: string][] = [
  ["a date", "^\\d{4}-\\d{2}-\\d{2}$", "2026-01-31", "2026-1-31"],
  [
    "a time and date",
    "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d+)?(Z|[+-]\\d{2}:\\d{2})$",
    "2026-01-31T10:00:00.123456Z",
    "2026-01-31 10:00",
  ],
  ["a slug", "^[a-z0-9]+(?:-[a-z0-9]+)*$", "a-slug-of-some-words-as-titles-have-them", "a--slug"],
  ["an identifier", "^[A-Za-z_][A-Za-z0-9_]*$", "some_name", "1name"],
  ["an e-mail address", "^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$", "someone.with.a.name@mail.example.org", "someone@example"],
  [
    "a strict e-mail address",
    "^[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\\.[A-Za-z]{2,}$",
    "some.one+tag@mail.example.org",
    "some one@example.org",
  ],
  ["a version", "^v?\\d+\\.\\d+\\.\\d+(?:-[0-9A-Za-z.-]+)?(?:\\+[0-9A-Za-z.-]+)?$", "1.22.333-beta.1+build.77", "1.22"],
  [
    "a UUID",
    "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
    "01890a5d-ac96-774b-bcce-b302099a8057",
    "01890a5d",
  ],
  ["a colour", "^#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$", "#a0b1c2", "#a0b1"],
  ["an IPv4 address", "^(?:\\d{1,3}\\.){3}\\d{1,3}$", "192.168.100.255", "192.168.1"],
  ["a host", "^(?:[a-z0-9-]+\\.)+[a-z]{2,}$", "some.host.in.example.org", "host"],
  [
    "a web address",
    "^https?://[^\\s/$.?#].[^\\s]*$",
    `https://example.org/${"path/".repeat(200)}`,
    "ftp://example.org",
  ],
  ["an absolute path", "^/", `/${"folder/".repeat(500)}`, "folder"],
  ["a path of names", "^(?:/[\\w.-]+)+$", "/home/someone/some-project/file.txt", "home/someone"],
  ["a commit", "^[0-9a-f]{7,40}$", "a94a8fe5ccb19ba61c4c0873d391e987982fbbd3", "a94a8"],
  ["an issue", "^[A-Z][A-Z0-9]+-\\d+$", "PROJ-1234", "proj-1"],
  ["a telephone number", "^\\+?[0-9 ()-]{7,20}$", "+44 (0)20 7946 0958", "none"],
  ["a language", "^[a-z]{2}(?:-[A-Z]{2})?$", "en-GB", "english"],
  ["a word among others", "^(?:low|medium|high)$", "medium", "middle"],
  ["something that is not empty", "\\S", `${" ".repeat(3_000)}x`, "   "],
];

test.each(USUAL)("K3: the pattern of %s is held against usual texts", (_what, pattern, takes, refuses) => {
  const schema = object({ s: { type: "string", pattern } });
  expect(validate(schema, { s: takes })).toMatchObject({ ok: true });
  expect(validate(schema, { s: refuses })).toMatchObject({ ok: false });
  expect(validate(schema, { s: `${takes}\n ` }).ok, "as long as what fits").toBe(!pattern.endsWith("$"));
});

test("K3: a text that does not match is told the pattern, and not the length that would get round it", () => {
  const schema = object({ s: { type: "string", pattern: "^[a-z]+$" }, t: { type: "string", minLength: 3 } });
  const { problem } = validate(schema, { s: "ABC", t: "x" }) as { problem: string };
  expect(problem).toMatch(/^- s: .*pattern.*\^\[a-z\]\+\$.*came: "ABC"$/m);
  expect(problem).toMatch(/^- t: .*3 characters/m);
  expect(problem).not.toMatch(/1000/);
});

test("K3: a property may have the name of a keyword, and its schema is one all the same", () => {
  const names = ["default", "enum", "const", "examples", "properties", "$defs", "pattern"];
  const runaway = { type: "string", pattern: "^(a+)+$" };
  const schema = object(Object.fromEntries(names.map((name) => [name, runaway])));
  const given = Object.fromEntries(names.map((name) => [name, `${"a".repeat(40)}!`]));
  expect(validate(schema, given)).toMatchObject({ ok: true });
  const values = object({ o: { default: { pattern: "^(a+)+$" }, enum: [{ pattern: "^(a+)+$" }] } });
  expect(validate(values, { o: { pattern: "^(a+)+$" } })).toMatchObject({ ok: true });
});

test("K3 K7: what is required is not satisfied by what is inherited, whatever the arguments call it", () => {
  const schema = object({ path: string, n: number });
  const given: unknown = JSON.parse('{"__proto__": {"path": "/etc"}, "n": "5"}');
  expect(validate(schema, given)).toMatchObject({ ok: false, problem: expect.stringContaining("path") });
  expect(validate(schema, Object.assign(Object.create({ path: "/etc" }), { n: 5 }))).toMatchObject({ ok: false });
  const whole = validate(schema, JSON.parse('{"__proto__": {"path": "/etc"}, "n": "5", "path": "x"}'));
  expect(JSON.stringify(whole)).toBe('{"ok":true,"value":{"__proto__":{"path":"/etc"},"n":5,"path":"x"}}');
  const odd = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"number"}}}') as never;
  expect(validate(odd, JSON.parse('{"__proto__": "7"}'))).toMatchObject({ ok: true });
});

const tree = {
  $defs: {
    node: {
      type: "object",
      properties: { n: { type: "integer" }, kids: { type: "array", items: { $ref: "#/$defs/node" } } },
    },
    alias: { $ref: "#/$defs/node" },
    round: { $ref: "#/$defs/round" },
    "a/b": number,
  },
};

const REFERRED: [what: string, schema: never, given: unknown, becomes: unknown][] = [
  ["$defs", object({ t: { $ref: "#/$defs/node" } }, [], tree), { t: { n: "1" } }, { t: { n: 1 } }],
  ["$defs by another name", object({ t: { $ref: "#/$defs/alias" } }, [], tree), { t: '{"n":"1"}' }, { t: { n: 1 } }],
  [
    "$defs again and again",
    object({ t: { $ref: "#/$defs/node" } }, [], tree),
    { t: { kids: [{ n: "5", kids: '[{"n":"6"}]' }] } },
    { t: { kids: [{ n: 5, kids: [{ n: 6 }] }] } },
  ],
  ["definitions", object({ n: { $ref: "#/definitions/n" } }, [], { definitions: { n: number } }), { n: "5" }, { n: 5 }],
  ["another property", object({ a: number, b: { $ref: "#/properties/a" } }), { a: 1, b: "2" }, { a: 1, b: 2 }],
  ["a name with a stroke", object({ n: { $ref: "#/$defs/a~1b" } }, [], tree), { n: "5" }, { n: 5 }],
  ["itself", object({ n: number, kid: { $ref: "#" } }, []), { kid: { kid: { n: "3" } } }, { kid: { kid: { n: 3 } } }],
  [
    "$defs from an arm of a union",
    object({ v: { anyOf: [{ $ref: "#/$defs/node" }, { type: "boolean" }] } }, [], tree),
    { v: '{"kids":[{"n":"1"}]}' },
    { v: { kids: [{ n: 1 }] } },
  ],
  [
    "$defs from an arm that the value fits not",
    object({ v: { anyOf: [{ $ref: "#/$defs/node" }, { type: "boolean" }] } }, [], tree),
    { v: "true" },
    { v: true },
  ],
  [
    "itself from an arm",
    object({ n: number, v: { anyOf: [{ $ref: "#" }, string] } }, []),
    { v: { n: "1" } },
    { v: { n: 1 } },
  ],
  ["what may be null", object({ t: { $ref: "#/$defs/node" }, n: number }, [], tree), { t: null, n: "1" }, { n: 1 }],
];

test.each(REFERRED)("K3: arguments are mended by a schema that refers to %s", (_what, schema, given, becomes) => {
  expect(validate(schema, given)).toEqual({ ok: true, value: becomes });
});

test("K3: a reference that goes round, or to nowhere, is not followed for ever", () => {
  for (const $ref of ["#/$defs/none", "elsewhere", "#name"]) {
    expect(validate(object({ v: { $ref } }, ["v", "n"], { ...tree, n: number }), { v: "x" }).ok, $ref).toBe(false);
  }
});

test("K3: a union that contains itself costs no power of the depth, neither to mend nor to tell", () => {
  const arm = (name: string) => object({ n: number, v: { $ref: "#" } }, [name]);
  const schema = { anyOf: [arm("a"), arm("b"), object({ n: number }, ["n"])] } as never;
  const nested = (end: unknown, name: string) => {
    let value = end;
    for (let i = 0; i < 60; i++) value = { v: value, [name]: true };
    return value;
  };
  expect(validate(schema, nested({ n: "1" }, "b"))).toEqual({ ok: true, value: nested({ n: 1 }, "b") });
  const validation = validate(schema, nested({ n: "none" }, "b"));
  expect(validation).toMatchObject({ ok: false, problem: expect.stringContaining("(arguments)") });
});

test("K3: arguments 10,000 levels deep are refused, whatever the schema, and by a hook too", async () => {
  let deep: JsonObject = {};
  for (let i = 0; i < 10_000; i++) deep = { deep };
  const open = object({}, [], { additionalProperties: true });
  const agent = createAgent({
    extensions: [
      scripted(() => calls(["1", "a", deep], ["2", "a", {}])),
      tool("a", () => "ran", { parameters: open }),
      handles("h", "tool_call", (event: { toolCallId: string; input: JsonObject }) => {
        if (event.toolCallId === "2") event.input.deep = deep;
      }),
    ],
  });
  expect((await agent.run("go")).outcome).toBe("done");
  expect(resultTexts(agent)["1"]).not.toBe("ran");
  expect(resultTexts(agent)["2"]).not.toBe("ran");
});
