import { existsSync, writeFileSync } from "node:fs";
import { chmod, cp, mkdir, rename, rm, symlink, truncate } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import type { TempProject } from "../../test/kit/src/index.ts";
import { SCAN_LIMITS } from "../src/file-view.ts";
import type { PlanItem } from "../src/plan.ts";
import { makePipe, planOf, project, verdicts } from "./loading.ts";
import { extensionOf } from "./serving.ts";

async function closureOf(
  files: Record<string, string>,
  prepare?: (at: TempProject) => Promise<unknown>,
): Promise<PlanItem> {
  const at = await project({ files });
  await prepare?.(at);
  const plan = await planOf(at);
  const item = extensionOf(plan);
  if (item.verdict !== "refused") expect(plan.opened).toEqual(Object.keys(filesOf(item)).sort());
  return item;
}

function filesOf({ members }: PlanItem): Record<string, string> {
  return Object.fromEntries(Object.entries(members).filter(([, content]) => !content.startsWith("link ")));
}

const X = ".pi/extensions/x.ts";

test("T2: what loading a single file runs is in its closure, wherever in the project it lies", async () => {
  const item = await closureOf({
    [X]: "import '../../lib/a.ts';\nimport data from './data.json';\nexport { c } from '../../lib/c';\nexport default () => import('../../lib/late.js');",
    ".pi/extensions/data.json": "{}",
    "lib/a.ts": "const b = require('./b');\nimport type { T } from './types.ts';",
    "lib/b.cjs": "module.exports = require('./folder');",
    "lib/folder/index.ts": "",
    "lib/c.mts": "export const c = 1;",
    "lib/late.ts": "",
    "lib/types.ts": "",
    "lib/other.ts": "",
    "package.json": "{}",
  });
  expect(Object.keys(item.members).sort()).toEqual([
    ".pi/extensions/data.json",
    X,
    "lib/a.ts",
    "lib/b.cjs",
    "lib/c.mts",
    "lib/folder/index.ts",
    "lib/late.ts",
  ]);
  expect(item.uncovered).toEqual([]);
});

test("T2: a folder's own files are in its closure, imported or not; its dependencies are as far as they are imported", async () => {
  const item = await closureOf({
    ".pi/extensions/x/index.ts": "import 'used';",
    ".pi/extensions/x/words.txt": "",
    ".pi/extensions/x/.hidden": "",
    ".pi/extensions/x/package.json": "{}",
    ".pi/extensions/x/node_modules/used/package.json": '{ "main": "./lib/main" }',
    ".pi/extensions/x/node_modules/used/lib/main.js": "require('deeper')",
    ".pi/extensions/x/node_modules/used/README.md": "",
    ".pi/extensions/x/node_modules/used/node_modules/deeper/index.js": "",
    ".pi/extensions/x/node_modules/unused/index.js": "",
  });
  const folder = ".pi/extensions/x";
  expect(Object.keys(item.members).sort()).toEqual([
    `${folder}/.hidden`,
    `${folder}/index.ts`,
    `${folder}/node_modules/used/lib/main.js`,
    `${folder}/node_modules/used/node_modules/deeper/index.js`,
    `${folder}/node_modules/used/package.json`,
    `${folder}/package.json`,
    `${folder}/words.txt`,
  ]);
});

