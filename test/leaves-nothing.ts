/** Test files share a process, one after the other: each leaves it as it was, or fails. */
import { afterAll, beforeAll, expect } from "vitest";

function look() {
  const names = ["setTimeout", "setInterval", "setImmediate", "Date", "fetch"];
  return {
    env: { ...process.env },
    cwd: process.cwd(),
    globals: names.map((name) => Reflect.get(globalThis, name) as unknown),
    write: [process.stdout, process.stderr].map((stream) => Reflect.get(stream, "write") as unknown),
  };
}

let before: ReturnType<typeof look>;
beforeAll(() => {
  before = look();
});
afterAll(() => expect(look(), "what the file left behind").toEqual(before));
