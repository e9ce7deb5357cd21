import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import type { TempProject } from "../../test/kit/src/index.ts";
import { marks, project } from "./loading.ts";
import { grantFor, importerIn, run } from "./serving.ts";

/** Scans, changes the folder, then loads what was scanned. */
async function loadAfter(at: TempProject, change: () => Promise<unknown>, entry = ".pi/extensions/x.ts") {
  const grant = await grantFor(at);
  await change();
  const importer = importerIn(at);
  importer.serve(grant);
  return run(importer, join(at.path, entry));
}

/** Code that leaves a mark when it is evaluated. */
function evil(at: TempProject): string {
  return `require("node:fs").appendFileSync(${JSON.stringify(join(at.home, "marks"))}, "evil\\n");`;
}

const FILES = {
  ".pi/extensions/x/index.ts": `import { ts } from "./ts.ts";
import bare from "./bare";
import { mjs } from "./m.mjs";
import cjs from "./c.cjs";
import js from "./plain.js";
import data from "./data.json";
import { esm } from "esm-dep";
import cjsDep from "cjs-dep";
import { shared } from "../../../lib/shared.ts";
import { createRequire } from "node:module";
const fromRequire = createRequire(import.meta.url)("./required.cjs");
export default async () => {
  const { late } = await import("./late.ts");
  return [ts, bare, mjs, cjs, js, data.x, esm, cjsDep, shared, fromRequire, late, import.meta.url, __filename];
};`,
  ".pi/extensions/x/ts.ts": "export const ts: string = 'ts';",
  ".pi/extensions/x/bare.ts": "export default 'bare';",
  ".pi/extensions/x/m.mjs": "export const mjs = 'mjs';",
  ".pi/extensions/x/c.cjs": "module.exports = 'cjs';",
  ".pi/extensions/x/plain.js": "module.exports = 'js';",
  ".pi/extensions/x/data.json": '{ "x": "json" }',
  ".pi/extensions/x/required.cjs": "module.exports = require('./data.json').x + ' required';",
  ".pi/extensions/x/late.ts": "export const late = 'late';",
  "node_modules/esm-dep/package.json": `{ "type": "module", "exports": { "import": "./index.js" } }`,
  "node_modules/esm-dep/index.js": "import { inner } from './inner.js';\nexport const esm = 'esm ' + inner;",
  "node_modules/esm-dep/inner.js":
    "import data from './d.json' with { type: 'json' };\nexport const inner = 'inner' + data.d;",
  "node_modules/esm-dep/d.json": '{ "d": 1 }',
  "node_modules/cjs-dep/package.json": `{ "main": "lib" }`,
  "node_modules/cjs-dep/lib/index.js": "module.exports = 'cjs ' + require('./inner');",
  "node_modules/cjs-dep/lib/inner.js": "module.exports = 'inner';",
  "lib/shared.ts": "export const shared = 'shared';",
};

const ENTRY = ".pi/extensions/x/index.ts";
const EXPECTED = [
  "ts",
  "bare",
  "mjs",
  "cjs",
  "js",
  "json",
  "esm inner1",
  "cjs inner",
  "shared",
  "json required",
  "late",
];

test("T3, attack 37: every kind of module is evaluated as it was hashed, whatever the folder became", async () => {
  const at = await project({ files: FILES });
  const swap = async () => {
    for (const name of Object.keys(FILES))
      await at.write(name, name.endsWith(".json") ? '{ "x": "evil", "d": "evil" }' : evil(at));
  };
  const answer = (await loadAfter(at, swap, ENTRY)) as string[];
  const path = join(at.path, ENTRY);
  expect(answer).toEqual([...EXPECTED, pathToFileURL(path).href, path]);
  expect(marks(at)).toEqual([]);
});

test("T3: the project's folder may be gone, and what was hashed is evaluated all the same", async () => {
  const at = await project({ files: FILES });
  const answer = await loadAfter(at, () => rename(join(at.path, ".pi"), join(at.home, "moved")), ENTRY);
  expect(answer).toEqual(expect.arrayContaining(EXPECTED));
});

