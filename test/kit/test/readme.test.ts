import { execFileSync } from "node:child_process";
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type TempProject, tempProject } from "../src/index.ts";

const README = readFileSync(join(import.meta.dirname, "../README.md"), "utf8");
const SNIPPETS = Array.from(README.matchAll(/```ts\n([^]*?)```/g), ([, code]) => code!);
const HELLO = `export default (pi) => {
  pi.registerTool({ name: "greet", description: "Greets.", parameters: { type: "object" }, execute: async () => ({ content: [] }) });
};`;

async function withHello(): Promise<TempProject> {
  const project = await tempProject({ files: { "package.json": '{"type":"module"}', "index.ts": HELLO } });
  symlinkSync(join(import.meta.dirname, "../node_modules"), join(project.path, "node_modules"));
  // The kit by its own name, as an author has it.
  await project.write("loader.mjs", LOADER);
  return project;
}

const KIT = JSON.stringify(new URL("../src/index.ts", import.meta.url).href);
const LOADER = `import { registerHooks } from "node:module";
registerHooks({ resolve: (name, context, next) => next(name === "@pi-agent/testing" ? ${KIT} : name, context) });`;

function runNode(project: TempProject, file: string): string {
  const flags = ["--conditions", "@pi-agent/source", "--import", "./loader.mjs", "--test-reporter=tap"];
  return execFileSync(process.execPath, [...flags, file], { cwd: project.path, encoding: "utf8" });
}

test("the first snippet registers eight tests that pass", async () => {
  await using project = await withHello();
  await project.write("first.ts", SNIPPETS[0]!);
  expect(runNode(project, "first.ts")).toMatch(/# pass 8\n# fail 0/);
});

test("the other snippets run one after the other", async () => {
  await using project = await withHello();
  const imports =
    'import assert from "node:assert";\nimport { testExtension } from "@pi-agent/testing";\nimport hello from "./index.ts";\n';
  await project.write("others.ts", `${imports}${SNIPPETS.slice(1).join("\n")}\nassert.equal(answer, "Done.");\n`);
  expect(runNode(project, "others.ts")).toBe("");
});
