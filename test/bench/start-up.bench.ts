/**
 * Start-up of the whole command, which is felt at every call: `--version` next to a Node that does nothing, and
 * `-p hello` next to the bare loop, both against the same server on loopback.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PI_BIN } from "@pi-agent/testing/house";
import { modelsJson, startWireServer } from "@pi-agent/testing/wire";
import { compareProcesses } from "./processes.ts";
import type { Ratio } from "./run.ts";

export async function run(): Promise<Ratio[]> {
  const server = await startWireServer({ script: () => ({ text: "Hello." }) });
  const home = mkdtempSync(join(tmpdir(), "pi-bench-"));
  const work = join(home, "work");
  const agentDir = join(home, ".pi", "agent");
  try {
    mkdirSync(agentDir, { recursive: true });
    mkdirSync(work);
    writeFileSync(join(agentDir, "models.json"), JSON.stringify(modelsJson(server.url)));
    const env = { PATH: process.env.PATH, HOME: home, PI_OFFLINE: "1" };
    const pi = (...args: string[]) => ({ args: [PI_BIN, ...args], env, cwd: work });
    const bare = (...args: string[]) => ({ args, env, cwd: work });
    const loop = join(import.meta.dirname, "bare-loop.js");
    return [
      { what: "version", ratio: await compareProcesses(pi("--version"), bare("-e", "0")), limit: 1.5 },
      {
        what: "hello",
        ratio: await compareProcesses(
          pi("-p", "--model", "wire-chat/scripted", "hello"),
          bare(loop, `${server.url}/v1`),
        ),
        limit: 2.5,
      },
    ];
  } finally {
    await server.close();
    rmSync(home, { recursive: true, force: true });
  }
}
