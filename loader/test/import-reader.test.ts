import { readdirSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { parseSync } from "oxc-parser";
import { expect, test } from "vitest";
import { readImports } from "../src/import-reader.ts";

function read(source: string): { requests: string[]; unknowns: Record<string, number> } {
  const { requests, unknowns } = readImports(source);
  return {
    requests: requests.map(({ specifier, mode, line }) => `${line} ${mode} ${specifier}`),
    unknowns: Object.fromEntries(unknowns),
  };
}

test.each<[string, string[]]>([
  ["import a from './a';", ["1 import ./a"]],
  ["import './a'\nimport * as b from \"./b\"", ["1 import ./a", "2 import ./b"]],
  ["import a, { b as c, default as d } from './a'", ["1 import ./a"]],
  ["import { 'a b' as c } from './a'", ["1 import ./a"]],
  ["import d from './d.json' with { type: 'json' }", ["1 import ./d.json"]],
  [
    "export * from './a'; export * as b from './b'; export { c } from './c'",
    ["1 import ./a", "1 import ./b", "1 import ./c"],
  ],
  ["const a = await import('./a'), b = import(`./b`, { with: {} })", ["1 import ./a", "1 import ./b"]],
  ["const a = require('./a'); module.require(\"./b\")", ["1 require ./a", "1 require ./b"]],
  ["import a = require('./a'); export import b = require('./b')", ["1 require ./a", "1 require ./b"]],
  ["import('\\x2e/\\u0061\\u{62}')", ["1 import ./ab"]],
  ["r\\u0065quire('./a')", ["1 require ./a"]],
  ["import type from './a'; import type, { b } from './b'", ["1 import ./a", "1 import ./b"]],
  [
    "import { type } from './a'; import { type as b } from './b'; import { type c, d } from './c'",
    ["1 import ./a", "1 import ./b", "1 import ./c"],
  ],
  ["import{a}from'./a';import'./b';export{c}from'./c'", ["1 import ./a", "1 import ./b", "1 import ./c"]],
  ["\uFEFF#!/usr/bin/env node\r\n\r\nimport a from './a'\r\n", ["3 import ./a"]],
  [
    "const r = createRequire(import.meta.url); r('./a'); createRequire(__filename)('./b')",
    ["1 require ./a", "1 require ./b"],
  ],
  [
    "import { createRequire as make } from 'node:module'; const req = make(import.meta.url);\nreq('./a')",
    ["2 require ./a"],
  ],
  [
    "import module from 'module'; const require = module.createRequire(import.meta.url); require('./a')",
    ["1 require ./a"],
  ],
  ["if (x) /['\"]/.test(y); require('./a')", ["1 require ./a"]],
  ["const a = b / c; require('./a'); d / e", ["1 require ./a"]],
  ["x = a++ / 2; require('./a'); y = 'x'", ["1 require ./a"]],
  ["f(`${`${require('./a')}`} import('./no') `)", ["1 require ./a"]],
  ["const o = { a: [1, { b: /}/ }] }\nimport('./a')", ["2 import ./a"]],
  ["class A { static { import('./a') } require(x) { return x } }", ["1 import ./a"]],
])("T2: reads what %j imports", (source, requests) => {
  expect(read(source)).toMatchObject({ requests });
});

test.each([
  "import type { A } from './a'; import type B from './b'; import type * as C from './c'",
  "import { type A, type B as C } from './a'",
  "export type { A } from './a'; export type * from './b'",
  "import type A = require('./a')",
  "// import './a'\n/* require('./a') */",
  "const a = \"import './a'\" + 'require(\"./b\")' + `import('./c')`",
  "x.require('./a'); x.import('./b'); x?.require('./c'); ({ require: 1, import: 2 })",
  "const a = /require('.\\/a')/",
  "typeof require; require.resolve('./a'); require.main === module; import.meta.url",
  "export const a = 1; export default 2; export { a as b }; export function c() {}",
])("T2: %j imports nothing", (source) => {
  expect(read(source)).toEqual({ requests: [], unknowns: {} });
});

test.each<[string, Record<string, number>]>([
  ["\nimport(name)", { computed: 2 }],
  ["import('./a' + b); require(`./${c}`)", { computed: 1 }],
  ["const r = require; r('./a')", { computed: 1 }],
  ["f(require)", { computed: 1 }],
  ["createRequire(elsewhere)('./a')", { computed: 1 }],
  ["const { x } = createRequire(import.meta.url)", { computed: 1 }],
  ["process.getBuiltinModule(name)", { computed: 1 }],
  ["eval('1')", { text: 1 }],
  ["(0, eval)('1'); globalThis.eval('2')", { text: 1 }],
  ["new Function('a', 'b'); Function('c')()", { text: 1 }],
  ["import vm from 'node:vm'", { text: 1 }],
  ["\n\nimport fs from 'node:fs';\nimport { readFile } from 'fs/promises'", { files: 3 }],
  ["process.getBuiltinModule('fs')", { files: 1 }],
  ["const { spawn } = require('child_process')", { programs: 1 }],
  ["pi.exec('ls'); ", { programs: 1 }],
  ["await ctx.exec('sh', ['./check.sh'])", { programs: 1 }],
  ["import { Worker } from 'node:worker_threads'", { workers: 1 }],
  ["require('./build/x.node')", { addon: 1 }],
  ["process.dlopen(m, f)", { addon: 1 }],
  ["import { registerHooks } from 'node:module'; registerHooks({})", { loading: 1 }],
  ["require('module')._load = f", { loading: 1 }],
  ["const a = 'never closed", { unreadable: 1 }],
  ["`never closed", { unreadable: 1 }],
  ["/* never closed", { unreadable: 1 }],
  ["((", { unreadable: 1 }],
])("T2: tells what %j may reach beyond its imports", (source, unknowns) => {
  expect(read(source).unknowns).toEqual(unknowns);
});

test.each([
  "/a(b)/.exec(c)",
  "regex.exec('a')",
  "x instanceof Function; Function.prototype; a.eval(b); const o = { eval: 1 }",
  "import { createRequire, isBuiltin } from 'node:module'; const require = createRequire(import.meta.url); require('./a')",
])("T2: %j reaches nothing else", (source) => {
  expect(read(source).unknowns).toEqual({});
});

test.each([
  ["brackets", "[".repeat(200_000)],
  ["parentheses", "(".repeat(200_000) + ")".repeat(200_000)],
  ["templates", "`${".repeat(100_000)],
  ["nots", "!".repeat(300_000)],
  ["imports", "import ".repeat(100_000)],
  ["exports", "export { as ".repeat(100_000)],
  ["calls", "a.exec(".repeat(100_000)],
  ["requires", "const r = createRequire(".repeat(50_000)],
  ["slashes", "/".repeat(200_001)],
  ["quotes", "'\n".repeat(100_000)],
  ["backslashes", "\\".repeat(200_001)],
  ["escapes in a name", "\\u{".repeat(100_000)],
  ["lines", "require('./a')\n".repeat(20_000)],
])("T5, attack 47: a source of nothing but %s is read to its end, and brings nothing down", (_what, source) => {
  expect(readImports(source).requests.length).toBeLessThan(20_001);
});

test("T2: what is read of real packages is what a full parser finds", () => {
  const roots = ["yaml/dist", "jsonc-parser/lib", "proper-lockfile/lib", "jiti/lib"];
  const files = roots
    .map((root) => new URL(`../node_modules/${root}`, import.meta.url).pathname)
    .flatMap((root) => readdirSync(root, { recursive: true }).map((name) => join(root, String(name))))
    .filter((path) => /(?<!\.d)\.[cm]?[jt]s$/.test(path));
  for (const path of files) {
    const source = readFileSync(path, "utf8").replace(/^\uFEFF/, "");
    const { module, errors } = parseSync(path, source);
    if (errors.length > 0) continue;
    const own = module.staticImports.filter(
      ({ entries }) => entries.length === 0 || entries.some((each) => !each.isType),
    );
    const exported = module.staticExports.flatMap(({ entries }) => entries.filter((each) => !each.isType));
    const wanted = [...own, ...exported].flatMap(({ moduleRequest }) => moduleRequest?.value ?? []);
    const found = readImports(source).requests.map(({ specifier }) => specifier);
    expect([path, ...found]).toEqual(expect.arrayContaining(wanted.filter((each) => !isBuiltin(each))));
  }
});
