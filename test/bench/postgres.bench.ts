/**
 * What recording in PostgreSQL costs the agents: twenty of them in one process with a model that takes 100 ms, with the
 * package and without it, turn about; embedded, and on a server that the benchmark starts.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NO_SERVER, startServer, type TestServer } from "../../extensions/postgres/test/server.ts";
import type { RecordedFigures, RecordedOrder } from "./drivers/recorded-turns.ts";
import { interleave, median, medianRatio, runNode } from "./processes.ts";
import type { Ratio } from "./run.ts";

const DRIVER = join(import.meta.dirname, "drivers", "recorded-turns.ts");
const ORDER = { agents: 20, turns: 50, latencyMs: 100 };
const ROUNDS = 3;
// Of the main thread, for each turn.
const MOST_US = 150;
const MOST_WALL = 1.05;

export async function run(): Promise<Ratio[]> {
  const agentDir = await mkdtemp(join(tmpdir(), "pi-agent-bench-"));
  const server = NO_SERVER ? undefined : await startServer();
  try {
    return [
      ...(await compare("embedded", { PI_CODING_AGENT_DIR: join(agentDir, "embedded") })),
      ...(server ? await compare("server", await envFor(server, join(agentDir, "server"))) : []),
    ];
  } finally {
    await server?.stop();
    await rm(agentDir, { recursive: true, force: true });
  }
}

async function envFor(server: TestServer, agentDir: string) {
  return { PI_CODING_AGENT_DIR: agentDir, DATABASE_URL: await server.freshDatabase() };
}

async function compare(name: string, env: Record<string, string>): Promise<Ratio[]> {
  // The first use makes the database, which is seconds of work on another thread.
  await play({ ...ORDER, turns: 100, isRecorded: true }, env);
  const { recorded, bare } = await interleave(
    {
      recorded: () => play({ ...ORDER, isRecorded: true }, env),
      bare: () => play({ ...ORDER, isRecorded: false }, env),
    },
    { runs: ROUNDS },
  );
  const addedUs = median(recorded.map(({ turnUs }, round) => turnUs - bare[round]!.turnUs));
  return [
    { what: `main-thread-us-per-turn-postgres-${name}/${MOST_US}`, ratio: addedUs / MOST_US, limit: 1 },
    {
      what: `wall-of-20-agents-postgres-${name}/without`,
      ratio: medianRatio(recorded, bare, "wallMs"),
      limit: MOST_WALL,
    },
  ];
}

async function play(order: RecordedOrder, env: Record<string, string>): Promise<RecordedFigures> {
  const args = ["--conditions", "@pi-agent/source", DRIVER, JSON.stringify(order)];
  const { stdout } = await runNode({ args, env: { PATH: process.env.PATH, ...env } });
  return JSON.parse(stdout) as RecordedFigures;
}
