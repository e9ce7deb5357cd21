import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { findContents, RESOURCE_LISTS } from "../../src/packages/contents.ts";
import { temporaryFolder } from "./folders.ts";

test("P15: without a list in its manifest a package is what its folders hold, prompts and themes at any depth", async () => {
  const contents = await contentsOf({
    "package.json": { name: "p" },
    "extensions/one.ts": "",
    "extensions/two/index.ts": "",
    "extensions/two/inner.ts": "",
    "skills/s/SKILL.md": "",
    "prompts/a.md": "",
    "prompts/deep/er/b.md": "",
    "themes/dark.json": "{}",
    "lib/other.ts": "",
  });
  expect(contents).toEqual({
    extensions: ["extensions/one.ts", "extensions/two/index.ts"],
    skills: ["skills/s/SKILL.md"],
    prompts: ["prompts/a.md", "prompts/deep/er/b.md"],
    themes: ["themes/dark.json"],
  });
});

test("P15: one list in its manifest makes the rest of it nothing, and globs and exclusions count", async () => {
  const pi = { extensions: ["./src/*.ts", "!src/b.ts", "-src/c.ts", "./more"] };
  const contents = await contentsOf({
    "package.json": { name: "p", pi },
    "src/a.ts": "",
    "src/b.ts": "",
    "src/c.ts": "",
    "more/index.ts": "",
    "skills/s/SKILL.md": "",
  });
  expect(contents).toEqual({ extensions: ["more/index.ts", "src/a.ts"], skills: [], prompts: [], themes: [] });
});

test("an index.ts alone is one extension, and what it requires comes along", async () => {
  const root = await folderOf({
    "package.json": { pi: { requires: { sessions: "@pi-agent/sessions" } } },
    "index.ts": "",
  });
  expect(await findContents(root)).toMatchObject({
    extensions: [{ path: "index.ts", requires: { sessions: "@pi-agent/sessions" } }],
  });
});

test("a manifest that is no JSON is told as refused", async () => {
  const root = await folderOf({ "package.json": "{" });
  expect(await findContents(root)).toMatchObject({ refused: [{ path: "package.json" }] });
});

async function contentsOf(files: Record<string, unknown>): Promise<Record<string, string[]>> {
  const contents = await findContents(await folderOf(files));
  expect(contents.refused).toEqual([]);
  return Object.fromEntries(RESOURCE_LISTS.map((list) => [list, contents[list].map(({ path }) => path)]));
}

async function folderOf(files: Record<string, unknown>): Promise<string> {
  const root = await temporaryFolder();
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), typeof content === "string" ? content : JSON.stringify(content));
  }
  return root;
}
