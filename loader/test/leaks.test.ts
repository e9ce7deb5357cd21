import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { countHoldings, findLeft } from "../src/leaks.ts";

test("timers, handles and listeners of the process that are more than before are found", async () => {
  const before = countHoldings();
  // The test runner has timers of its own, which may end meanwhile.
  const timers = Array.from({ length: 20 }, () => setInterval(() => {}, 60_000));
  const server = createServer().listen(0);
  const listener = () => {};
  process.on("SIGUSR2", listener).on("SIGUSR2", listener);
  onTestFinished(() => {
    timers.forEach(clearInterval);
    server.close();
    process.off("SIGUSR2", listener).off("SIGUSR2", listener);
  });
  const left = await findLeft(before);
  expect(left.find(({ name }) => name === "timer")?.number).toBeGreaterThan(10);
  expect(left).toEqual(
    expect.arrayContaining([
      { name: "handle of type TCPServerWrap", number: 1 },
      { name: 'listener for "SIGUSR2" of the process', number: 2 },
    ]),
  );
});

test("what ends a moment later is not found, nor what a single operation holds", async () => {
  const before = countHoldings();
  const server = createServer().listen(0);
  setTimeout(() => server.close(), 5);
  setImmediate(() => {});
  expect(await findLeft(before)).toEqual([]);
});
