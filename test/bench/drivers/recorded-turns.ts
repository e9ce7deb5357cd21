/**
 * Lets agents take turns side by side, with a model that takes its time, and tells what they cost:
 * `node recorded-turns.ts '{"isRecorded": …}'`. What is recorded goes where the environment says. Prints figures as JSON.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Agent, type AssistantMessage, createAgent, type Extension, type ExtensionAPI } from "@pi-agent/kernel";
import postgres from "@pi-agent/postgres";

export interface RecordedOrder {
  isRecorded: boolean;
  agents: number;
  turns: number;
  /** Until the model answers. */
  latencyMs: number;
}

/** `turnUs`: the main thread's own processor time for a turn of one agent. */
export type RecordedFigures = Record<"wallMs" | "turnUs", number>;

// Enough, with twenty agents, for the compiler of hot code to have settled.
const WARM_UP_TURNS = 150;
// About what a call with a small file in its result comes to.
const RESULT = "The quick brown fox jumps over the lazy dog.\n".repeat(40);
const USAGE = { input: 1_000, output: 100, cacheRead: 0, cacheWrite: 0, totalTokens: 1_100 };
const MODEL = {
  id: "m",
  name: "m",
  provider: "p",
  api: "a",
  reasoning: false,
  input: ["text" as const],
  contextWindow: 1e9,
  maxTokens: 1e5,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
};

const order = JSON.parse(process.argv[2]!) as RecordedOrder;
const { agents, turns, latencyMs } = order;
await leave(await take({ turns: WARM_UP_TURNS, latencyMs: 0 }));
const cpuBefore = process.threadCpuUsage();
const startedAt = performance.now();
const taken = await take({ turns, latencyMs });
const wallMs = performance.now() - startedAt;
const { user, system } = process.threadCpuUsage(cpuBefore);
await leave(taken);
console.log(JSON.stringify({ wallMs, turnUs: (user + system) / (agents * turns) } satisfies RecordedFigures));

async function leave(all: readonly Agent[]): Promise<void> {
  await Promise.all(all.map((agent) => agent.dispose()));
}

async function take(plan: { turns: number; latencyMs: number }): Promise<Agent[]> {
  const all = Array.from({ length: agents }, () =>
    createAgent({ model: MODEL, extensions: [play(plan), ...(order.isRecorded ? [postgres as Extension] : [])] }),
  );
  await Promise.all(all.map((agent) => agent.dispatch("session_start", { reason: "startup" })));
  const results = await Promise.all(all.map((agent) => agent.run("go")));
  if (results.some(({ outcome }) => outcome !== "done")) throw new Error("A run did not come to its end.");
  return all;
}

function play(plan: { turns: number; latencyMs: number }): Extension {
  return (pi: ExtensionAPI) => {
    let turn = 0;
    pi.register("api", "a", {
      async *stream() {
        if (plan.latencyMs > 0) await sleep(plan.latencyMs);
        const isLast = ++turn >= plan.turns;
        const message: AssistantMessage = {
          role: "assistant",
          content: isLast
            ? [{ type: "text", text: "done" }]
            : [{ type: "toolCall", id: `call_${turn}`, name: "read", arguments: { path: `src/file-${turn}.ts` } }],
          api: "a",
          provider: "p",
          model: "m",
          timestamp: Date.now(),
          stopReason: isLast ? "stop" : "toolUse",
          usage: { ...USAGE, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } },
        };
        yield [{ type: "start", partial: message }];
        yield [{ type: "done", reason: isLast ? "stop" : "toolUse", message }];
      },
    });
    pi.registerProvider({ id: "p", api: "a", models: [MODEL], env: [] });
    pi.registerTool({
      name: "read",
      description: "Reads a file.",
      effect: "read",
      parameters: { type: "object", properties: { path: { type: "string" } } } as never,
      execute: async () => ({ content: [{ type: "text", text: RESULT }] }),
    });
  };
}
