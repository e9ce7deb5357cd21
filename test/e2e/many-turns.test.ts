import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Script } from "@pi-agent/testing";
import { expect, test } from "vitest";
import { openWorkbench } from "./workbench.ts";

const TURNS = process.env.SOAK ? 500 : 40;
const TOOLS_A_TURN = 4;
const PARALLEL_TOOLS = 200;
// What the compiled code and the transcript itself may still need in the last quarter of the turns.
const GROWTH_MB = 40;
const TIMEOUT_MS = process.env.SOAK ? 600_000 : 60_000;

interface Sample {
  rss: number;
  listeners: number[];
}

// Counts, once a turn, what listens to the run's signal, to the process and to standard input.
const WATCH = `import { getEventListeners } from "node:events";
import { appendFileSync } from "node:fs";
export default (pi) => {
  pi.registerTool({ name: "quick", description: "Is quick.", effect: "read", parameters: { type: "object", properties: {} },
    execute: async (_id, _args, signal) => { await new Promise((go) => setImmediate(go)); signal.throwIfAborted();
      return { content: [{ type: "text", text: "ok" }] }; } });
  pi.on("turn_end", (_event, ctx) => {
    const names = ["exit", "SIGINT", "SIGTERM", "unhandledRejection", "uncaughtException", "warning"];
    const listeners = [getEventListeners(ctx.signal, "abort").length, process.stdin.listenerCount("data"),
      process.stdout.listenerCount("drain"), ...names.map((name) => process.listenerCount(name))];
    appendFileSync("samples", JSON.stringify({ rss: process.memoryUsage().rss, listeners }) + "\\n");
  });
};
`;

/** What the collector leaves: between its rounds memory goes up and down. */
function findLowest(samples: readonly Sample[]): number {
  return Math.min(...samples.map(({ rss }) => rss));
}

async function runTurns(turns: number, toolsATurn: number): Promise<{ stderr: string; samples: Sample[] }> {
  const calls = Array.from({ length: toolsATurn }, () => ({ name: "quick", arguments: {} }));
  const script: Script = [...Array.from({ length: turns }, () => ({ calls })), { text: "Done." }];
  await using bench = await openWorkbench(script, { agentFiles: { "extensions/watch.ts": WATCH } });
  const run = bench.pi(["-p", "Go.", "--model", "wire-chat/scripted"], {
    timeoutMs: TIMEOUT_MS,
    env: { NODE_OPTIONS: "--trace-warnings" },
  });
  const { code, stdout, stderr } = await run.done;
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Done.\n" });
  const lines = (await readFile(join(bench.path, "samples"), "utf8")).trimEnd().split("\n");
  expect(lines).toHaveLength(turns + 1);
  return { stderr, samples: lines.map((line) => JSON.parse(line) as Sample) };
}

test(
  `F137: ${TURNS} turns of ${TOOLS_A_TURN} tools warn of nothing, add no listener, and stay flat in memory`,
  async () => {
    const { stderr, samples } = await runTurns(TURNS, TOOLS_A_TURN);
    expect(stderr).toBe("");
    expect(new Set(samples.slice(1).map(({ listeners }) => listeners.join()))).toHaveLength(1);
    const [third, last] = [samples.slice(TURNS / 2, (TURNS * 3) / 4), samples.slice((TURNS * 3) / 4)];
    expect((findLowest(last) - findLowest(third)) / 2 ** 20).toBeLessThan(GROWTH_MB);
  },
  TIMEOUT_MS,
);

test(
  `F137: ${PARALLEL_TOOLS} tools side by side warn of nothing, and leave no listener behind`,
  async () => {
    const { stderr, samples } = await runTurns(3, PARALLEL_TOOLS);
    expect(stderr).toBe("");
    expect(new Set(samples.slice(1).map(({ listeners }) => listeners.join()))).toHaveLength(1);
  },
  TIMEOUT_MS,
);