test.each([
  ["a link to elsewhere", (path: string, at: TempProject) => symlink(join(at.home, "evil.ts"), path)],
  ["a dangling link", (path: string) => symlink("nowhere", path)],
  ["a folder", (path: string) => mkdir(path)],
])("T3, attack 37: a member that became %s is evaluated as it was hashed", async (_what, put) => {
  const at = await project({ files: FILES });
  await writeFile(join(at.home, "evil.ts"), evil(at));
  const swap = async () => {
    for (const name of Object.keys(FILES)) {
      await rm(join(at.path, name));
      await put(join(at.path, name), at);
    }
  };
  expect(await loadAfter(at, swap, ENTRY)).toEqual(expect.arrayContaining(EXPECTED));
  expect(marks(at)).toEqual([]);
});

test("T3, attack 30: a folder that another one was put in place of is of no account", async () => {
  const at = await project({ files: FILES });
  const swap = async () => {
    await rename(at.path, `${at.path}-before`);
    onTestFinished(() => rm(`${at.path}-before`, { recursive: true }));
    await mkdir(join(at.home, "other"), { recursive: true });
    await symlink(join(at.home, "other"), at.path);
  };
  expect(await loadAfter(at, swap, ENTRY)).toEqual(expect.arrayContaining(EXPECTED));
});

test.each([
  ["an import in TypeScript", { "x.ts": "export default () => import(['..', '..', 'evil.ts'].join('/'));" }],
  ["a require in TypeScript", { "x.ts": "export default () => require(['..', '..', 'evil.cjs'].join('/'));" }],
  [
    "a require that was made",
    {
      "x.ts":
        "import { createRequire } from 'node:module';\nexport default () => createRequire(import.meta.url)(['..', '..', 'evil.cjs'].join('/'));",
    },
  ],
  ["a dependency in node_modules", { "x.ts": "export default () => import(['ev', 'il'].join(''));" }],
  [
    "an absolute path",
    {
      "x.ts": "import { join } from 'node:path';\nexport default () => import(join(__dirname, '..', '..', 'evil.ts'));",
    },
  ],
  ["an address", { "x.ts": "export default () => import(new URL('../../evil.mjs', import.meta.url).href);" }],
  ["JSON", { "x.ts": "export default () => import(['..', '..', 'evil.json'].join('/'));" }],
  [
    "an import in CommonJS",
    {
      "x.ts": "import y from './y.cjs';\nexport default () => y();",
      "y.cjs": "module.exports = () => import(['..', '..', 'evil.mjs'].join('/'));",
    },
  ],
])("T3: a file that is no member is refused to %s, and told with what asked for it", async (_what, files) => {
  const at = await project();
  for (const [name, text] of Object.entries(files)) await at.write(`.pi/extensions/${name}`, text);
  for (const name of ["evil.ts", "evil.cjs", "evil.mjs", "evil.json", "node_modules/evil/index.js"])
    await at.write(name, evil(at));
  const importer = importerIn(at);
  importer.serve(await grantFor(at));
  const failed = await run(importer, join(at.path, ".pi/extensions/x.ts")).catch((thrown: unknown) => thrown);
  expect(failed).toMatchObject({
    code: "not_a_member",
    message: expect.stringMatching(/evil.* is not among the files .*\/(?:x\.ts|y\.cjs) imports it as /s),
  });
  expect(marks(at)).toEqual([]);
});

test("T3: a file that is no member is refused to native modules of a dependency", async () => {
  const at = await project({
    files: {
      ".pi/extensions/x.ts":
        "import { load } from 'dep';\nexport default () => load('../../evil.mjs').catch((error) => [error.code, error.message]);",
      "node_modules/dep/package.json": `{ "type": "module", "exports": "./index.js" }`,
      "node_modules/dep/index.js": "export const load = (name) => import(name);",
    },
  });
  await at.write("evil.mjs", evil(at));
  const importer = importerIn(at);
  importer.serve(await grantFor(at));
  const [code, message] = (await run(importer, join(at.path, ".pi/extensions/x.ts"))) as string[];
  expect(code).toBe("not_a_member");
  expect(message).toContain(`${join(at.path, "node_modules/dep/index.js")} imports it as ../../evil.mjs`);
  expect(marks(at)).toEqual([]);
});