test.each<[string, Record<string, string>, string[]]>([
  [
    "exports, by condition",
    {
      [X]: "import 'dep'; import 'dep/sub'; import 'dep/deep/a.js'; import 'dep/hidden.js'; require('both')",
      "node_modules/dep/package.json": JSON.stringify({
        exports: {
          ".": [{ never: "./no.js" }, { import: { node: "./i.js" }, default: "./d.js" }],
          "./sub": { types: "./t.d.ts", require: "./r.js", default: "./s.js" },
          "./deep/*": "./lib/*",
          "./deep/private/*": null,
        },
      }),
      ...Object.fromEntries(["i", "d", "s", "r", "hidden", "lib/a"].map((name) => [`node_modules/dep/${name}.js`, ""])),
      "node_modules/both/package.json": '{ "exports": { "import": "./i.js", "require": "./r.js" } }',
      "node_modules/both/i.js": "",
      "node_modules/both/r.js": "",
    },
    ["both/package.json", "both/r.js", "dep/i.js", "dep/lib/a.js", "dep/package.json", "dep/s.js"],
  ],
  [
    "imports, and the package's own name",
    {
      [X]: "import 'dep'",
      "node_modules/dep/package.json":
        '{ "name": "dep", "imports": { "#a": "./a.js", "#b/*": "./b/*.js", "#c": "c" }, "exports": { ".": "./m.js", "./self": "./self.js" } }',
      "node_modules/dep/m.js": "import '#a'; import '#b/x'; import '#c'; import 'dep/self';",
      "node_modules/dep/a.js": "",
      "node_modules/dep/b/x.js": "",
      "node_modules/dep/self.js": "",
      "node_modules/c/index.js": "",
    },
    ["c/index.js", "dep/a.js", "dep/b/x.js", "dep/m.js", "dep/package.json", "dep/self.js"],
  ],
  [
    "scopes, subpaths without exports, index files, and a file in place of a package",
    {
      [X]: "import '@a/b'; import '@a/b/lib/x'; import 'plain'; import 'ts';",
      "node_modules/@a/b/package.json": '{ "main": "gone.js" }',
      "node_modules/@a/b/index.js": "",
      "node_modules/@a/b/lib/x.js": "",
      "node_modules/plain.js": "",
      "node_modules/ts/index.ts": "",
    },
    ["@a/b/index.js", "@a/b/lib/x.js", "@a/b/package.json", "plain.js", "ts/index.ts"],
  ],
])("T2: packages are looked up as the importer does: %s", async (_what, files, expected) => {
  const item = await closureOf(files);
  expect(Object.keys(item.members).sort()).toEqual([X, ...expected.map((name) => `node_modules/${name}`)].sort());
});

test("T2: links on the way are in the closure with their targets, and what they lead to is at its own place", async () => {
  const item = await closureOf(
    {
      [X]: "import 'core';",
      "packages/core/package.json": '{ "main": "main.ts" }',
      "packages/core/main.ts": "import './more.ts';",
      "packages/core/more.ts": "",
    },
    async (at) => {
      await mkdir(join(at.path, "node_modules"));
      await symlink("../packages/core", join(at.path, "node_modules", "core"));
    },
  );
  expect(item.members).toMatchObject({ "node_modules/core": "link ../packages/core" });
  expect(Object.keys(filesOf(item)).sort()).toEqual([
    X,
    "packages/core/main.ts",
    "packages/core/more.ts",
    "packages/core/package.json",
  ]);
});

test.each([
  [
    "a link that leaves the project",
    "import '../../lib/x.ts';",
    (at: TempProject) => symlink(at.home, join(at.path, "lib")),
  ],
  [
    "a package that is linked to elsewhere",
    "import 'dep';",
    async (at: TempProject) => {
      await mkdir(join(at.path, "node_modules"));
      await symlink(at.home, join(at.path, "node_modules", "dep"));
    },
  ],
  [
    "a chain of links",
    "import './a.ts';",
    async (at: TempProject) => {
      await symlink("b.ts", join(at.path, ".pi/extensions/a.ts"));
      await symlink("../../../home/x.ts", join(at.path, ".pi/extensions/b.ts"));
    },
  ],
])("T5, attack 32: %s is never followed, and refuses what imports through it", async (_what, text, prepare) => {
  const at = await project({ files: { [X]: text } });
  await at.write(join(at.home, "x.ts"), "");
  await at.write(join(at.home, "index.js"), "");
  await prepare(at);
  const plan = await planOf(at);
  expect(verdicts(plan)[`extension:${X}`]).toMatch(
    /^refused: imports .*, which is reached through a link that leaves the project: /,
  );
  expect(plan.opened).toEqual([X]);
});

