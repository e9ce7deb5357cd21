import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Extension } from "@pi-agent/kernel";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ConformanceOptions, type TempProject, tempProject, testExtension } from "../src/index.ts";

const ROOT = join(import.meta.dirname, "../../..");

/** What a package needs so that it is tried well, by its folder. */
const NEEDS: Record<string, ConformanceOptions> = {
  "extensions/tools": {
    files: { "a.txt": "one\ntwo\n", "src/b.txt": "two\n" },
    calls: {
      read: { path: "a.txt" },
      bash: { command: "sleep 30" },
      edit: { path: "a.txt", edits: [{ oldText: "one", newText: "three" }] },
      write: { path: "c.txt", content: "three\n" },
      grep: { pattern: "two" },
      find: { pattern: "**/*.txt" },
    },
  },
  "docs/examples/word-count": { files: { sample: "one two\n" }, calls: { word_count: { paths: ["sample"] } } },
};

const folders = globSync("{extensions,docs/examples}/*/package.json", { cwd: ROOT })
  .filter((path) => {
    const manifest = JSON.parse(readFileSync(join(ROOT, path), "utf8")) as { pi?: { extensions?: string[] } };
    return manifest.pi?.extensions !== undefined;
  })
  .map(dirname)
  .sort();

let home: TempProject;
beforeAll(async () => {
  home = await tempProject();
  process.env.PI_CODING_AGENT_DIR = home.agentDir;
});
afterAll(async () => {
  delete process.env.PI_CODING_AGENT_DIR;
  await home.cleanup();
});

test("the official packages and the examples are found", () => {
  expect(folders).toEqual(expect.arrayContaining(["extensions/tools", "docs/examples/hello-extension"]));
  expect(folders).toEqual(expect.arrayContaining(Object.keys(NEEDS)));
});

for (const folder of folders) {
  const { default: extension } = (await import(join(ROOT, folder, "src/index.ts"))) as { default: Extension };
  describe(folder, () => testExtension(extension, { ...NEEDS[folder], test }));
}
