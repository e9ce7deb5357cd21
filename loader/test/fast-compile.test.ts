import { Script } from "node:vm";
import { createJiti } from "jiti";
import { expect, test } from "vitest";
import { loadFastCompile } from "../src/fast-compile.ts";

type Run = (exports: object, require: unknown, jitiImport: (name: string) => Promise<unknown>) => Promise<void>;

const compileFast = await loadFastCompile();
const jiti = createJiti(import.meta.url, { fsCache: false });

const MODULES: Record<string, unknown> = {
  a: Object.assign(Object.create(null), { __esModule: true, default: "default of a", one: 1, two: 2 }),
  b: { plain: true },
};

/** What a compiled text exports, and which modules it asked for, in order. */
async function evaluate(code: string): Promise<unknown> {
  const asked: string[] = [];
  const exports: Record<string, unknown> = {};
  const run = new Script(`(async (exports, require, jitiImport) => {${code}\n})`).runInThisContext() as Run;
  const load = async (name: string) => {
    asked.push(name);
    return MODULES[name];
  };
  await run(exports, () => expect.fail("nothing is required"), load);
  const values = Object.keys(exports)
    .toSorted()
    .map((name) => [name, exports[name]]);
  return { asked, values: JSON.stringify(Object.fromEntries(values)) };
}

const given = (source: string) => ({
  source,
  filename: "/x.ts",
  ts: true,
  async: true,
  jsx: false,
  interopDefault: true,
});

test.each([
  [
    "a default function",
    "export default function hello(pi: { on(): void }) { return pi; }\nexport const name = hello.name;",
  ],
  [
    "names, types and renames",
    'import def, { one, type Two, two as zwei } from "a";\nimport type { Nothing } from "b";\nexport const all = [def, one, zwei] as const;',
  ],
  [
    "a namespace import and re-exports",
    'import * as a from "a";\nexport { two } from "a";\nexport * from "a";\nexport const sum: number = a.one + a.two;',
  ],
  [
    "an import for its effect, and one that is only a type",
    'import "b";\nimport { Type } from "a";\nexport let x: Type | undefined;',
  ],
  ["a module without interop", 'import b from "b";\nexport default b;'],
  [
    "classes",
    "abstract class A { readonly x = 1; declare y: string; constructor(private z = 2, public w?: number) {} get v() { return this.z; } }\nclass B extends A { override x = 3 as const; #p = 4; static s = 5; p = this.#p; }\nexport const b = { ...new B(), v: new B().v, s: B.s };",
  ],
  [
    "enums",
    'enum Color { Red = 1, Blue }\nexport const enum Size { S = "s" }\nexport const used = [Color.Blue, Color[1], Size.S];',
  ],
  [
    "what only types need",
    "interface I<T extends object = {}> { x: T }\ntype M = { [K in keyof I]?: I[K] };\nexport const f = <T,>(x: T): T => x!;\nexport const y = f<number>(1) satisfies number;\ndeclare const gone: string;\nfunction over(x: string): void;\nfunction over(x: unknown) { return x; }\nexport const z = over(2);",
  ],
  [
    "await at the top, and new syntax",
    "const x = await Promise.resolve({ y: { z: 5 } });\nexport const z = x?.y?.z ?? 1;\nexport let n = 0;\nn ||= 2; n **= 3;",
  ],
  [
    "words that look like more",
    'export const text = "using a namespace, export = it, @decorated";\n/** @param x made using it */\nexport const more = `import x from "y"`;',
  ],
  ["functions that are there before their place", "export const early = late();\nexport function late() { return 1; }"],
  ["live bindings", "export let count = 0;\nexport function add() { count++; }\nadd();\nadd();"],
  ["a default that is a name, and a list", "const x = { y: 1 };\nexport { x as default, x as named };"],
])("what it compiles means what jiti's compiler makes of it: %s", async (_what, source) => {
  const fast = compileFast(given(source));
  if (fast === undefined) expect(source).toContain("export = it");
  else expect(await evaluate(fast)).toEqual(await evaluate(jiti.transform(given(source))));
});

test.each([
  ["namespaces, which it would drop", "namespace N { export const x = 1 }\nexport const y = N.x;"],
  ["nested namespaces", "export namespace A.B { export const x = 1 }"],
  ["modules of old", "module M { export const x = 1 }"],
  ["decorators", "@dec class X {}"],
  ["decorators of members", "class X { @dec() y = 1 }"],
  ["using", "{ using x = open(); }"],
  ["await using", "await using x = open();"],
  ["accessor", "class X { accessor y = 1 }"],
  ["an import that is made later", 'export const x = () => import("a");'],
  ["its own address", "export const x = import.meta.url;"],
  ["require", 'const x = require("a");'],
  ["require in a text", "export const x = \"require('a')\";"],
  ["import of a required one", 'import x = require("a");'],
  ["an export of old", "export = 1;"],
  ["what belongs to CommonJS", "module.exports = 1;"],
  ["a wrong syntax, which jiti's compiler words", "export const = ;"],
  ["a wrong syntax that it does not see", "export default (pi) => { exec ute(); };"],
])("it leaves to jiti's compiler: %s", (_what, source) => {
  expect(compileFast(given(source))).toBeUndefined();
});

test("it compiles only what is awaited and without JSX", () => {
  expect(compileFast({ ...given("export const x = 1;"), async: false })).toBeUndefined();
  expect(compileFast({ ...given("export const x = 1;"), jsx: true })).toBeUndefined();
});

test("lines stay where they are, so that errors name them", () => {
  const source = "import type { X } from 'a';\n\ninterface Y {\n  z: X;\n}\nexport const here = new Error().stack;\n";
  expect(
    compileFast(given(source))!
      .split("\n")
      .findIndex((line) => line.includes("here =")),
  ).toBe(5);
});