test("T3: where the decision holds for the folder whatever it becomes, files that are no members load too", async () => {
  const at = await project({
    files: {
      ".pi/extensions/x.ts": `export default async () => {
  const part = (name: string) => import(["..", "..", name].join("/"));
  return [(await part("a.ts")).a, (await part("b.mjs")).b, require(["de", "p"].join("")), (await part("c.json")).default.c];
};`,
      "a.ts": "import { same } from './b.mjs';\nexport const a: string = 'a' + same;",
      "b.mjs": "export const b = 'b';\nexport const same = 's';",
      "c.json": '{ "c": "c" }',
      "node_modules/dep/index.js": "module.exports = 'dep';",
    },
  });
  const importer = importerIn(at);
  importer.serve(await grantFor(at, { isFolderBound: true }));
  expect(await run(importer, join(at.path, ".pi/extensions/x.ts"))).toEqual(["as", "b", "dep", "c"]);
});

test("T3: what lies outside the project is imported as ever", async () => {
  const at = await project({
    files: {
      "repo/.git": "",
      "node_modules/out/index.js": "module.exports = 'out';",
      "near.ts": "export const near: string = 'near';",
    },
  });
  await at.write(
    "repo/.pi/extensions/x.ts",
    "import out from 'out';\nimport { near } from '../../../near.ts';\nexport default () => [out, near];",
  );
  const inside = { ...at, path: join(at.path, "repo") };
  const importer = importerIn(at);
  importer.serve(await grantFor(inside));
  expect(await run(importer, join(inside.path, ".pi/extensions/x.ts"))).toEqual(["out", "near"]);
});

test("T10: what is taken away is refused afterwards, to code that still runs, and in the place that was left", async () => {
  const at = await project({
    files: {
      ".pi/extensions/x.ts":
        "export default () => () => import('./late.ts').then(({ late }) => late, (error) => error.code);",
      ".pi/extensions/late.ts": "export const late = 'late'; export default () => {};",
    },
  });
  const importer = importerIn(at);
  const grant = await grantFor(at);
  const entry = join(at.path, ".pi/extensions/x.ts");
  importer.serve(grant);
  const lateOf = async () => (await run(importer, entry)) as () => Promise<string>;
  const [first, second, third] = [await lateOf(), await lateOf(), await lateOf()];
  expect(await first()).toBe("late");
  const other = await project();
  importer.serve(await grantFor(other));
  expect(await second()).toBe("not_a_member");
  importer.serve(grant);
  expect(await third()).toBe("late");
});

test("T3: a reload sees the new bytes of everything, JSON and dependencies too, and what did not change stays", async () => {
  const files = {
    ".pi/extensions/x.ts": `import data from "./data.json";
import { esm } from "esm-dep";
import cjs from "cjs-dep";
import { createRequire } from "node:module";
const require2 = createRequire(import.meta.url);
export default () => [data.x, esm(), cjs.value, require2("./data.json").x, cjs];`,
    ".pi/extensions/data.json": '{ "x": 1 }',
    "node_modules/esm-dep/package.json": `{ "type": "module", "exports": "./index.js" }`,
    "node_modules/esm-dep/index.js": "export { esm } from './inner.js';",
    "node_modules/esm-dep/inner.js": "export const esm = () => 1;",
    "node_modules/cjs-dep/index.js": "exports.value = require('./inner.js');",
    "node_modules/cjs-dep/inner.js": "module.exports = 1;",
  };
  const at = await project({ files });
  const importer = importerIn(at);
  const load = async () => {
    importer.serve(await grantFor(at));
    return (await run(importer, join(at.path, ".pi/extensions/x.ts"))) as unknown[];
  };
  const first = await load();
  expect(first.slice(0, 4)).toEqual([1, 1, 1, 1]);
  expect((await load())[4]).toBe(first[4]);
  for (const [name, text] of Object.entries(files)) await at.write(name, text.replace(/1(?=[ ;]|$)/, "2"));
  expect((await load()).slice(0, 4)).toEqual([2, 2, 2, 2]);
  for (const [name, text] of Object.entries(files)) await at.write(name, text);
  expect((await load()).slice(0, 4)).toEqual([1, 1, 1, 1]);
});

