/** 1,000 reloads of 20 extensions: what is in memory afterwards, what keeps the process open, and who still listens. */
import { join } from "node:path";
import { tempProject } from "@pi-agent/testing";
import type { ReloadFigures } from "./drivers/reloads.ts";
import { runNode } from "./processes.ts";
import type { Ratio } from "./run.ts";

const EXTENSIONS = 20;
const RELOADS = 1_000;

export async function run(): Promise<Ratio[]> {
  const numbers = Array.from({ length: EXTENSIONS }, (_, index) => index);
  await using project = await tempProject({
    agentFiles: Object.fromEntries(numbers.map((index) => [`extensions/bench-${index}.ts`, describeExtension(index)])),
  });
  const driver = join(import.meta.dirname, "drivers", "reloads.ts");
  const { stdout } = await runNode({
    args: ["--expose-gc", "--conditions", "@pi-agent/source", driver, String(RELOADS)],
    cwd: project.path,
    env: { PATH: process.env.PATH, HOME: project.home, PI_OFFLINE: "1" },
  });
  const { heap, resources, listeners, loaded } = JSON.parse(stdout) as ReloadFigures;
  if (loaded !== EXTENSIONS * (RELOADS + 1)) throw new Error(`Extensions were loaded ${loaded} times.`);
  return [
    { what: "heap-bytes-last/first-hundred-of-1000-reloads", ratio: heap.last / heap.first, limit: 1.1 },
    { what: "active-resources-last/first-of-1000-reloads", ratio: unlike(resources), limit: 1 },
    { what: "listeners-last/first-of-1000-reloads", ratio: unlike(listeners), limit: 1 },
  ];
}

/** 1 when both are equal; above 1 whichever is larger. */
function unlike({ first, last }: { first: number; last: number }): number {
  return Math.max(first / last, last / first);
}

/** A small real extension: types, a listener, a tool, a command, and a timer that it takes back. */
function describeExtension(index: number): string {
  return `import type { ExtensionAPI } from "@pi-agent/kernel";

interface State {
  turns: number;
}

const { bench } = globalThis as unknown as { bench: { loaded: number; told: number } };

export default function (pi: ExtensionAPI): void {
  const state: State = { turns: 0 };
  pi.on("turn_end", () => void state.turns++);
  bench.loaded++;
  pi.on("session_info_changed", () => void bench.told++);
  pi.registerCommand("bench-${index}", { description: "Tells the turns", handler: (_args, ctx) => ctx.ui.notify(String(state.turns)) });
  pi.registerTool({
    name: "bench_${index}",
    description: "Does nothing.",
    parameters: { type: "object", properties: {} },
    execute: async () => ({ content: [] }),
  });
  const timer = setInterval(() => {}, 60_000);
  pi.onDispose(() => clearInterval(timer));
}
`;
}
