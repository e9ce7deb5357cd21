import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, symlinkSync } from "node:fs";
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

const HELLO = fileOf("hello.ts");
const [, COMMAND = ""] = /^pi (-p "Greet Ada\." .*) --verbose$/m.exec(PAGE) ?? [];

/** Types the page's command; `extension` is what follows its `-e`, which is left out without one. */
async function greet(project: TempProject, { extension, more = [] }: { extension?: string; more?: string[] } = {}) {
  await project.write("hello.jsonl", fileOf("hello.jsonl"));
  const command = COMMAND.replace("-e ./hello.ts", extension === undefined ? "" : `-e ${extension}`);
  const args = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word!);
  const { code, stdout, stderr } = await runPi([...args, "--verbose", ...more], {
    cwd: project.path,
    home: project.home,
  }).done;
  return { code, stdout, stderr };
}

const SAID = { code: 0, stdout: "Ada is greeted.\n", stderr: "• greet Ada\n" };

test("the file is the one of the README's example, and does what the page shows, with -e and in its folder", async () => {
  expect(HELLO).toBe(readFileSync(join(ROOT, "docs/examples/hello-extension/src/index.ts"), "utf8"));
  expect(PAGE).toContain(`\`\`\`text\n${SAID.stderr}${SAID.stdout}\`\`\``);
  await using project = await tempProject({ files: { "hello.ts": HELLO } });
  expect(await greet(project, { extension: "./hello.ts" })).toEqual(SAID);
  await using other = await tempProject({ agentFiles: { "extensions/hello.ts": HELLO } });
  expect(await greet(other)).toEqual(SAID);
});

test("a file that is broken is named with its line; one that was asked for ends the start", async () => {
  const broken = HELLO.replace("execute(_id", "exec ute(_id");
  await using project = await tempProject({ files: { "hello.ts": broken } });
  const asked = await greet(project, { extension: "./hello.ts" });
  expect(asked).toMatchObject({ code: 1, stderr: expect.stringContaining("/hello.ts:12:16: Unexpected token, ") });
  await using other = await tempProject({ agentFiles: { "extensions/hello.ts": broken } });
  const { code, stderr } = await greet(other);
  expect(code).toBe(0);
  expect(stderr).toContain("/.pi/agent/extensions/hello.ts:12:16: Unexpected token, ");
  expect(stderr).toContain("  try: Mend it there, then start again.\n");
});

/** The package of the page, with the workspace in place of what it would install. */
async function writePackage(project: TempProject): Promise<string> {
  const folder = join(project.path, "pi-hello");
  for (const name of ["package.json", "tsconfig.json", "tsconfig.build.json", "test/index.test.ts"]) {
    await project.write(join(folder, name), fileOf(name));
  }
  await project.write(join(folder, "src/index.ts"), HELLO);
  await mkdir(join(folder, "node_modules/@pi-agent"), { recursive: true });
  const link = (name: string, target: string) => symlinkSync(join(ROOT, target), join(folder, "node_modules", name));
  link("@pi-agent/kernel", "kernel");
  link("@pi-agent/testing", "test/kit");
  link("typebox", "kernel/node_modules/typebox");
  return folder;
}

test("the package's nine tests pass, and its source loads with -e", async () => {
  await using project = await tempProject();
  const folder = await writePackage(project);
  const { scripts } = JSON.parse(fileOf("package.json")) as { scripts: { test: string } };
  const args = ["--conditions", "@pi-agent/source", ...scripts.test.split(" ").slice(1)];
  const said = execFileSync(process.execPath, args, { cwd: folder, encoding: "utf8", env: { PATH: process.env.PATH } });
  expect(said).toMatch(/pass 9\b/);
  expect(PAGE).toContain("nine tests pass");
  expect(await greet(project, { extension: "./pi-hello/src/index.ts" })).toEqual(SAID);
});

test("what the package holds is found in the folder of extensions, by the settings, and with -e", async () => {
  for (const place of ["extensions/pi-hello", "npm/node_modules/pi-hello"]) {
    const settings = JSON.stringify({ extensions: place.startsWith("npm") ? [place] : [] });
    const files = { [`${place}/package.json`]: fileOf("package.json"), "settings.json": settings };
    await using project = await tempProject({
      agentFiles: { ...files, [`${place}/dist/index.js`]: stripTypeScriptTypes(HELLO) },
    });
    expect(await greet(project), place).toEqual(SAID);
  }
  const files = {
    "pi-hello/package.json": fileOf("package.json"),
    "pi-hello/dist/index.js": stripTypeScriptTypes(HELLO),
  };
  await using project = await tempProject({ files });
  expect(await greet(project, { extension: "./pi-hello/dist/index.js" })).toEqual(SAID);
});

