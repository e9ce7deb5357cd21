import { spawn } from "node:child_process";
import { existsSync, openSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { EXIT_CODES } from "../src/exit-codes.ts";
import { finish, startFixture, waitFor } from "./run-node.ts";

async function startReady(scene: string) {
  const child = startFixture("ending.ts", [scene]);
  const finished = finish(child);
  await waitFor(child.stderr, "ready");
  return { child, finished };
}

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)("%s does the last steps, newest first, and ends with %i", async (signal, code) => {
  const { child, finished } = await startReady("wait");
  child.kill(signal);
  const { stderr, ...end } = await finished;
  expect(end).toMatchObject({ code, signal: null });
  expect(stderr.split("\n").slice(1, 4)).toEqual([`aborted: ${signal}`, "last step, first", "first step, last"]);
});

test("a step that hangs does not keep a process that got a signal", async () => {
  const { child, finished } = await startReady("hang");
  child.kill("SIGTERM");
  expect((await finished).code).toBe(EXIT_CODES.SIGTERM);
});

test("a second signal ends at once, while a step still hangs", async () => {
  const { child, finished } = await startReady("hang");
  child.kill("SIGINT");
  await waitFor(child.stderr, "aborted: SIGINT");
  child.kill("SIGTERM");
  expect((await finished).code).toBe(EXIT_CODES.SIGTERM);
});

test("the first SIGINT may be somebody's, the second is not", async () => {
  const { child, finished } = await startReady("interruptible");
  child.kill("SIGINT");
  await waitFor(child.stderr, "interrupted once");
  child.kill("SIGINT");
  expect((await finished).code).toBe(EXIT_CODES.SIGINT);
});

test("a step that fails is told and stops no other", async () => {
  const { code, stderr } = await finish(startFixture("ending.ts", ["throw"]));
  expect(code).toBe(3);
  expect(stderr).toBe("error: a step failed\nfirst step, last\n");
});

test("F142: when the reader is gone, the process ends quietly with 0, its last steps done", async () => {
  const { child, finished } = await startReady("flood");
  child.stdout?.destroy();
  const { code, stderr } = await finished;
  expect(code).toBe(0);
  expect(stderr).toBe("ready\naborted: the reader of the output is gone\nfirst step, last\n");
});

test.skipIf(!existsSync("/dev/full"))("F142: an output that is full is an error in three parts", async () => {
  const fixture = fileURLToPath(new URL("fixtures/ending.ts", import.meta.url));
  const child = spawn(process.execPath, ["--conditions", "@pi-agent/source", fixture, "flood"], {
    stdio: ["ignore", openSync("/dev/full", "w"), "pipe"],
    env: { ...process.env, NO_COLOR: "1" },
  });
  const { code, stderr } = await finish(child);
  expect(code).toBe(EXIT_CODES.failed);
  expect(stderr).toContain("error: The output cannot be written\n  why: ENOSPC");
  expect(stderr).not.toContain("    at ");
});

test("F142: a reader of errors that is gone changes nothing", async () => {
  const child = startFixture("ending.ts", ["drain"]);
  child.stderr?.destroy();
  const { code, stdout } = await finish(child);
  expect(code).toBe(0);
  expect(stdout.length).toBe(1_000_000);
});

test("F143: a slow reader gets everything before the process ends", async () => {
  const child = startFixture("ending.ts", ["drain"]);
  await waitFor(child.stderr, "first step, last");
  const { code, stdout } = await finish(child);
  expect(code).toBe(0);
  expect(stdout.length).toBe(1_000_000);
});

test("K14: what an extension left floating is told with its name, and the run goes on", async () => {
  const { code, stderr } = await finish(startFixture("ending.ts", ["float"]));
  expect(code).toBe(0);
  expect(stderr).toContain("An extension failed where nobody was waiting: @me/careless\n  why: nobody waits for me");
  expect(stderr).toContain("An extension failed where nobody was waiting: @me/careless\n  why: nor for me");
});

test("K14: what is our own fault ends the process, with its stack", async () => {
  const { code, stderr } = await finish(startFixture("ending.ts", ["ours"]));
  expect(code).toBe(EXIT_CODES.failed);
  expect(stderr).toContain("error: our own mistake\n");
  expect(stderr).toContain("fixtures/ending.ts");
});

test("what waits for something that never comes is no success: the process stays until it is interrupted", async () => {
  const child = startFixture("ending.ts", ["never"]);
  const finished = finish(child);
  await waitFor(child.stderr, "still here");
  child.kill("SIGINT");
  expect((await finished).code).toBe(EXIT_CODES.SIGINT);
});

test("who calls process.exit before the answer makes it a failure, told in three parts", async () => {
  const { code, stderr } = await finish(startFixture("ending.ts", ["quit"]));
  expect(code).toBe(EXIT_CODES.failed);
  expect(stderr).toMatch(/^error: The process ended before its answer\n {2}why: .*process\.exit\n {2}try: .*\n$/);
});

test("who calls process.exit during the last steps does not change the exit code", async () => {
  const { code, stderr } = await finish(startFixture("ending.ts", ["quitWhileEnding"]));
  expect([code, stderr]).toEqual([3, ""]);
});