test("T3: a dependency finds what lies outside of the project, and nothing that was put into it meanwhile", async () => {
  const at = await project({
    files: {
      "repo/.git": "",
      "repo/.pi/extensions/x.ts": `import { a } from "cjs-dep";
import { b } from "esm-dep";
export default async () => [a(), await b()];`,
      "repo/node_modules/cjs-dep/index.js": "exports.a = () => require('out');",
      "repo/node_modules/esm-dep/package.json": `{ "type": "module", "exports": "./index.js" }`,
      "repo/node_modules/esm-dep/index.js": "export const b = async () => (await import('out')).default;",
      "node_modules/out/index.js": "module.exports = 'out';",
    },
  });
  const inside = { ...at, path: join(at.path, "repo") };
  const importer = importerIn(at);
  importer.serve(await grantFor(inside));
  const load = () => run(importer, join(inside.path, ".pi/extensions/x.ts"));
  expect(await load()).toEqual(["out", "out"]);
  await at.write("repo/node_modules/out/index.js", evil(at));
  await expect(load()).rejects.toMatchObject({ code: "not_a_member" });
  expect(marks(at)).toEqual([]);
});

test("T3: what is not there is told as Node tells it, so that an optional dependency stays optional", async () => {
  const at = await project({
    files: {
      ".pi/extensions/x.ts": `import { codes } from "dep";
const codeOf = (error: { code: string }) => error.code;
const own: string[] = [];
try { require("not-there"); } catch (error) { own.push(codeOf(error as { code: string })); }
own.push(await import("not-there").catch(codeOf), await import("./gone.ts").catch(codeOf));
export default () => [...own, ...codes];`,
      "node_modules/dep/index.js":
        "exports.codes = ['not-there', './gone'].map((name) => { try { return require(name); } catch (error) { return error.code; } });",
    },
  });
  const importer = importerIn(at);
  importer.serve(await grantFor(at));
  expect(await run(importer, join(at.path, ".pi/extensions/x.ts"))).toEqual([
    "MODULE_NOT_FOUND",
    "ERR_MODULE_NOT_FOUND",
    "ERR_MODULE_NOT_FOUND",
    "MODULE_NOT_FOUND",
    "MODULE_NOT_FOUND",
  ]);
});

test("an import that does not lead anywhere is told with file, line and column, from what was hashed", async () => {
  const at = await project({
    files: {
      ".pi/extensions/x/index.ts": "import './b.ts';\nexport default () => {};",
      ".pi/extensions/x/b.ts": "\nimport y from 'not-there';\nexport { y };",
    },
  });
  const grant = await grantFor(at);
  await at.write(".pi/extensions/x/b.ts", "import y from 'not-there';");
  const importer = importerIn(at);
  importer.serve(grant);
  await expect(importer.load(join(at.path, ".pi/extensions/x/index.ts"))).rejects.toMatchObject({
    code: "extension_import",
    message: `${join(at.path, ".pi/extensions/x/b.ts")}:2:15: cannot find not-there.`,
  });
});

test("modules that import each other, in all ways, come to an end", async () => {
  const at = await project({
    files: {
      ".pi/extensions/x/index.ts":
        "import { b } from './b.ts';\nimport { one } from './one.cjs';\nexport const a = 'a';\nexport default () => [b(), one()];",
      ".pi/extensions/x/b.ts": "import { a } from './index.ts';\nexport const b = () => a + 'b';",
      ".pi/extensions/x/one.cjs": "exports.one = () => two.two + 1;\nconst two = require('./two.cjs');",
      ".pi/extensions/x/two.cjs": "const { one } = require('./one.cjs');\nexports.two = typeof one;",
    },
  });
  const importer = importerIn(at);
  importer.serve(await grantFor(at));
  expect(await run(importer, join(at.path, ".pi/extensions/x/index.ts"))).toEqual(["ab", "function1"]);
});

test("two agents in one project, of which one is trusted: each gets what it may", async () => {
  const at = await project({
    files: {
      ".pi/extensions/x.ts": "import { d } from 'dep';\nexport default () => d;",
      "node_modules/dep/index.js": "exports.d = 'dep';",
    },
  });
  const [trusted, other] = [importerIn(at), importerIn(at)];
  trusted.serve(await grantFor(at));
  other.serve(await grantFor(at));
  other.serve(await grantFor(await project()));
  await expect(run(other, join(at.path, ".pi/extensions/x.ts"))).rejects.toMatchObject({ code: "not_a_member" });
  expect(await run(trusted, join(at.path, ".pi/extensions/x.ts"))).toBe("dep");
});

