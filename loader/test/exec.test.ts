import { expect, test } from "vitest";
import { exec } from "../src/exec.ts";
import { project } from "./loading.ts";

const node = process.execPath;
const cwd = process.cwd();

test("a program's output and code come back; its input is empty", async () => {
  const script = `process.stdin.on("data", () => {}).on("end", () => { console.log("out"); console.error("err"); process.exit(3); });`;
  expect(await exec(node, ["-e", script], { cwd })).toEqual({
    stdout: "out\n",
    stderr: "err\n",
    code: 3,
    killed: false,
    truncated: false,
  });
});

test("arguments are data: no shell reads them", async () => {
  const script = "console.log(JSON.stringify(process.argv.slice(1)))";
  const { stdout } = await exec(node, ["-e", script, "$(touch x)", "a b", ";"], { cwd });
  expect(JSON.parse(stdout)).toEqual(["$(touch x)", "a b", ";"]);
});

test("a program that is not there is code 1 with the reason, not a rejection", async () => {
  const { code, stderr } = await exec("/not/there", [], { cwd });
  expect([code, stderr]).toEqual([1, expect.stringContaining("ENOENT")]);
});

test("it runs in the working directory that it is given", async () => {
  const at = await project();
  expect((await exec(node, ["-p", "process.cwd()"], { cwd: at.path })).stdout.trim()).toBe(at.path);
});

test("an abort ends the program, and so does the time that it was given", async () => {
  const hang = ["-e", "setInterval(() => {}, 1000); console.log('up')"];
  expect(await exec(node, hang, { cwd, signal: AbortSignal.timeout(300) })).toMatchObject({ killed: true, code: 143 });
  expect(await exec(node, hang, { cwd, timeout: 300 })).toMatchObject({ killed: true, code: 143 });
  const controller = new AbortController();
  const early = exec(node, hang, { cwd, signal: controller.signal });
  controller.abort();
  expect(await early).toMatchObject({ killed: true, code: 1, stdout: "" });
});

test("output over the limit is cut, and the program ended", async () => {
  const flood = `setInterval(() => process.stdout.write("x".repeat(10_000)), 1)`;
  const result = await exec(node, ["-e", flood], { cwd, maxBuffer: 5_000 });
  expect(result).toMatchObject({ truncated: true, killed: true });
  expect(result.stdout).toHaveLength(5_000);
  expect(result.code).not.toBe(0);
});

test("characters that arrive in two pieces stay whole", async () => {
  const script = `const b = Buffer.from("é"); process.stdout.write(b.subarray(0, 1)); setTimeout(() => process.stdout.write(b.subarray(1)), 30)`;
  expect((await exec(node, ["-e", script], { cwd })).stdout).toBe("é");
});

test("a program that has ended is not waited for because of what it left behind", async () => {
  const script = `const { spawn } = require("node:child_process");
    const left = spawn(process.execPath, ["-e", "setTimeout(() => {}, 60_000)"], { stdio: "inherit", detached: true });
    left.unref();
    console.log(left.pid);`;
  const { code, stdout } = await exec(node, ["-e", script], { cwd });
  // It is still there: nothing waited for it.
  process.kill(Number(stdout), "SIGKILL");
  expect(code).toBe(0);
});