test("T5: links in a circle lead nowhere", async () => {
  const item = await closureOf({ [X]: "import '../../lib/a.ts';" }, (at) => symlink("lib", join(at.path, "lib")));
  expect(Object.keys(filesOf(item))).toEqual([X]);
});

test("T5: what is imported and is no regular file is not opened", async () => {
  const item = await closureOf({ [X]: "import './pipe.ts'; import './folder.ts'; require('./pipe')" }, async (at) => {
    makePipe(join(at.path, ".pi/extensions/pipe.ts"));
    await mkdir(join(at.path, ".pi/extensions/folder.ts"));
  }).catch((thrown: unknown) => thrown);
  expect(String(item)).toContain("2 extensions");
});

test("what lies outside the project is not covered, and named", async () => {
  const item = await closureOf({
    [X]: "import type { P } from '@pi-agent/kernel';\nimport { Type } from 'typebox';\nimport 'elsewhere';\nimport '../../../near.ts';\nimport 'node:path';",
  });
  expect(item.uncovered).toEqual([
    `elsewhere, from outside the project (${X}:3)`,
    `../../../near.ts, from outside the project (${X}:4)`,
  ]);
  expect(Object.keys(item.members)).toEqual([X]);
});

test("T2: what cannot be determined is named with file and line, once a file, own files first", async () => {
  const item = await closureOf({
    ".pi/extensions/x/index.ts":
      "import { readFile } from 'node:fs/promises';\nimport './b.ts';\nimport 'dep';\nimport(name);\nimport(other);",
    ".pi/extensions/x/b.ts": "import { spawn } from 'node:child_process';",
    ".pi/extensions/x/c.ts": "eval('1')",
    "node_modules/dep/index.js": "require(process.env.X); require('./x.node');",
    "node_modules/dep/x.node": "",
  });
  expect(item.uncovered).toEqual([
    "files that it reads itself (.pi/extensions/x/index.ts:1)",
    "imports with computed names (.pi/extensions/x/index.ts:4)",
    "programs that it starts (.pi/extensions/x/b.ts:1)",
    "code that is made of text (.pi/extensions/x/c.ts:1)",
    "imports with computed names (node_modules/dep/index.js:1)",
    "native code (node_modules/dep/index.js:1)",
  ]);
});

test("T2: where a name is computed, what any of the folder's own files imports is covered too", async () => {
  const files = {
    ".pi/extensions/x/index.ts": "for (const name of ['a', 'b']) await import(`./parts/${name}.ts`);",
    ".pi/extensions/x/parts/a.ts": "import '../../../../lib/a.ts';",
    "lib/a.ts": "",
  };
  expect(Object.keys((await closureOf(files)).members)).toContain("lib/a.ts");
  const plain = await closureOf({ ...files, ".pi/extensions/x/index.ts": "" });
  expect(Object.keys(plain.members)).not.toContain("lib/a.ts");
});

test("T2: no more than 20 lines say what is not covered", async () => {
  const files = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`.pi/extensions/x/f${i}.ts`, "eval('1')"]));
  const imports = Array.from({ length: 30 }, (_, i) => `import './f${i}.ts';`);
  const { uncovered } = await closureOf({ ...files, ".pi/extensions/x/index.ts": imports.join("\n") });
  expect(uncovered).toHaveLength(21);
  expect(uncovered.at(-1)).toBe("and 10 more");
});

test("T2: a file that cannot be read as code counts by its own bytes, and that is told", async () => {
  const item = await closureOf({ [X]: "import './gone'; const a = `", ".pi/extensions/data.bin": "" });
  expect(item.uncovered).toEqual([`imports of a file that is no valid code (${X}:1)`]);
  expect(Object.keys(item.members)).toEqual([X]);
});

test("T2: a folder of more than 2,000 own files counts as far as it is imported, and that is told", async () => {
  const files = { ".pi/extensions/x/index.ts": "import './a.ts';", ".pi/extensions/x/a.ts": "" };
  const item = await closureOf(files, async (at) => {
    for (let i = 0; i <= 2_000; i++) writeFileSync(join(at.path, `.pi/extensions/x/${i}.txt`), "");
  });
  expect(Object.keys(item.members).sort()).toEqual([".pi/extensions/x/a.ts", ".pi/extensions/x/index.ts"]);
  expect(item.uncovered).toEqual(["what else is in its folder, which has more than 2000 files"]);
}, 120_000);

