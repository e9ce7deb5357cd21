import { closeSync, openSync } from "node:fs";
import { expect, test } from "vitest";
import { listChanges, readProcessState } from "../../src/conformance/process-state.ts";

test("listeners, globals, variables and the working directory are found, and taken back", () => {
  const before = readProcessState();
  const cwd = process.cwd();
  const { queueMicrotask: original } = globalThis;
  process.on("SIGUSR2", () => {});
  process.stdout.once("drain", () => {});
  Object.assign(globalThis, { myGlobal: 1, queueMicrotask: () => {} });
  process.env.MY_VARIABLE = "1";
  process.chdir("/");
  const changes = listChanges(before);
  expect(changes.map(({ what }) => what).sort()).toEqual([
    "a listener of process for SIGUSR2",
    "a listener of process.stdout for drain",
    "the environment variable MY_VARIABLE",
    "the global myGlobal",
    "the global queueMicrotask, which it replaced",
    "the working directory /",
  ]);
  for (const { undo } of changes) undo();
  expect(listChanges(before)).toEqual([]);
  expect([process.cwd(), globalThis.queueMicrotask]).toEqual([cwd, original]);
});

test.skipIf(process.platform !== "linux")("a file that was opened is found until it is closed", () => {
  const before = readProcessState();
  const file = openSync(import.meta.filename, "r");
  expect(listChanges(before).map(({ what }) => what)).toEqual([`the open file ${import.meta.filename}`]);
  closeSync(file);
  expect(listChanges(before)).toEqual([]);
});
