import { spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync, Visitor } from "oxc-parser";
import { afterAll, expect, test } from "vitest";
import { finish } from "../run-node.ts";

const PI = fileURLToPath(new URL("../../bin/pi.js", import.meta.url));
const OLD_NODE = fileURLToPath(new URL("../fixtures/old-node.cjs", import.meta.url));
const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));

const root = mkdtempSync(join(tmpdir(), "pi-bin-"));
afterAll(() => rmSync(root, { recursive: true }));

/** Runs the command in a home of its own; its temp folder is there too. */
function runPi(args: string[], env: NodeJS.ProcessEnv = {}, nodeArgs: string[] = [], cwd?: string) {
  const home = mkdtempSync(join(root, "home-"));
  const own = { PATH: process.env.PATH, HOME: home, TMPDIR: home, ...env };
  return finish(spawn(process.execPath, [...nodeArgs, PI, ...args], { env: own, cwd })).then((end) => ({
    ...end,
    home,
  }));
}

test.each(["--version", "-v"])("%s is answered without anything being loaded or written", async (flag) => {
  const { code, stdout, stderr, home } = await runPi([flag]);
  expect([code, stdout, stderr]).toEqual([0, `${version}\n`, ""]);
  expect(readdirSync(home)).toEqual([]);
});

test("a Node that is too old gets one line: which it is, which is needed, where to get it", async () => {
  const { code, stdout, stderr } = await runPi(["--version"], {}, ["--require", OLD_NODE]);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toBe("pi needs Node 22.22.2 or newer; this is Node 20.19.1. Get it from https://nodejs.org\n");
});

test("the door is written so that Node 6 can read it", () => {
  const source = readFileSync(PI, "utf8");
  const { program, errors } = parseSync("pi.cjs", source, { sourceType: "script" });
  expect(errors).toEqual([]);
  const modern: string[] = [];
  const note = (node: { type: string }) => void modern.push(node.type);
  new Visitor({
    AwaitExpression: note,
    ImportExpression: note,
    ChainExpression: note,
    ClassDeclaration: note,
    ObjectExpression: (node) => node.properties.filter((each) => each.type === "SpreadElement").forEach(note),
    ObjectPattern: (node) => node.properties.filter((each) => each.type === "RestElement").forEach(note),
    CatchClause: (node) => node.param ?? note(node),
    LogicalExpression: (node) => node.operator === "??" && note(node),
    BinaryExpression: (node) => node.operator === "**" && note(node),
    AssignmentExpression: (node) => /^(\*\*|&&|\|\||\?\?)=$/.test(node.operator) && note(node),
    FunctionDeclaration: (node) => node.async && note(node),
    ArrowFunctionExpression: (node) => node.async && note(node),
  }).visit(program);
  expect(modern).toEqual([]);
  expect(source).not.toMatch(/,\s*\)/);
  expect(source).not.toMatch(/\d_\d|\dn\b/);
});

test("compiled code is kept in the agent directory, for this account alone", async () => {
  const { home } = await runPi(["--help"]);
  expect(existsSync(join(home, ".pi", "agent", "cache", "compile"))).toBe(true);
});

test.each(["NODE_COMPILE_CACHE", "NODE_DISABLE_COMPILE_CACHE"])("%s is left in charge", async (name) => {
  const { home } = await runPi(["--help"], { [name]: name === "NODE_COMPILE_CACHE" ? join(root, "own") : "1" });
  expect(existsSync(join(home, ".pi"))).toBe(false);
});

test("an agent directory that cannot be made does not keep the command from starting", async () => {
  const file = join(root, "a-file");
  writeFileSync(file, "");
  const { code, signal, home } = await runPi(["--help"], { PI_CODING_AGENT_DIR: join(file, "below") });
  expect([code, signal]).not.toEqual([null, "SIGKILL"]);
  expect(readdirSync(home).filter((name) => name.startsWith("pi-compile-"))).toHaveLength(1);
});

test.skipIf(process.platform === "win32")("a cache that others may write to is not used", async () => {
  const agentDir = join(root, "shared");
  const folder = join(agentDir, "cache", "compile");
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o777);
  const { home } = await runPi(["--help"], { PI_CODING_AGENT_DIR: agentDir });
  expect(readdirSync(folder)).toEqual([]);
  expect(readdirSync(home).filter((name) => name.startsWith("pi-compile-"))).toHaveLength(1);
});

test.each([
  ["in the working directory", "plain", "plain/agent"],
  ["that is the working directory", "plain", "plain"],
  ["in a checkout around the working directory", "checkout/below", "checkout/agent"],
  ["in the working directory by a link", "plain", "link"],
])("compiled code is neither read nor kept in an agent directory %s", async (_, cwd, agentDir) => {
  const here = mkdtempSync(join(root, "project-"));
  for (const name of ["plain/agent", "checkout/.git", "checkout/below"])
    mkdirSync(join(here, name), { recursive: true });
  symlinkSync(join(here, "plain"), join(here, "link"), "junction");
  const { home } = await runPi(["--help"], { PI_CODING_AGENT_DIR: join(here, agentDir) }, [], join(here, cwd));
  expect(existsSync(join(here, agentDir, "cache"))).toBe(false);
  expect(readdirSync(home).filter((name) => name.startsWith("pi-compile-"))).toHaveLength(1);
});

test("a temp folder in the working directory keeps no compiled code either", async () => {
  const here = mkdtempSync(join(root, "project-"));
  await runPi(["--help"], { PI_CODING_AGENT_DIR: here, TMPDIR: here }, [], here);
  expect(readdirSync(here)).toEqual([]);
});

test("what a launcher puts into NODE_PATH is not found any more once the command runs", async () => {
  const hidden = join(root, "hidden-packages");
  mkdirSync(join(hidden, "hidden"), { recursive: true });
  writeFileSync(join(hidden, "hidden", "index.js"), "");
  const look = `const look = () => { try { return require.resolve("hidden") && "found"; } catch (e) { return e.code; } };
    const before = look();
    require(${JSON.stringify(PI)}).run(["--help"]);
    console.error("looked", before, look(), process.env.NODE_PATH);`;
  const env = { PATH: process.env.PATH, HOME: root, TMPDIR: root, NODE_PATH: hidden };
  const { stderr } = await finish(spawn(process.execPath, ["-e", look], { env, cwd: root }));
  expect(stderr).toContain("looked found MODULE_NOT_FOUND undefined\n");
});