test("T2: of imported files of more than 20 MB the rest is not covered, the same each time", async () => {
  const names = Array.from({ length: 1_000 }, (_, i) => `../../lib/f${i}.json`);
  const at = await project({ files: { [X]: names.map((name) => `import '${name}';`).join("\n"), "lib/f8.json": "" } });
  for (const i of [9, 500, 999]) {
    await at.write(`lib/f${i}.json`, "");
    await truncate(join(at.path, `lib/f${i}.json`), 9 << 20);
  }
  const limits = { ...SCAN_LIMITS, deadlineMs: 60_000 };
  const [first, second] = [extensionOf(await planOf(at, { limits })), extensionOf(await planOf(at, { limits }))];
  expect(Object.keys(first.members).sort()).toEqual([X, "lib/f500.json", "lib/f8.json", "lib/f9.json"]);
  expect(first.digest).toBe(second.digest);
  expect(first.uncovered).toEqual(["what it imports beyond 2000 files or 20 MB, which does not load"]);
});

test("T2: imports in a circle, and a chain of a thousand, are followed to their end", async () => {
  const chain = Object.fromEntries(
    Array.from({ length: 1_000 }, (_, i) => [`lib/f${i}.ts`, `import './f${i + 1}.ts';`]),
  );
  const item = await closureOf({
    ...chain,
    "lib/f1000.ts": "import './f0.ts';\nimport '../.pi/extensions/x.ts';",
    [X]: "import '../../lib/f0.ts';",
  });
  expect(Object.keys(item.members)).toHaveLength(1_002);
});

test("T5: an imported file that is too large is not opened, and refuses what imports it", async () => {
  const at = await project({ files: { [X]: "import './big.json';", ".pi/extensions/big.json": "" } });
  await truncate(join(at.path, ".pi/extensions/big.json"), 21 << 20);
  const plan = await planOf(at, { limits: { ...SCAN_LIMITS, fileBytes: 1 << 20 } });
  expect(verdicts(plan)[`extension:${X}`]).toBeDefined();
  expect(plan.opened).toEqual([X]);
});

test.each<[string, Record<string, string>]>([
  ["absolute", { "x/package.json": '{ "pi": { "extensions": ["/etc/x.ts"] } }' }],
  ["an address", { "x/package.json": '{ "pi": { "extensions": ["file:///etc/x.ts"] } }' }],
  ["a way up", { "x/package.json": '{ "pi": { "extensions": ["../../../x.ts"] } }' }],
  ["encoded", { "x/package.json": '{ "pi": { "extensions": ["%2e%2e/%2e%2e/x.ts"] } }' }],
  ["a backslash", { "x/package.json": '{ "pi": { "extensions": ["..\\\\x.ts"] } }' }],
  ["NUL", { "x/package.json": '{ "pi": { "extensions": ["x.ts\\u0000"] } }' }],
  ["a name", { "x/package.json": '{ "pi": { "extensions": ["dep"] } }' }],
])("T5, attack 32: a manifest path that leads out is refused, with its reason: %s", async (_what, files) => {
  const at = await project({ files: { "repo/.git": "", "x.ts": "", "node_modules/dep/index.js": "" } });
  for (const [name, text] of Object.entries(files)) await at.write(`repo/.pi/extensions/${name}`, text);
  const plan = await planOf(at, { cwd: join(at.path, "repo") });
  expect(plan.items).toMatchObject([{ kind: "extension", verdict: "refused" }]);
  expect(plan.opened).toEqual([".pi/extensions/x/package.json"]);
});