test("what only a module may say is evaluated as one, and odd old code as it stands", async () => {
  const at = await project({
    files: {
      ".pi/extensions/x/index.mjs":
        "#!/usr/bin/env node\nimport old from './old.cjs';\nexport default () => [import.meta.main, import.meta.dirname, this, old];",
      ".pi/extensions/x/old.cjs": "\uFEFFwith ({ eight: 010 }) module.exports = eight;\r\nreturn;",
      ".pi/extensions/x/package.json": '{ "pi": { "extensions": ["index.mjs"] } }',
    },
  });
  const importer = importerIn(at);
  importer.serve(await grantFor(at));
  const entry = join(at.path, ".pi/extensions/x/index.mjs");
  expect(await run(importer, entry)).toEqual([false, join(at.path, ".pi/extensions/x"), undefined, 8]);
});

test("T3: a module that was required is not handed out in place of another one that was approved since", async () => {
  const at = await project({
    files: {
      ".pi/extensions/x.ts": "import { value } from 'cjs-dep';\nexport default () => value;",
      "node_modules/cjs-dep/index.js": "exports.value = require('esm-dep').value;",
      "node_modules/esm-dep/package.json": `{ "type": "module", "exports": "./index.js" }`,
      "node_modules/esm-dep/index.js": "export const value = 1;",
    },
  });
  const importer = importerIn(at);
  const load = async () => {
    importer.serve(await grantFor(at));
    return run(importer, join(at.path, ".pi/extensions/x.ts"));
  };
  expect(await load()).toBe(1);
  await at.write("node_modules/esm-dep/index.js", "export const value = 2;");
  await expect(load()).rejects.toMatchObject({ hint: expect.stringMatching(/^Start again/) });
  await at.write("node_modules/esm-dep/index.js", "export const value = 1;");
  expect(await load()).toBe(1);
});

test("T3: a dependency may name what is no member, as for a program of its own, and not evaluate it", async () => {
  const at = await project({
    files: {
      ".pi/extensions/x.ts":
        "import { find, run } from 'dep';\nexport default () => [find('./tool.js'), run('./tool.js')];",
      "node_modules/dep/index.js":
        "exports.find = (name) => require.resolve(name);\nexports.run = (name) => { try { return require(name); } catch ({ code, message }) { return [code, message]; } };",
    },
  });
  await at.write("node_modules/dep/tool.js", evil(at));
  const importer = importerIn(at);
  importer.serve(await grantFor(at));
  const tool = join(at.path, "node_modules/dep/tool.js");
  expect(await run(importer, join(at.path, ".pi/extensions/x.ts"))).toEqual([
    tool,
    ["not_a_member", expect.stringContaining(`${join(at.path, "node_modules/dep/index.js")} imports it as ./tool.js`)],
  ]);
  expect(marks(at)).toEqual([]);
});

test("T3: another agent of the same process gets what is there now, and not what Node kept of the one before", async () => {
  const at = await project({
    files: {
      ".pi/extensions/x.ts":
        "import { esm } from 'esm-dep';\nimport cjs from 'cjs-dep';\nexport default () => [esm, cjs];",
      "node_modules/esm-dep/package.json": `{ "type": "module", "exports": "./index.js" }`,
      "node_modules/esm-dep/index.js": "export const esm = 1;",
      "node_modules/cjs-dep/index.js": "module.exports = 1;",
    },
  });
  const load = async () => {
    const importer = importerIn(at);
    importer.serve(await grantFor(at));
    const answer = await run(importer, join(at.path, ".pi/extensions/x.ts"));
    importer.dispose();
    return answer;
  };
  expect(await load()).toEqual([1, 1]);
  await at.write("node_modules/esm-dep/index.js", "export const esm = 2;");
  await at.write("node_modules/cjs-dep/index.js", "module.exports = 2;");
  expect(await load()).toEqual([2, 2]);
});

test("T10: a module of CommonJS that Node kept is refused too once it is taken away", async () => {
  const at = await project({
    files: {
      ".pi/extensions/x.ts":
        "import { again } from 'cjs-dep';\nexport default () => () => { try { return again(); } catch (error) { return error.code; } };",
      "node_modules/cjs-dep/index.js": "require('./inner.js');\nexports.again = () => require('./inner.js');",
      "node_modules/cjs-dep/inner.js": "module.exports = 'inner';",
    },
  });
  const importer = importerIn(at);
  importer.serve(await grantFor(at));
  const again = (await run(importer, join(at.path, ".pi/extensions/x.ts"))) as () => string;
  expect(again()).toBe("inner");
  importer.serve(await grantFor(await project()));
  expect(again()).toBe("not_a_member");
});
