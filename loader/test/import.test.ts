import { mkdir, readdir, readFile, rm, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import type { ExtensionAPI } from "@pi-agent/kernel";
import * as typebox from "typebox";
import { Value } from "typebox/value";
import { expect, onTestFinished, test } from "vitest";
import type { TempProject } from "../../test/kit/src/index.ts";
import { createImporter, type Importer } from "../src/import.ts";
import { TRANSFORM_VERSION } from "../src/transform.ts";
import { project } from "./loading.ts";

function importer(
  at: TempProject,
  more: { limitMs?: number; modules?: [string, { value: unknown }][] } = {},
): Importer {
  const made = createImporter({ agentDir: at.agentDir, modules: () => new Map(more.modules), limitMs: more.limitMs });
  onTestFinished(() => made.dispose());
  return made;
}

/** Imports a file and answers what its factory returns. */
async function run(made: Importer, path: string): Promise<unknown> {
  const extension = await made.load(path);
  return (extension as unknown as (pi: Partial<ExtensionAPI>) => unknown)({});
}

test("TypeScript and JavaScript, ESM and CommonJS are extensions", async () => {
  const at = await project({
    files: {
      "a.ts": "interface A { x: number }\nconst a: A = { x: 1 };\nexport default (): number => a.x;",
      "b.js": "export default () => 2;",
      "c.js": "module.exports = () => 3;",
      "esm/package.json": `{ "type": "module" }`,
      "esm/d.js": "import { four } from './four.js';\nexport default () => four;",
      "esm/four.js": "export const four = 4;",
      "e.ts":
        "import { five } from './lib/five.ts';\nimport six from './lib/six.js';\nexport default () => [five, six];",
      "lib/five.ts": "export enum Five { A = 5 }\nexport const five = Five.A;",
      "lib/six.ts": "export default 6;",
      "f.ts": "const seven = await Promise.resolve(7);\nexport default () => seven;",
    },
  });
  const made = importer(at);
  const answers = [];
  for (const name of ["a.ts", "b.js", "c.js", "esm/d.js", "e.ts", "f.ts"])
    answers.push(await run(made, join(at.path, name)));
  expect(answers).toEqual([1, 2, 3, 4, [5, 6], 7]);
});

test.each(["a b", "x#1", "50%", "\u00e9", "q?", "%2e%2e"])("F010: a folder named %s is no trouble", async (name) => {
  const at = await project({
    files: {
      [`${name}/index.ts`]: "import { x } from './lib.ts';\nexport default () => x + import.meta.url;",
      [`${name}/lib.ts`]: "export const x = 'ts ';",
      [`${name}/esm/package.json`]: `{ "type": "module" }`,
      [`${name}/esm/index.js`]: "import { x } from './lib.js';\nexport default () => x + import.meta.url;",
      [`${name}/esm/lib.js`]: "export const x = 'js ';",
    },
  });
  const made = importer(at);
  const url = (path: string) =>
    new URL(`file://${at.path}/${name.split("/").map(encodeURIComponent).join("/")}/${path}`).href;
  expect(await run(made, join(at.path, name, "index.ts"))).toBe(`ts ${url("index.ts")}`);
  expect(await run(made, join(at.path, name, "esm", "index.js"))).toBe(`js ${url("esm/index.js")}`);
});

test("F005: a linked extension finds its dependencies beside its real place", async () => {
  const at = await project({
    files: {
      "store/node_modules/ext/index.ts": "import dep from 'dep';\nexport default () => dep;",
      "store/node_modules/dep/package.json": `{ "name": "dep", "main": "index.js" }`,
      "store/node_modules/dep/index.js": "module.exports = 'found';",
      "links/x": "",
    },
  });
  await symlink(join(at.path, "store/node_modules/ext/index.ts"), join(at.path, "links/ext.ts"));
  expect(await run(importer(at), join(at.path, "links/ext.ts"))).toBe("found");
});

test("E2: a syntax error is told with file, line and column", async () => {
  const at = await project({ files: { "bad.ts": "export default () => {\n  const = 3;\n};" } });
  const path = join(at.path, "bad.ts");
  await expect(importer(at).load(path)).rejects.toMatchObject({
    code: "extension_syntax",
    message: `${path}:2:9: Unexpected token (ParseError).`,
    owner: path,
  });
});

test("E2: a syntax error in a file that the entry imports is told with that file", async () => {
  const at = await project({
    files: { "a.ts": "import './lib/b.ts';\nexport default () => {};", "lib/b.ts": "\n\nlet 1x;" },
  });
  await expect(importer(at).load(join(at.path, "a.ts"))).rejects.toMatchObject({
    code: "extension_syntax",
    message: expect.stringContaining(join(at.path, "lib/b.ts:3:")),
  });
});

test("E2: a throw at the top is told with file, line and column, also when the file comes from the cache", async () => {
  const text =
    "interface A {\n  a: number;\n}\n\nconst x: number = 1;\nthrow new Error('boom ' + x);\nexport default () => {};";
  const at = await project({ files: { "bad.ts": text } });
  const path = join(at.path, "bad.ts");
  for (const _start of ["cold", "warm"]) {
    await expect(importer(at).load(path)).rejects.toMatchObject({
      code: "extension_failed",
      message: `${path}:6:7: boom 1`,
    });
  }
});

test("E2: a package that is not installed is told with the import that asks for it", async () => {
  const at = await project({
    files: {
      "a.ts": "import './lib/b.ts';\nexport default () => {};",
      "lib/b.ts": "// x\nimport y from 'not-there';\nexport const z = y;",
    },
  });
  await expect(importer(at).load(join(at.path, "a.ts"))).rejects.toMatchObject({
    code: "extension_import",
    message: `${join(at.path, "lib/b.ts")}:2:15: cannot find not-there.`,
    hint: "Install it beside the extension: npm install not-there",
  });
});

test.each([["export const x = 1;"], ["export default { setup() {} };"], ["export default 3;"], [""]])(
  "E2: a file that exports no function as default is told so: %j",
  async (text) => {
    const at = await project({ files: { "bad.ts": text } });
    await expect(importer(at).load(join(at.path, "bad.ts"))).rejects.toMatchObject({ code: "extension_export" });
  },
);

test("E2: a file that never comes to its end is given up", async () => {
  const at = await project({ files: { "hang.ts": "await new Promise(() => {});\nexport default () => {};" } });
  await expect(importer(at, { limitMs: 50 }).load(join(at.path, "hang.ts"))).rejects.toMatchObject({
    code: "extension_late",
    message: `${join(at.path, "hang.ts")} was not evaluated within 0.05 s.`,
  });
});

test("a changed file is seen by the next load, and so are the files that it imports", async () => {
  const at = await project({
    files: { "a.ts": "import { x } from './b.ts';\nexport default () => x;", "b.ts": "export const x = 1;" },
  });
  const made = importer(at);
  expect(await run(made, join(at.path, "a.ts"))).toBe(1);
  await at.write("b.ts", "export const x = 2;");
  expect(await run(made, join(at.path, "a.ts"))).toBe(2);
});

test("a changed JSON file is seen by the next load too", async () => {
  const at = await project({
    files: { "a.ts": "import data from './data.json';\nexport default () => data.x;", "data.json": '{ "x": 1 }' },
  });
  const made = importer(at);
  expect(await run(made, join(at.path, "a.ts"))).toBe(1);
  await at.write("data.json", '{ "x": 2 }');
  expect(await run(made, join(at.path, "a.ts"))).toBe(2);
});

test("T3: two files with the same text each know their own place", async () => {
  const text = "export default () => import.meta.url;";
  const at = await project({ files: { "a/index.ts": text, "b/index.ts": text } });
  const made = importer(at);
  const places = [await run(made, join(at.path, "a/index.ts")), await run(made, join(at.path, "b/index.ts"))];
  expect(places).toEqual([expect.stringMatching(/\/a\/index\.ts$/), expect.stringMatching(/\/b\/index\.ts$/)]);
});

test("F001: the host's copy of a lent library is the only one, root and subpaths, whatever lies beside the extension", async () => {
  const at = await project({
    files: {
      "a.ts":
        "import { Type } from 'typebox';\nimport * as all from 'typebox';\nimport { Value } from 'typebox/value';\nexport default () => [Type, Value, all];",
      "node_modules/typebox/package.json": `{ "name": "typebox", "main": "index.js" }`,
      "node_modules/typebox/index.js": "module.exports = { Type: 'another copy' };",
    },
  });
  const [type, value] = (await run(importer(at), join(at.path, "a.ts"))) as unknown[];
  expect(type).toBe(typebox.Type);
  expect(value).toBe(Value);
});

test("F001: that holds for modules that Node evaluates natively, and they are evaluated once", async () => {
  const at = await project({
    files: {
      "package.json": `{ "type": "module" }`,
      "a.js": `import { Type } from "typebox";
globalThis.timesEvaluated = (globalThis.timesEvaluated ?? 0) + 1;
export default () => [Type, globalThis.timesEvaluated];`,
      "node_modules/typebox/package.json": `{ "name": "typebox", "type": "module", "exports": "./index.js" }`,
      "node_modules/typebox/index.js": "export const Type = 'another copy';",
    },
  });
  expect(await run(importer(at), join(at.path, "a.js"))).toEqual([typebox.Type, 1]);
});

test("F001: a subpath that the host's copy does not have is told with file and specifier", async () => {
  const at = await project({
    files: {
      "a.ts": "import 'typebox/nothing';\nexport default () => {};",
      "node_modules/typebox/package.json": `{ "name": "typebox", "exports": { ".": "./index.js" } }`,
    },
  });
  await expect(importer(at).load(join(at.path, "a.ts"))).rejects.toMatchObject({
    code: "extension_import",
    message: `${join(at.path, "a.ts")}:1:8: cannot find typebox/nothing.`,
  });
});

test.each([
  ["ESM", `{ "type": "module" }`, "import { Type } from 'typebox';\nexport const kind = Type;"],
  ["CommonJS", "{}", "const { Type } = require('typebox');\nexports.kind = Type;"],
])("F007: a dependency that is %s gets the host's copy of a lent library too", async (_what, manifest, text) => {
  const at = await project({
    files: {
      "a.ts": "import { kind } from 'helper';\nexport default () => kind;",
      "node_modules/helper/package.json": JSON.stringify({ name: "helper", main: "index.js", ...JSON.parse(manifest) }),
      "node_modules/helper/index.js": text,
    },
  });
  expect(await run(importer(at), join(at.path, "a.ts"))).toBe(typebox.Type);
});

test("a native module asks for a lent one that its entry does not mention", async () => {
  const at = await project({
    files: {
      "package.json": `{ "type": "module" }`,
      "a.js": "import { kind } from './b.js';\nexport default () => kind;",
      "b.js": "import { Type } from 'typebox';\nexport const kind = Type;",
    },
  });
  expect(await run(importer(at), join(at.path, "a.js"))).toBe(typebox.Type);
});

test("what an extension lends is there for those that load after it", async () => {
  const at = await project({ files: { "a.ts": "import { x } from '@acme/lent';\nexport default () => x;" } });
  const made = importer(at, { modules: [["@acme/lent", { value: { x: 5 } }]] });
  expect(await run(made, join(at.path, "a.ts"))).toBe(5);
});

test("what is lent later, or anew after a reload, is there too", async () => {
  const at = await project({ files: { "a.ts": "import { x } from '@acme/lent';\nexport default () => x;" } });
  const modules = new Map<string, { value: unknown }>();
  const made = createImporter({ agentDir: at.agentDir, modules: () => modules });
  onTestFinished(() => made.dispose());
  await expect(made.load(join(at.path, "a.ts"))).rejects.toMatchObject({ code: "extension_import" });
  for (const x of [1, 2]) {
    modules.set("@acme/lent", { value: { x } });
    expect(await run(made, join(at.path, "a.ts"))).toBe(x);
  }
});

test("the check sees each file of the extension before it is evaluated, and may refuse it", async () => {
  const at = await project({
    files: {
      "a.ts": "import './b.ts';\nexport default () => {};",
      "b.ts": "globalThis.evaluatedB = true;\nexport {};",
    },
  });
  const seen: string[] = [];
  const made = importer(at);
  const refuse = made.load(join(at.path, "a.ts"), (file) => {
    seen.push(file);
    if (file.endsWith("b.ts")) throw new Error("not this one");
  });
  await expect(refuse).rejects.toMatchObject({ message: expect.stringContaining("not this one") });
  expect(seen).toEqual([join(at.path, "a.ts"), join(at.path, "b.ts")]);
  expect(globalThis).not.toHaveProperty("evaluatedB");
});

test("compiled text is kept by content, for this user alone; a damaged entry is made anew", async () => {
  const at = await project({
    files: { "a.ts": "export default (): number => 1;", "same.ts": "export default (): number => 1;" },
  });
  const folder = join(at.agentDir, "cache", "transform");
  expect(await run(importer(at), join(at.path, "a.ts"))).toBe(1);
  expect(await run(importer(at), join(at.path, "same.ts"))).toBe(1);
  const names = await readdir(folder);
  expect(names).toHaveLength(1);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  await at.write(join(folder, names[0] ?? ""), "exports.default = () => 2; // cut");
  expect(await run(importer(at), join(at.path, "a.ts"))).toBe(1);
  expect(await readFile(join(folder, names[0] ?? ""), "utf8")).not.toContain("cut");
});

test("without a place for the cache everything still loads", async () => {
  const at = await project({ files: { "a.ts": "export default (): number => 1;" } });
  await rm(at.agentDir, { recursive: true });
  await at.write(at.agentDir, "a file in its place");
  expect(await run(importer(at), join(at.path, "a.ts"))).toBe(1);
  await rm(at.agentDir);
  await mkdir(at.agentDir);
});

test("the cache is bound to the versions of what compiles", async () => {
  const versionOf = async (name: string) =>
    (
      JSON.parse(await readFile(new URL(`../node_modules/${name}/package.json`, import.meta.url), "utf8")) as {
        version: string;
      }
    ).version;
  expect(TRANSFORM_VERSION).toBe(`jiti ${await versionOf("jiti")}, sucrase ${await versionOf("sucrase")}`);
});

test("variables that steer jiti elsewhere have no effect here", async () => {
  const at = await project({
    files: { "a.ts": "import x from 'aliased';\nexport default () => x;", "b.ts": "export default 'evil';" },
  });
  process.env.JITI_ALIAS = JSON.stringify({ aliased: join(at.path, "b.ts") });
  onTestFinished(() => {
    delete process.env.JITI_ALIAS;
  });
  await expect(importer(at).load(join(at.path, "a.ts"))).rejects.toMatchObject({ code: "extension_import" });
});