const TREE = {
  ".pi/extensions/x/index.ts": "import './b.ts';\nimport 'dep';\nimport '../../../lib/l.ts';\n",
  ".pi/extensions/x/a.txt": "aab",
  ".pi/extensions/x/b.ts": "b;",
  ".pi/extensions/x/ä.txt": "",
  ".pi/extensions/x/Z.txt": "",
  "node_modules/dep/package.json": '{ "main": "m.js" }',
  "node_modules/dep/m.js": "",
  "node_modules/dep/other.js": "",
  "lib/l.ts": "",
};

test.each<[string, (at: TempProject) => Promise<unknown>]>([
  ["one byte of the entry", (at) => at.write(".pi/extensions/x/index.ts", `${TREE[".pi/extensions/x/index.ts"]} `)],
  ["one byte of a file that is imported from elsewhere", (at) => at.write("lib/l.ts", " ")],
  ["one byte of a dependency", (at) => at.write("node_modules/dep/m.js", " ")],
  [
    "the package.json that says what is loaded",
    (at) => at.write("node_modules/dep/package.json", '{ "main": "other.js" }'),
  ],
  [
    "a byte moved between files that lie side by side",
    async (at) => {
      await at.write(".pi/extensions/x/a.txt", "aa");
      await at.write(".pi/extensions/x/b.ts", "bb;");
    },
  ],
  [
    "a file that got another name",
    (at) => rename(join(at.path, ".pi/extensions/x/a.txt"), join(at.path, ".pi/extensions/x/a2.txt")),
  ],
  ["a new file", (at) => at.write(".pi/extensions/x/new.txt", "")],
  ["an executable bit", (at) => chmod(join(at.path, ".pi/extensions/x/a.txt"), 0o755)],
  [
    "other line ends",
    (at) => at.write(".pi/extensions/x/index.ts", TREE[".pi/extensions/x/index.ts"].replaceAll("\n", "\r\n")),
  ],
  [
    "a link in place of a file of the same content",
    async (at) => {
      await rm(join(at.path, ".pi/extensions/x/ä.txt"));
      await symlink("Z.txt", join(at.path, ".pi/extensions/x/ä.txt"));
    },
  ],
])("T2, attacks 34, 35, 39: %s changes the digest", async (_what, change) => {
  const at = await project({ files: TREE });
  const before = extensionOf(await planOf(at)).digest;
  await change(at);
  expect(extensionOf(await planOf(at)).digest).not.toBe(before);
});

test("T2, attack 39: what a link says is in the digest, wherever it leads", async () => {
  const at = await project({ files: TREE });
  const link = join(at.path, ".pi/extensions/x/link.txt");
  await symlink("a.txt", link);
  const before = extensionOf(await planOf(at)).digest;
  await rm(link);
  await symlink("./a.txt", link);
  expect(extensionOf(await planOf(at)).digest).not.toBe(before);
});

test.each<[string, (at: TempProject) => Promise<unknown>]>([
  ["sources that nothing imports", (at) => at.write("src/main.ts", "changed")],
  ["what a dependency holds beside what is used", (at) => at.write("node_modules/dep/other.js", "changed")],
  ["the project's own package.json", (at) => at.write("package.json", '{ "version": "2" }')],
  ["times", (at) => at.write("lib/l.ts", "")],
  ["permissions that let nobody more execute it", (at) => chmod(join(at.path, "lib/l.ts"), 0o600)],
])("T2: %s change no digest", async (_what, change) => {
  const at = await project({ files: TREE });
  const before = extensionOf(await planOf(at)).digest;
  await change(at);
  expect(extensionOf(await planOf(at)).digest).toBe(before);
});

test("T2, attack 39: the same tree elsewhere has the same digest, in whatever order and language it is listed", async () => {
  const at = await project({ files: TREE });
  const other = await project();
  for (const name of Object.keys(TREE).toReversed())
    await cp(join(at.path, name), join(other.path, name), { recursive: true });
  const [first, second] = [extensionOf(await planOf(at)), extensionOf(await planOf(other))];
  expect(second.digest).toBe(first.digest);
  const compare = vi.spyOn(String.prototype, "localeCompare").mockReturnValue(1);
  onTestFinished(() => compare.mockRestore());
  expect(extensionOf(await planOf(at)).digest).toBe(first.digest);
});

