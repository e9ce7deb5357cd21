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

test("a built-in that was replaced, added to or taken from is found, and taken back", () => {
  const before = readProcessState();
  const { parse } = JSON;
  const { at } = Array.prototype;
  const limit = Error.stackTraceLimit;
  JSON.parse = ((text: string) => parse(text) as unknown) as typeof parse;
  Object.assign(Array.prototype, { second: () => 2 });
  Reflect.deleteProperty(Array.prototype, "at");
  Error.stackTraceLimit = limit + 1;
  const changes = listChanges(before);
  for (const { undo } of changes) undo();
  Error.stackTraceLimit = limit;
  expect(changes.map(({ what }) => what)).toEqual([
    "Array.prototype.at, which it removed",
    "Array.prototype.second, which it added",
    "JSON.parse, which it replaced",
  ]);
  expect([JSON.parse, Array.prototype.at, "second" in Array.prototype]).toEqual([parse, at, false]);
});
