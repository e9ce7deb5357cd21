import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync } from "node:fs";
import { text as readText } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { streamSink } from "../src/sink.ts";

const PROGRAM = fileURLToPath(new URL("logging-program.ts", import.meta.url));

/** Starts a program that logs to a stream; it runs three prompts when its input ends, and prints what came of it. */
function start(target: "stdout" | "stderr", to: "pipe" | number) {
  const stdio: ("pipe" | number)[] = ["pipe", "pipe", "pipe"];
  stdio[target === "stdout" ? 1 : 2] = to;
  const args = ["--conditions", "@pi-agent/source", PROGRAM, target];
  const child = spawn(process.execPath, args, { stdio });
  return { child, code: new Promise((resolve) => child.once("close", resolve)) };
}

const WHOLE = { answers: ["done", "done", "done"], told: 1 };

test.for(["stderr", "stdout"] as const)(
  "a reader of %s that goes away is told once, and the runs go on",
  async (target) => {
    const { child, code } = start(target, "pipe");
    const [gone, report] = target === "stdout" ? [child.stdout, child.stderr] : [child.stderr, child.stdout];
    gone!.destroy();
    child.stdin!.end();
    expect(JSON.parse((await readText(report!)).trim())).toEqual(WHOLE);
    expect(await code).toBe(0);
  },
);

test.skipIf(!existsSync("/dev/full"))("a full disk behind stderr is told once, and the runs go on", async () => {
  const full = openSync("/dev/full", "w");
  const { child, code } = start("stderr", full);
  closeSync(full);
  child.stdin!.end();
  expect(JSON.parse((await readText(child.stdout!)).trim())).toEqual(WHOLE);
  expect(await code).toBe(0);
});

test("a stream that throws is told once, and what it did not take is counted", async () => {
  const told: string[] = [];
  const broken = {
    write() {
      throw new Error("gone");
    },
  };
  const sink = streamSink(broken, (error) => told.push(error.message));
  for (const line of ["1\n", "2\n", "3\n"]) sink.write(line);
  expect(await sink.close()).toBe(3);
  expect(told).toEqual(["gone"]);
});