test("attack 34: a skill's scripts are named as what the model may run, and are in its digest", async () => {
  const at = await project({
    files: {
      ".pi/skills/s/SKILL.md": "s",
      ".pi/skills/s/run.sh": "",
      ".pi/skills/s/lib/tool": "#!/bin/sh\n",
      ".pi/skills/s/bare": "",
      ".pi/skills/s/notes.md": "",
    },
  });
  await chmod(join(at.path, ".pi/skills/s/bare"), 0o755);
  const before = (await planOf(at)).items[0];
  expect(before?.mayRun).toEqual([".pi/skills/s/bare", ".pi/skills/s/lib/tool", ".pi/skills/s/run.sh"]);
  await at.write(".pi/skills/s/run.sh", "rm -rf");
  expect((await planOf(at)).items[0]?.digest).not.toBe(before?.digest);
});

test("attack 10: nothing that is looked at is evaluated, in whatever file code may stand", async () => {
  const at = await project();
  const evil = `require("node:fs").writeFileSync(${JSON.stringify(join(at.home, "ran"))}, "x")`;
  const names = ["x.ts", "x.js", "y/index.ts", "y/package.json", "y/jiti.config.js", "y/tsconfig.json", "y/data.json"];
  for (const name of names) await at.write(`.pi/extensions/${name}`, evil);
  await at.write(".pi/extensions/z.ts", "import './x.js'; import 'dep'; export default 1");
  await at.write("node_modules/dep/index.js", evil);
  await at.write(
    ".pi/skills/s/SKILL.md",
    `---\nname: !!js/function ${evil}\n---\n!\`touch ${at.home}/ran\` $(touch ${at.home}/ran)`,
  );
  await at.write(".pi/prompts/p.md", `!\`touch ${at.home}/ran\``);
  await at.write(".pi/settings.json", `{ "theme": "$(touch ${at.home}/ran)" }`);
  await planOf(at);
  expect(existsSync(join(at.home, "ran"))).toBe(false);
});

test.each<[string, Record<string, string>]>([
  [
    "conditions nested 50,000 deep",
    { "node_modules/dep/package.json": `{ "exports": ${'{ "node": '.repeat(50_000)}"./i.js"${" }".repeat(50_001)}` },
  ],
  [
    "exports without end",
    {
      "node_modules/dep/package.json": JSON.stringify({
        exports: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`./${i}/*`, "./*"])),
      }),
    },
  ],
  ["a main that is a long way", { "node_modules/dep/package.json": JSON.stringify({ main: "a/".repeat(100_000) }) }],
  ["no JSON", { "node_modules/dep/package.json": "{ broken" }],
  ["a list", { "node_modules/dep/package.json": "[]" }],
  [
    "odd values",
    { "node_modules/dep/package.json": '{ "main": {}, "exports": 3, "imports": [], "name": null, "type": [] }' },
  ],
  [
    "__proto__",
    {
      "node_modules/dep/package.json":
        '{ "__proto__": { "main": "./i.js" }, "exports": { "__proto__": "./i.js", "constructor": "./i.js" } }',
    },
  ],
  ["a way to a million folders", { [X]: `import "./${"a/".repeat(1_000_000)}";` }],
  [
    "names of all sorts",
    {
      [X]: [
        "",
        " ",
        ".",
        "..",
        "/",
        "@",
        "@/",
        "#",
        "##",
        "%",
        "\\0",
        "file:",
        "file://host/x",
        "a\\nb",
        "\\ud800",
        "node:",
        "node:nothing",
        "data:,",
        "...",
      ]
        .map((name) => `import "${name}";`)
        .join("\n"),
    },
  ],
])("T5, attack 47: %s of a package bring nothing down", async (_what, files) => {
  const at = await project({ files: { [X]: "import 'dep'; import 'dep/x/y';", ...files } });
  expect(verdicts(await planOf(at))[`extension:${X}`]).toBe("held");
});
