import { execFileSync } from "node:child_process";
import { readFileSync, symlinkSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runPi } from "../../test/kit/src/house.ts";
import { type TempProject, tempProject } from "../../test/kit/src/index.ts";

const ROOT = join(import.meta.dirname, "../..");
const PAGE = readFileSync(join(ROOT, "docs/write-an-extension.md"), "utf8");

/** The block that follows the first mention of a file at the beginning or the end of a line with a colon. */
function fileOf(name: string): string {
  const lead = PAGE.split("\n").findIndex((line) => line.startsWith(`\`${name}\``) || line.endsWith(`\`${name}\`:`));
  return /```\w+\n([^]*?)```/.exec(PAGE.split("\n").slice(lead).join("\n"))?.[1] ?? "";
}

const HELLO = fileOf("~/.pi/agent/extensions/hello.ts");
const [, COMMAND = ""] = /^pi (-p "Greet Ada\." .*) --verbose$/m.exec(PAGE) ?? [];

async function greet(project: TempProject, ...more: string[]) {
  await project.write("hello.jsonl", fileOf("hello.jsonl"));
  const args = [...COMMAND.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word!);
  const { code, stdout, stderr } = await runPi([...args, "--verbose", ...more], {
    cwd: project.path,
    home: project.home,
  }).done;
  return { code, stdout, stderr };
}

const SAID = { code: 0, stdout: "Ada is greeted.\n", stderr: "• greet Ada\n" };

test("the file is the one of the README's example, and does what the page shows", async () => {
  expect(HELLO).toBe(readFileSync(join(ROOT, "docs/examples/hello-extension/src/index.ts"), "utf8"));
  expect(PAGE).toContain(`\`\`\`text\n${SAID.stderr}${SAID.stdout}\`\`\``);
  await using project = await tempProject({ agentFiles: { "extensions/hello.ts": HELLO } });
  expect(await greet(project)).toEqual(SAID);
});

test("a file that is broken is named with its line, and everything else goes on", async () => {
  const broken = HELLO.replace("execute(_id", "exec ute(_id");
  await using project = await tempProject({ agentFiles: { "extensions/hello.ts": broken } });
  const { code, stderr } = await greet(project);
  expect(code).toBe(0);
  expect(stderr).toContain("/.pi/agent/extensions/hello.ts:12:16: Unexpected token, ");
  expect(stderr).toContain("  try: Mend it there, then start again.\n");
});

/** The package of the page, with the workspace in place of what it would install. */
async function writePackage(project: TempProject): Promise<string> {
  const folder = join(project.path, "pi-hello");
  for (const name of ["package.json", "tsconfig.json", "test/index.test.ts"]) {
    await project.write(join(folder, name), fileOf(name));
  }
  await project.write(join(folder, "src/index.ts"), HELLO);
  await mkdir(join(folder, "node_modules/@pi-agent"), { recursive: true });
  const link = (name: string, target: string) => symlinkSync(join(ROOT, target), join(folder, "node_modules", name));
  link("@pi-agent/kernel", "kernel");
  link("@pi-agent/cassette", "extensions/cassette");
  link("typebox", "kernel/node_modules/typebox");
  return folder;
}

test("the package's test passes, and its source loads with -e", async () => {
  await using project = await tempProject();
  const folder = await writePackage(project);
  const args = ["--conditions", "@pi-agent/source", "--test"];
  const said = execFileSync(process.execPath, args, { cwd: folder, encoding: "utf8", env: { PATH: process.env.PATH } });
  expect(said).toMatch(/pass 1\b/);
  expect(await greet(project, "-e", "./pi-hello/src/index.ts")).toEqual(SAID);
});

test("what the package holds is found in the folder of extensions, and by the settings", async () => {
  for (const place of ["extensions/pi-hello", "npm/node_modules/pi-hello"]) {
    const settings = JSON.stringify({ extensions: place.startsWith("npm") ? [place] : [] });
    const files = { [`${place}/package.json`]: fileOf("package.json"), "settings.json": settings };
    await using project = await tempProject({
      agentFiles: { ...files, [`${place}/dist/index.js`]: stripTypeScriptTypes(HELLO) },
    });
    expect(await greet(project), place).toEqual(SAID);
  }
});

test("the samples of the page are those that there are, each one file of at most sixty lines", async () => {
  const samples = [...PAGE.matchAll(/\(examples\/([\w-]+)\/(src\/\w+\.ts)\)/g)];
  const listed = samples.map(([, name]) => name!);
  const folders = execFileSync("ls", [join(ROOT, "docs/examples")], { encoding: "utf8" })
    .trim()
    .split("\n");
  expect([...listed, "hello-extension"].toSorted()).toEqual(folders);
  for (const [, name, file] of samples) {
    const source = readFileSync(join(ROOT, "docs/examples", name!, file!), "utf8");
    expect(source.trimEnd().split("\n").length, name).toBeLessThanOrEqual(60);
    if (name !== "custom-agent") expect(source, name).not.toMatch(/^import (?!type )[^;]*"@pi-agent\//m);
  }
});
