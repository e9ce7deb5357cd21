import { join } from "node:path";
import type { AgentError } from "@pi-agent/kernel";
import { expect, onTestFinished, test } from "vitest";
import { wordExtensionFault } from "../src/problems.ts";
import { loadIn, project } from "./loading.ts";

test("E6: what an extension's load took has its import in it, also once the agent counts on", async () => {
  const source = "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60);\nexport default () => {};";
  const at = await project({ agentFiles: { "extensions/slow.ts": source } });
  const { agent, report } = await loadIn(at);
  expect(report.extensions[0]?.loadMs).toBeGreaterThanOrEqual(59);
  expect(agent.extensions[0]?.loadMs).toBe(report.extensions[0]?.loadMs);
});

test.each([
  ["in its factory", "export default () => { throw new Error('new'); };"],
  ["in its import", "throw new Error('new');"],
])("a new version that fails %s says that the one before goes on", async (_where, source) => {
  const at = await project({ agentFiles: { "extensions/a.ts": "export default () => {};" } });
  const { host, report, agent } = await loadIn(at);
  const faults: string[] = [];
  agent.on("fault", ({ error }) => void faults.push(error.message));
  await at.write(join(at.agentDir, "extensions/a.ts"), source);
  await host.reload();
  expect(report.extensions).toMatchObject([{ state: "kept" }]);
  expect(report.problems).toMatchObject([{ hint: "The version before goes on: mend it there and reload." }]);
  expect(report.problems[0]?.message).toMatch(/a\.ts:1:\d+: new$/);
  expect(faults).toEqual([expect.stringContaining("new")]);
});

test("what reloads leave is told after each of them, with candidates, and with an owner only where there is one", async () => {
  const leaky = "export default () => void process.on('SIGUSR2', () => {});";
  onTestFinished(() => void process.removeAllListeners("SIGUSR2"));
  const at = await project({ agentFiles: { "extensions/leaky.ts": leaky } });
  const { host, agent } = await loadIn(at);
  const told: string[] = [];
  const errors: AgentError[] = [];
  agent.on("extension_error", ({ owner }) => void told.push(owner));
  agent.on("fault", ({ error }) => void errors.push(error as AgentError));
  const leakyPath = join(at.agentDir, "extensions/leaky.ts");
  await host.reload();
  await host.reload();
  expect(told).toEqual([leakyPath, leakyPath]);
  expect(errors[0]).toMatchObject({ code: "reload_leak", owner: leakyPath });
  await at.write(join(at.agentDir, "extensions/other.ts"), "export default () => {};");
  await host.reload();
  await host.reload();
  expect(told.slice(2)).toEqual([leakyPath, "host"]);
  expect(errors[3]?.owner).toBeUndefined();
  expect(errors[3]?.message).toMatch(
    /may have left it, or a new one began it; reloaded were .*leaky\.ts, .*other\.ts\.$/,
  );
});

test("who is asked before the leaf moves has a signal that fires when the agent is disposed of", async () => {
  const { promise: asked, resolve } = Promise.withResolvers<AbortSignal>();
  const fire = (_name: string, { signal }: { signal: AbortSignal }) => {
    resolve(signal);
    return new Promise((done) => signal.addEventListener("abort", () => done({ cancel: true })));
  };
  const at = await project();
  const official = [
    {
      owner: { name: "sessions", scope: "official" as const },
      extension: (pi: { register(kind: string, name: string, value: unknown): void }) =>
        pi.register("service", "sessions", { fire }),
    },
  ];
  const loaded = await loadIn(at, { official: official as never });
  const { agent, host } = loaded;
  const [entry] = agent.append([{ type: "custom", customType: "note", data: {} }]);
  const [last] = agent.append([{ type: "custom", customType: "note", data: {} }]);
  const moving = host.navigateTree(entry!.id);
  const signal = await asked;
  expect(signal.aborted).toBe(false);
  await loaded.dispose();
  expect(signal.aborted).toBe(true);
  expect(await moving).toEqual({ cancelled: true });
  expect(agent.transcript.leafId).toBe(last?.id);
});

test("what is slow during the start is not told as failed", () => {
  const fault = { owner: "mine", error: "Its handler took 40 ms.", code: "hook_slow" };
  expect(wordExtensionFault("turn_end", fault)).toMatchObject({
    message: "mine is slow on turn_end: Its handler took 40 ms.",
    hint: "Do the work elsewhere, or keep what it found.",
  });
});
