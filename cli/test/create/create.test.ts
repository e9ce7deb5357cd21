import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { runCreate } from "../../src/commands/create.ts";
import { findNewNameFault, rename, toNames } from "../../src/create/names.ts";
import type { Output } from "../../src/stdout-guard.ts";

/** Runs `pi create` in an empty folder, or in one that is given. */
async function create(args: readonly string[], cwd = emptyFolder()) {
  let said = "";
  let told = "";
  const stderr = vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    told += String(text);
    return true;
  });
  const output = { write: (text: string) => void (said += text) } as Pick<Output, "write"> as Output;
  try {
    const code = await runCreate(args, { host: { cwd, flags: new Map() } as never, output });
    return { code, cwd, said, told };
  } finally {
    stderr.mockRestore();
  }
}

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "pi-create-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

function filesOf(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((each) => each.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .toSorted();
}

test.each([
  [
    "extension",
    "pi-hello",
    [".gitignore", "README.md", "package.json", "src/index.ts", "test/index.test.ts", "tsconfig.json"],
  ],
  ["skill", "notes", [".gitignore", "README.md", "package.json", "skills/notes/SKILL.md", "test/skills.test.js"]],
  [
    "agent",
    "@acme/reviewer",
    [
      ".gitignore",
      "README.md",
      "agent.json",
      "bin.js",
      "package.json",
      "prompt.md",
      "test/agent.test.ts",
      "tools/count-words.ts",
      "tsconfig.json",
    ],
  ],
])(
  "P9: pi create %s %s makes a folder of its name, in which no name of the template is left",
  async (kind, name, files) => {
    const { code, cwd, said } = await create([kind, name]);
    const { bare } = toNames(name);
    expect(code).toBe(0);
    expect(readdirSync(cwd)).toEqual([bare]);
    expect(filesOf(join(cwd, bare))).toEqual(files);
    expect(said).toMatch(
      new RegExp(`^Created the ${kind} ${name} in ${bare}\n  \\.gitignore\n[^]*Next:\n  cd ${bare}\n`),
    );
    const texts = files.map((file) => readFileSync(join(cwd, bare, file), "utf8")).join("\n");
    expect(texts).not.toMatch(/\bmy-?(extension|skill|agent)\b/i);
    expect(JSON.parse(readFileSync(join(cwd, bare, "package.json"), "utf8"))).toMatchObject({ name });
  },
);

test("P9: the program of an agent may be run, and goes by the name without a scope", async () => {
  const { cwd } = await create(["agent", "@acme/reviewer"]);
  expect(statSync(join(cwd, "reviewer/bin.js")).mode & 0o111).toBe(0o111);
  const { bin } = JSON.parse(readFileSync(join(cwd, "reviewer/package.json"), "utf8")) as { bin: object };
  expect(bin).toEqual({ reviewer: "bin.js" });
});

test("P9: a folder may be named; one that is there and empty is filled, and stays the same folder", async () => {
  const { cwd } = await create(["skill", "notes", "deep/down"]);
  expect(filesOf(join(cwd, "deep/down"))).toContain("skills/notes/SKILL.md");
  const here = emptyFolder();
  const { ino } = statSync(here);
  expect((await create(["skill", "notes", "."], here)).said).toMatch(/ in \.\n[^]*Next:\n {2}npm test\n/);
  expect(statSync(here).ino).toBe(ino);
  expect(filesOf(here)).toContain("skills/notes/SKILL.md");
});

test("P9: what is there is never written over, and nothing is left where it cannot be made", async () => {
  const cwd = emptyFolder();
  mkdirSync(join(cwd, "full"));
  writeFileSync(join(cwd, "full/mine.txt"), "mine");
  writeFileSync(join(cwd, "file"), "mine");
  const before = filesOf(cwd);
  for (const folder of ["full", "file", "file/below"]) {
    const code = folder === "file/below" ? "create_failed" : "create_refused";
    await expect(create(["skill", "notes", folder], cwd), folder).rejects.toMatchObject({ code });
  }
  expect(filesOf(cwd)).toEqual(before);
});

test.each([
  "",
  ".",
  "..",
  "../up",
  "a/b/c",
  "/abs",
  "Caps",
  "tab\there",
  "eye\u202E",
  "node_modules",
  "con",
  "fs",
  "x".repeat(215),
  "@scope",
])("P9, P10: %j is no name, and nothing is written", async (name) => {
  for (const kind of ["extension", "skill", "agent"]) {
    const { code, cwd, said, told } = await create([kind, name]);
    expect([code, said, readdirSync(cwd)]).toEqual([2, "", []]);
    expect(told).toMatch(/^error: pi create cannot be done like this\n {2}why: the name .*\n {2}try: pi create --help/);
  }
});

test.each([
  [["extension", "-rf"], "it does not take -rf"],
  [["extension", "x", "--folder=y"], "it does not take --folder"],
  [["extension", "x", "y", "z"], "it takes 3 words at most"],
  [["skil", "x"], "it creates an extension, a skill or an agent"],
  [[], "it takes what to create"],
  [["skill", "a_b"], "the name is no name of a skill"],
])("P10: pi create %j is wrong usage", async (args, why) => {
  const { code, cwd, told } = await create(args);
  expect([code, readdirSync(cwd)]).toEqual([2, []]);
  expect(told).toContain(`why: ${why}`);
});

test("what becomes an identifier is one, whatever the name", () => {
  const toCode = (name: string) => rename("myExtension", "extension", toNames(name));
  expect(["class", "pi-x", "3d", "a.b~c", "@s/up-to-3"].map(toCode)).toEqual([
    "classExtension",
    "piXExtension",
    "_3dExtension",
    "aBCExtension",
    "upTo3Extension",
  ]);
  expect(findNewNameFault("a.b~c", "extension")).toBeUndefined();
});

test("templates ask for the versions that there are", () => {
  const root = new URL("../../../", import.meta.url);
  const read = (path: string) => readFileSync(new URL(path, root), "utf8");
  const { version } = JSON.parse(read("cli/package.json")) as { version: string };
  const typebox = /^ {2}typebox: (.*)$/m.exec(read("pnpm-workspace.yaml"))?.[1];
  for (const kind of ["extension", "agent"]) {
    const manifest = JSON.parse(read(`cli/templates/${kind}/package.json`)) as Record<string, Record<string, string>>;
    const asked = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.peerDependencies };
    for (const [name, range] of Object.entries(asked)) {
      if (name.startsWith("@pi-agent/")) expect(range, name).toBe(`^${version}`);
    }
    expect(asked.typebox).toBe(`^${typebox}`);
  }
});
