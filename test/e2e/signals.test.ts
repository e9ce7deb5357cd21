import { availableParallelism, loadavg } from "node:os";
import { assertEventOrder } from "@pi-agent/testing";
import { expect, test } from "vitest";
import { messagesOf, openWorkbench, parseLines, readSessions } from "./workbench.ts";

// What the command promises: gone within a second, on a machine that has not more to do than it can.
const isBusy = loadavg()[0]! > availableParallelism();
const PROMISE_MS = isBusy ? 3_000 : 1_000;

const SIGNALS = [
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const;

for (const [signal, exitCode] of SIGNALS) {
  test(`${signal} in mid stream: gone within a second, exit ${exitCode}, the session is whole, nothing is left`, async () => {
    await using bench = await openWorkbench([
      { text: "many words that never come to their end", hangAfter: 5 },
      { text: "Back." },
    ]);
    const run = bench.ask("Go.");
    const request = await bench.server.waitForRequest(0);
    await request.hanging;
    const sentAt = performance.now();
    run.kill(signal);
    const { code, stdout } = await run.done;
    expect(performance.now() - sentAt).toBeLessThan(PROMISE_MS);
    expect({ code, stdout }).toEqual({ code: exitCode, stdout: "" });
    expect(await request.ended).toBe("left");
    expect(run.leftovers()).toEqual([]);
    const [session] = await readSessions(bench.agentDir);
    expect(messagesOf(session ?? [])[0]).toMatchObject({ role: expect.stringMatching(/user|system/) });
    expect((await bench.ask("Go on.", "-c").done).stdout).toBe("Back.\n");
    expect(bench.server.refusals()).toEqual([]);
  });

  test(`${signal} while a command runs: gone within a second, exit ${exitCode}, no child is left (F077)`, async () => {
    await using bench = await openWorkbench([
      {
        calls: [
          { name: "bash", arguments: { command: "sleep 100 & setsid sleep 100 & sh -c 'sleep 100; true'; wait" } },
        ],
      },
      { text: "Back." },
    ]);
    const run = bench.ask("Go.", "--mode", "json");
    await expect
      .poll(() => run.leftovers().filter(({ command }) => command === "sleep 100"), { timeout: 10_000 })
      .toHaveLength(3);
    const sentAt = performance.now();
    run.kill(signal);
    const { code, stdout } = await run.done;
    expect(performance.now() - sentAt).toBeLessThan(PROMISE_MS);
    expect(code).toBe(exitCode);
    await expect.poll(() => run.leftovers()).toEqual([]);
    assertEventOrder(parseLines(stdout).slice(1), { isWhole: false });
    await readSessions(bench.agentDir);
    expect((await bench.ask("Go on.", "-c").done).stdout).toBe("Back.\n");
    expect(bench.server.refusals()).toEqual([]);
  });
}

const STUBBORN = [
  { calls: [{ name: "bash", arguments: { command: "trap '' INT TERM HUP; while :; do sleep 100; done" } }] },
];

test.for([
  ["SIGINT", 1],
  ["SIGINT, twice,", 2],
] as const)("%s ends a command that ignores signals, and nothing of it is left (F077)", async ([, times]) => {
  await using bench = await openWorkbench(STUBBORN);
  const run = bench.ask("Go.");
  await expect
    .poll(() => run.leftovers().some(({ command }) => command === "sleep 100"), { timeout: 10_000 })
    .toBe(true);
  for (let n = 0; n < times; n++) run.kill("SIGINT");
  expect((await run.done).code).toBe(130);
  await expect.poll(() => run.leftovers()).toEqual([]);
});
