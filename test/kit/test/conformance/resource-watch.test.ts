import { mkdtempSync, rmSync, watch as watchFile } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { ResourceWatch } from "../../src/conformance/resource-watch.ts";

const QUIET_MS = 20;

test("what goes on by itself is found with the line that made it, also when it was made later", async () => {
  using watch = new ResourceWatch();
  const folder = mkdtempSync(join(tmpdir(), "pi-agent-test-"));
  await watch.run(async () => {
    await Promise.resolve();
    setInterval(() => {}, 1_000).unref();
    createServer().listen(0, "127.0.0.1");
    watchFile(folder, () => {});
  });
  const live = await watch.settle(QUIET_MS);
  expect(live.map(({ type }) => type).sort()).toEqual(["FSEVENTWRAP", "TCPSERVERWRAP", "Timeout"]);
  for (const { origin } of live) expect(origin).toMatch(/resource-watch\.test\.ts:\d+/);
  rmSync(folder, { recursive: true });
});

test("what ended is not found, nor what was made outside, nor what only node can end", async () => {
  using watch = new ResourceWatch();
  const outside = setInterval(() => {}, 1_000);
  await watch.run(async () => {
    clearInterval(setInterval(() => {}, 1_000));
    await new Promise((resolve) => setTimeout(resolve, 1));
    AbortSignal.timeout(60_000);
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    await new Promise((resolve) => server.close(resolve));
  });
  expect(await watch.settle(QUIET_MS)).toEqual([]);
  clearInterval(outside);
});

test("what is left is ended with the watch", async () => {
  const watch = new ResourceWatch();
  const worker = watch.run(() => new Worker("setInterval(() => {}, 1000)", { eval: true }));
  let ticks = 0;
  watch.run(() => setInterval(() => ticks++, 1));
  await new Promise((resolve) => worker.once("online", resolve));
  watch[Symbol.dispose]();
  const before = ticks;
  await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  expect(ticks).toBe(before);
  await worker.terminate();
});
