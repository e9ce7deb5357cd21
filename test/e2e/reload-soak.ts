/**
 * Reloads extensions many times in a process of its own, and prints what the process holds, as JSON.
 *
 *   node --expose-gc --conditions @pi-agent/source reload-soak.ts <home> <project> <reloads>
 */
import { load } from "@pi-agent/loader";

const [home = "", cwd = "", reloads = "1"] = process.argv.slice(2);
const number = Number(reloads);
const samples: object[] = [];
const problems: string[] = [];

const loaded = await load({ cwd, env: { ...process.env, HOME: home }, flags: { approve: true } });
const { agent, host } = loaded;
agent.on("extension_error", ({ error }) => void problems.push(error));
await agent.dispatch("session_start", { reason: "startup" });
for (let i = 1; i <= number; i++) {
  await host.reload();
  // The first third fills caches that are bounded.
  if (i === Math.ceil(number / 3) || i === number) samples.push(await measure());
}
await loaded.dispose();
process.stdout.write(JSON.stringify({ samples, problems, tools: agent.registry("tool").size }));

async function measure(): Promise<object> {
  for (let i = 0; i < 4; i++) {
    await new Promise(setImmediate);
    globalThis.gc?.();
  }
  const listeners = process.eventNames().map((event) => process.listenerCount(event));
  return {
    heapBytes: process.memoryUsage().heapUsed,
    resources: process.getActiveResourcesInfo().toSorted(),
    listeners: listeners.reduce((sum, each) => sum + each, 0),
  };
}
