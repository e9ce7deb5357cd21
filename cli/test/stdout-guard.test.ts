import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { turnStdio } from "../src/stdout-guard.ts";
import { finish, startFixture } from "./run-node.ts";

const NOISES = [
  "console.log",
  "console.info",
  "console.debug",
  "console.table",
  "process.stdout",
  "warning",
  "writeSync",
  "writeFileSync",
  "appendFileSync",
  "writevSync",
  "WriteStream",
  "write",
  "spawnSync",
  "execSync",
  "execFileSync",
  "spawn",
  "worker",
];

test("F140: nothing but results reaches a piped standard output, whatever prints, and nothing is lost", async () => {
  const { stdout, stderr } = await finish(startFixture("noisy.ts"));
  expect(stdout).toBe("the result\n");
  expect(NOISES.filter((noise) => !stderr.includes(noise))).toEqual([]);
});

test("F140: the same holds when standard output is a file that others write to as well", () => {
  const folder = mkdtempSync(join(tmpdir(), "pi-guard-"));
  const file = join(folder, "out");
  const target = openSync(file, "w");
  const fixture = fileURLToPath(new URL("fixtures/noisy.ts", import.meta.url));
  const command = '"$0" --conditions @pi-agent/source "$1"; echo after';
  spawnSync("sh", ["-c", command, process.execPath, fixture], { stdio: ["ignore", target, "ignore"] });
  closeSync(target);
  const written = readFileSync(file, "utf8");
  rmSync(folder, { recursive: true });
  expect(written).toBe("the result\nafter\n");
});

test.each([
  ["inherit", ["inherit", 2, "inherit"]],
  ["pipe", "pipe"],
  [undefined, undefined],
  [
    ["ignore", "inherit", "inherit"],
    ["ignore", 2, "inherit"],
  ],
  [
    [0, 1, 1, "ipc"],
    [0, 2, 2, "ipc"],
  ],
] as const)("a child that asks for %j gets %j", (asked, given) => {
  expect(turnStdio(asked as never)).toEqual(given);
});
