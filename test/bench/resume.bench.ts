/**
 * Continuing a long session, next to the bare loop: both whole processes, turn about, against a server that takes any
 * request and answers at once. Each run begins with the same file.
 */
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TempProject, tempProject } from "@pi-agent/testing";
import { PI_BIN } from "@pi-agent/testing/house";
import { modelsJson } from "@pi-agent/testing/wire";
import { interleave, medianRatio, runNode } from "./processes.ts";
import type { Ratio } from "./run.ts";
import { writeSession } from "./session-files.ts";

const PROBE = join(import.meta.dirname, "drivers", "memory-probe.js");
const BARE = join(import.meta.dirname, "drivers", "bare-resume.js");
const LAST_WORDS = "That is all.";
const SESSIONS = [
  { what: "resume-10000", entries: 10_000, isCompacted: false },
  { what: "resume-50000", entries: 50_000, isCompacted: false },
  { what: "resume-50000-compacted", entries: 50_000, isCompacted: true },
];
const RUNS = 7;

export async function run(): Promise<Ratio[]> {
  const server = await startServer();
  const kept = mkdtempSync(join(tmpdir(), "pi-bench-"));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await using project = await tempProject({ agentFiles: { "models.json": JSON.stringify(roomy(url)) } });
  try {
    const ratios: Ratio[] = [];
    for (const { what, ...session } of SESSIONS) {
      const source = join(kept, `${what}.jsonl`);
      writeSession(source, { id: "s-1", cwd: project.path, ...session });
      const { ours, bare } = await measure(project, { source, url });
      ratios.push({ what, ratio: medianRatio(ours, bare, "ms"), limit: 1.5 });
      ratios.push({ what: `${what}-memory`, ratio: medianRatio(ours, bare, "mb"), limit: 1.2 });
    }
    return ratios;
  } finally {
    server.closeAllConnections();
    server.close();
    rmSync(kept, { recursive: true, force: true });
  }
}

function measure(project: TempProject, { source, url }: { source: string; url: string }) {
  const file = join(project.home, "session.jsonl");
  const memory = join(project.home, "memory.txt");
  const env = { PATH: process.env.PATH, HOME: project.home, PI_OFFLINE: "1", PI_BENCH_MEMORY_FILE: memory };
  const play = async (args: string[]) => {
    copyFileSync(source, file);
    const { ms, stdout } = await runNode({ args: ["--import", PROBE, ...args], cwd: project.path, env });
    if (!stdout.includes(LAST_WORDS)) throw new Error(`The answer did not arrive: ${stdout}`);
    return { ms, mb: Number(readFileSync(memory, "utf8")) };
  };
  return interleave(
    {
      ours: () => play([PI_BIN, "-p", "--session", file, "--model", "wire-chat/scripted", "hello"]),
      bare: () => play([BARE, `${url}/v1`, file]),
    },
    { runs: RUNS, warmUps: 1 },
  );
}

/** Models that no session fills: compacting one must not be part of a figure. */
function roomy(url: string): object {
  const models = JSON.parse(JSON.stringify(modelsJson(url)), (key, value: unknown) =>
    key === "contextWindow" ? 1_000_000_000 : value,
  ) as object;
  return models;
}

async function startServer(): Promise<Server> {
  const chunk = (delta: object, finish_reason: string | null) =>
    `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "scripted", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const answer = `${chunk({ role: "assistant", content: LAST_WORDS }, null)}${chunk({}, "stop")}data: [DONE]\n\n`;
  const server = createServer((request, response) => {
    request.resume();
    request.once("end", () => response.writeHead(200, { "content-type": "text/event-stream" }).end(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}