test("with the lines of the page the greeting is a setting, and one that does not fit is told", async () => {
  const [, register = ""] = /^( *pi\.register\("settings".*\n)/m.exec(PAGE) ?? [];
  const [, read = ""] = /^( *const greeting = .*\n)/m.exec(PAGE) ?? [];
  const [, setting = ""] = /`(\{ "hello": .*?\})` in /.exec(PAGE) ?? [];
  const source = HELLO.replace("  pi.registerTool", `${register}  pi.registerTool`)
    .replace("      greetings += 1;\n", `${read}      greetings += 1;\n`)
    .replace("Hello, ${name}", "${greeting}, ${name}");
  for (const [settings, words] of [
    ["{}", "Hello, Ada! That makes 1."],
    [setting, "Good day, Ada! That makes 1."],
    [setting.replace('"Good day"', "7"), "Hello, Ada! That makes 1."],
  ] as const) {
    await using project = await tempProject({
      agentFiles: { "settings.json": settings, "extensions/hello.ts": source },
    });
    const { stdout, stderr } = await greet(project, { more: ["--mode", "json"] });
    expect(stdout).toContain(words);
    expect(stderr.includes('settings.json:1:26: "hello.greeting" does not fit')).toBe(settings.includes("7"));
  }
});

test("a package without the service that it requires is not loaded, and says what to install", async () => {
  const [, requires = ""] = /^"pi": (\{.*"requires".*\})$/m.exec(PAGE) ?? [];
  const manifest = JSON.stringify({ type: "module", pi: JSON.parse(requires) as object });
  await using project = await tempProject({
    files: { "pi-hello/package.json": manifest, "pi-hello/dist/index.js": stripTypeScriptTypes(HELLO) },
  });
  const { code, stderr } = await greet(project, { extension: "./pi-hello" });
  const [, told = ""] = /^error: \/home\/you(\/pi-hello\/.*\n.*\n)/m.exec(PAGE) ?? [];
  expect(code).toBe(1);
  expect(told).not.toBe("");
  expect(stderr).toContain(told);
  expect(await greet(project, { extension: "./pi-hello/dist/index.js" })).toEqual(SAID);
});

test("the command of the page loads a new version of the tool, and the new version of the command says so", async () => {
  const reload = fileOf("~/.pi/agent/extensions/reload.ts");
  await using project = await tempProject({
    agentFiles: { "extensions/hello.ts": HELLO, "extensions/reload.ts": reload },
  });
  const turn = fileOf("hello.jsonl").split("\n").slice(1).join("\n");
  await project.write("twice.jsonl", fileOf("hello.jsonl") + turn);
  for (const [between, count] of [
    [[], 2],
    [["/reload"], 1],
  ] as const) {
    const args = ["-p", "Greet Ada.", ...between, "Again.", "--provider", "cassette", "--cassette", "twice.jsonl"];
    const options = { cwd: project.path, home: project.home };
    const { code, stdout, stderr } = await runPi([...args, "--mode", "json"], options).done;
    expect(code).toBe(0);
    expect(stderr).toBe(count === 1 ? "Everything is loaded anew.\n" : "");
    const greetings = [...stdout.matchAll(/That makes (\d)/g)].map(([, times]) => Number(times));
    expect(Math.max(...greetings)).toBe(count);
  }
});

test("the wall of the page lets the model write below src, and neither write elsewhere nor run anything", async () => {
  const [, wall = ""] = /`only-source\.ts`[^]*?```ts\n([^]*?)```/.exec(PAGE) ?? [];
  const calls = [
    { name: "write", arguments: { path: "src/in.txt", content: "in" } },
    { name: "write", arguments: { path: "src/../out.txt", content: "out" } },
    { name: "bash", arguments: { command: "touch run.txt" } },
    { name: "ls", arguments: {} },
    { name: "greet", arguments: { name: "Ada" } },
  ];
  const cassette = [{ type: "cassette", version: 1 }, { calls }, { text: "Done." }];
  await using project = await tempProject({
    files: { "wall.jsonl": cassette.map((line) => `${JSON.stringify(line)}\n`).join("") },
    agentFiles: { "extensions/only-source.ts": wall, "extensions/hello.ts": HELLO },
  });
  const args = ["-p", "Go.", "--provider", "cassette", "--cassette", "wall.jsonl", "--tools", "write,bash,ls,greet"];
  const run = await runPi([...args, "--mode", "json"], { cwd: project.path, home: project.home }).done;
  const failed = [...run.stdout.matchAll(/^\{"type":"tool_execution_end".*"isError":(true|false)/gm)];
  expect(failed.map(([, isError]) => isError)).toEqual(["false", "true", "true", "false", "true"]);
  const [, told = ""] = /The model reads why: "([^"]*)"/.exec(PAGE.replaceAll("\n", " ")) ?? [];
  expect(run.stdout).toContain(told);
  expect(readdirSync(project.path).toSorted()).toEqual(["src", "wall.jsonl"]);
  expect(readdirSync(join(project.path, "src"))).toEqual(["in.txt"]);
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
