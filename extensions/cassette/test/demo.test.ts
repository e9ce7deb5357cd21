import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, readFile, rm, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { promisify } from "node:util";
import type { CliIo, Extension, Host } from "@pi-agent/kernel";
import { tempProject } from "@pi-agent/testing";
import { expect, onTestFinished, test, vi } from "vitest";
import sessions from "../../sessions/src/index.ts";
import tools from "../../tools/src/index.ts";
import { diffTexts } from "../src/demo/diff.ts";
import { SAMPLE_PROJECT } from "../src/demo/sample-project.ts";
import { demoTurns } from "../src/demo/script.ts";
import { cassetteAgent } from "./agent.ts";

/** Runs `pi demo` as the command line does, in a home of its own; answers what it printed and its exit code. */
async function runDemo(
  args: string[],
  { extensions = [tools, sessions] as Extension[], signal = new AbortController().signal } = {},
) {
  const project = await tempProject();
  const sessionDir = join(project.home, "sessions");
  const flags = new Map([["session-dir", sessionDir]]);
  const host = { cwd: project.path, flags } as Partial<Host> as Host;
  const agent = cassetteAgent({}, { extensions, host });
  await agent.ready();
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const io: CliIo = { cwd: project.path, stdin: process.stdin, stdout, stderr, signal, agent, host };
  const code = await agent.registry("cli").get("demo")?.value.run(args, io);
  const output = String(stdout.read() ?? "");
  const folder = /^Folder {3}(\S+)/m.exec(output)?.[1];
  onTestFinished(async () => {
    await agent.dispose();
    await project.cleanup();
    if (folder) await rm(dirname(folder), { recursive: true });
  });
  return { code, output, errors: String(stderr.read() ?? ""), folder: folder ?? "", agent, project };
}

test("the demo runs at least five turns with real tools on real files, and mends the project", async () => {
  const { code, output, folder, agent } = await runDemo(["--fast"]);
  expect(output).toMatch(/Turn 1[^]*> bash .*--test[^]*--test: pass 2, fail 1/);
  expect(output).toMatch(
    /> read src\/discount\.js\n[^]*> read test\/basket\.test\.js\n[^]*src\/discount\.js: 10 lines/,
  );
  expect(output).toMatch(/> edit src\/discount\.js[^]*Turn 5[^]*--test: pass 3, fail 0[^]*Turn 6[^]*It is mended/);
  expect(output).toMatch(
    /--- a\/src\/discount\.js\n[^]*- {2}const step = STEPS\.find\([^]*\+ {2}const step = STEPS\.findLast\(/,
  );
  expect(code).toBe(0);
  expect(agent.sessionId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  const results = agent.transcript.project().filter((message) => message.role === "toolResult");
  expect(results.map(({ toolName, isError }) => `${toolName} ${isError}`)).toEqual(
    "bash true,bash false,bash false,read false,read false,read false,edit false,bash false".split(","),
  );
  const rerun = await promisify(execFile)(process.execPath, ["--test"], { cwd: folder });
  expect(rerun.stdout).toMatch(/fail 0/);
});

test("another node that comes first on the path is not run", async () => {
  const other = await tempProject();
  const node = join(other.path, "node");
  await writeFile(node, `#!/bin/sh\ntouch '${other.path}/ran'\n`);
  await chmod(node, 0o755);
  vi.stubEnv("PATH", `${other.path}${delimiter}${process.env.PATH}`);
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await other.cleanup();
  });
  expect(await runDemo(["--fast"])).toMatchObject({ code: 0 });
  expect(existsSync(join(other.path, "ran"))).toBe(false);
});

test("its session is saved where it says, and belongs to the sample project", async () => {
  const { output, folder, agent } = await runDemo(["--fast"]);
  const path = /^Session {2}(\S+)/m.exec(output)?.[1] ?? "";
  const lines = (await readFile(path, "utf8"))
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { id: string; cwd?: string });
  expect(lines[0]?.cwd).toBe(folder);
  expect(lines.slice(1).map(({ id }) => id)).toEqual(agent.transcript.path().map(({ id }) => id));
});

test("without a package that keeps sessions it says that nothing was saved", async () => {
  const { code, output } = await runDemo(["--fast"], { extensions: [tools] });
  expect([code, output]).toEqual([0, expect.stringContaining("Session  kept in memory only")]);
});

test("an interruption ends it with the folder kept, and says so", async () => {
  const { code, output, folder } = await runDemo(["--fast"], { signal: AbortSignal.abort() });
  expect(code).toBe(1);
  expect(output).toMatch(/The demo did not come to its end/);
  expect(existsSync(join(folder, "src/discount.js"))).toBe(true);
});

test("without the tools it says which are missing and which package brings them", async () => {
  const { code, errors } = await runDemo([], { extensions: [] });
  expect([code, errors]).toEqual([1, expect.stringMatching(/needs the tools read, bash, edit[^]*@pi-agent\/tools/)]);
});

test("--help tells its use, and an unknown argument is a usage error", async () => {
  expect(await runDemo(["--help"])).toMatchObject({ code: 0, output: expect.stringContaining("pi demo [--fast]") });
  expect(await runDemo(["--slow"])).toMatchObject({ code: 2, errors: expect.stringContaining("pi demo [--fast]") });
});

test("the sample project really fails before, and the script's edit fits it in one place", async () => {
  const project = await tempProject({ files: SAMPLE_PROJECT });
  onTestFinished(() => project.cleanup());
  const run = promisify(execFile)(process.execPath, ["--test"], { cwd: project.path });
  await expect(run).rejects.toMatchObject({ stdout: expect.stringMatching(/fail 1/) });
  const edits = demoTurns("node")
    .flatMap(({ calls = [] }) => calls)
    .filter(({ name }) => name === "edit");
  expect(edits).toHaveLength(1);
});

test.each([
  ["a\nb\nc\n", "a\nB\nc\n", "@@ -1,4 +1,4 @@\n a\n-b\n+B\n c\n "],
  ["a\n", "a\nb\n", "@@ -1,2 +1,3 @@\n a\n+b\n "],
  ["1\n2\n3\n4\n5\n6\n7\n8\n9", "1\n2\n3\n4\n6\n7\n8\n9", "@@ -2,7 +2,6 @@\n 2\n 3\n 4\n-5\n 6\n 7\n 8"],
  ["x\nx\n", "x\n", "@@ -1,3 +1,2 @@\n x\n-x\n "],
])("the diff of %j and %j is one hunk around what differs", (before, after, hunk) => {
  expect(diffTexts("f", before, after)).toBe(`--- a/f\n+++ b/f\n${hunk}`);
  expect(diffTexts("f", before, before)).toBe("");
});
