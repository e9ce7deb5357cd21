import { createAgent } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { fakeClock, scriptedProvider } from "../src/index.ts";

test("timers fire in their order when time is moved, and what they resolve runs between them", async () => {
  using clock = fakeClock();
  const seen: string[] = [];
  setTimeout(() => {
    void Promise.resolve().then(() => seen.push("promise of the first"));
    setTimeout(() => seen.push("second"), 1_000);
  }, 1_000);
  setInterval(() => seen.push("interval"), 1_500);
  await clock.advance(2_000);
  expect(seen).toEqual(["promise of the first", "interval", "second"]);
});

test("Date and performance.now move with it, from the present date, and not by themselves", async () => {
  const before = Date.now();
  using clock = fakeClock();
  const [date, time] = [Date.now(), performance.now()];
  expect(date - before).toBeLessThan(60_000);
  await new Promise((resolve) => setImmediate(resolve));
  expect([Date.now(), performance.now()]).toEqual([date, time]);
  await clock.advance(86_400_000);
  expect([Date.now() - date, performance.now() - time]).toEqual([86_400_000, 86_400_000]);
});

test("restore brings the real time back, once or twice", () => {
  const real = setTimeout;
  const clock = fakeClock();
  expect(setTimeout).not.toBe(real);
  clock.restore();
  clock.restore();
  expect(setTimeout).toBe(real);
});

test("K13: a listener that hangs is given up after 5 s, without anybody waiting for them", async () => {
  const agent = createAgent({ extensions: [scriptedProvider([{ text: "Done." }])] });
  await agent.ready();
  const codes: string[] = [];
  agent.on("extension_error", ({ code }) => void codes.push(code));
  agent.on("turn_start", () => new Promise<never>(() => {}));
  using clock = fakeClock();
  const run = agent.run("Go.");
  await clock.advance(4_800);
  expect(codes).toEqual([]);
  await clock.advance(400);
  expect(codes).toEqual(["hook_late"]);
  expect((await run).answer).toBe("Done.");
  await agent.dispose();
});

test("K9: a tool that does not listen to an abort is given up after the grace period", async () => {
  const agent = createAgent({
    extensions: [
      scriptedProvider([{ calls: [{ name: "sleep", arguments: {} }] }]),
      (pi) =>
        void pi.registerTool({
          name: "sleep",
          description: "Sleeps.",
          parameters: { type: "object" },
          execute: () => new Promise<never>(() => {}),
        }),
    ],
    graceMs: 60_000,
  });
  await agent.ready();
  const started = new Promise<void>((resolve) => {
    agent.on("tool_execution_start", () => resolve());
  });
  const run = agent.run("Sleep.");
  await started;
  using clock = fakeClock();
  const aborted = agent.abort();
  await clock.advance(60_000);
  await aborted;
  expect((await run).outcome).toBe("aborted");
  await agent.dispose();
});
