import { afterEach, beforeEach, expect, test } from "vitest";
import { childProcessesOf, type RunPiOptions, runPi } from "../src/house.ts";
import { type TempProject, tempProject } from "../src/index.ts";

let project: TempProject;
beforeEach(async () => {
  project = await tempProject();
});
afterEach(() => project.cleanup());

/** Runs a script in place of the built command. */
async function run(source: string, options: Partial<RunPiOptions> = {}, args: string[] = []) {
  const bin = await project.write("bin.mjs", source);
  return runPi(args, { cwd: project.path, home: project.home, bin, ...options });
}

test("output, exit code and arguments come back; only what is named is inherited", async () => {
  const child = await run(
    "console.log(JSON.stringify([process.argv.slice(2), Object.keys(process.env).sort(), process.cwd()])); console.error('said'); process.exitCode = 3",
    { env: { EXTRA: "1" } },
    ["-p", "hi there"],
  );
  const { code, signal, stdout, stderr } = await child.done;
  expect(JSON.parse(stdout)).toEqual([
    ["-p", "hi there"],
    ["EXTRA", "HOME", "LANG", "NODE_COMPILE_CACHE", "PATH", "PI_TEST_RUN", "TMPDIR"],
    project.path,
  ]);
  expect({ code, signal, stderr }).toEqual({ code: 3, signal: null, stderr: "said\n" });
});

const COPY = "process.stdin.pipe(process.stdout)";

test("stdin is sent and closed, is empty when left out, and stays open when held", async () => {
  expect((await (await run(COPY, { stdin: "sent" })).done).stdout).toBe("sent");
  expect((await (await run(COPY)).done).stdout).toBe("");
  const held = await run(COPY, { holdStdin: true });
  held.stdin?.write("later");
  await held.waitForStdout("later");
  held.stdin?.end();
  expect((await held.done).stdout).toBe("later");
});

test("output can be waited for, and waiting fails when it can no longer come", async () => {
  const child = await run("setTimeout(() => console.error('ready (1)'), 20)");
  expect((await child.waitForStderr(/ready \((\d)\)/))[1]).toBe("1");
  await expect(child.waitForStdout("ready (1)")).rejects.toThrow("stdout ended without ready (1)");
  await child.done;
});

test("a signal is told, and what hides in a session of its own is found and can be killed", async () => {
  const abort = new AbortController();
  const child = await run(
    `import { spawn } from "node:child_process";
     spawn("sleep", ["100"]);
     spawn("setsid", ["sh", "-c", "sleep 100 & sleep 100"], { detached: true });
     setInterval(() => {}, 1000);
     console.log("started");`,
    { signal: abort.signal },
  );
  await child.waitForStdout("started");
  await expect.poll(() => child.leftovers().filter(({ command }) => command === "sleep 100")).toHaveLength(3);
  expect(childProcessesOf(child.pid).map(({ command }) => command)).toContain("sleep 100");
  abort.abort();
  expect((await child.done).signal).toBe("SIGKILL");
  await expect.poll(() => child.leftovers()).toEqual([]);
});

test("what outlives its parent is a leftover", async () => {
  const child = await run(
    `import { spawn } from "node:child_process";
     spawn("sleep", ["100"], { detached: true, stdio: "ignore" }).unref();`,
  );
  await child.done;
  expect(child.leftovers().map(({ command }) => command)).toEqual(["sleep 100"]);
  expect(child.reap().map(({ command }) => command)).toEqual(["sleep 100"]);
  await expect.poll(() => child.leftovers()).toEqual([]);
});

test("a run that takes too long is killed and fails with what it said", async () => {
  const child = await run("console.log('still here'); setInterval(() => {}, 1000)", { timeoutMs: 500 });
  await expect(child.done).rejects.toThrow(/did not end within 500 ms.\nstdout:\nstill here/);
  expect(child.leftovers()).toEqual([]);
});

test("standard output can be closed in the middle", async () => {
  const child = await run(
    "process.stdout.on('error', (error) => process.exit(error.code === 'EPIPE' ? 0 : 9)); setInterval(() => console.log('x'.repeat(1000)), 1)",
  );
  await child.waitForStdout("x");
  child.closeStdout();
  expect((await child.done).code).toBe(0);
});
