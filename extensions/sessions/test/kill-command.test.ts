import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { tempProject } from "@pi-agent/testing";
import { PI_BIN } from "@pi-agent/testing/house";
import { modelsJson, startWireServer } from "@pi-agent/testing/wire";
import { expect, test } from "vitest";
import { readSession } from "../src/read.ts";

const KILLS = process.env.SOAK ? 500 : 4;
// A session is gone on with this often, then another one is begun.
const KILLS_PER_SESSION = 20;
const TURNS = 8;
const MARK = /mark-\d+-/g;
const SEED = Number(process.env.SEED ?? 20_260_105);

/** Numbers from 0 to 1, the same for each run of a seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A model that reads the same file over and over, and marks each of its answers. */
async function startMarker(heard: () => void) {
  let marks = 0;
  let turn = 0;
  return startWireServer({
    script: () => {
      heard();
      const text = `mark-${marks++}-`;
      turn = (turn + 1) % (TURNS + 1);
      return turn === 0 ? { text } : { text, calls: [{ name: "read", arguments: { path: "file.txt" } }] };
    },
  });
}

test(`S2 kill -9 of the whole command, ${KILLS} times at random moments, half of them with a request under way or answered (seed ${SEED}): each session opens, holds all that was reported as written, and goes on`, async () => {
  const random = randomOf(SEED);
  let heard = () => {};
  const server = await startMarker(() => heard());
  await using project = await tempProject({
    files: { "file.txt": "line\n".repeat(500) },
    agentFiles: { "models.json": JSON.stringify(modelsJson(server.url)) },
  });
  const { path: cwd, home, agentDir } = project;
  const env = { PATH: process.env.PATH, HOME: home, PI_CODING_AGENT_DIR: agentDir, PI_OFFLINE: "1" };
  const start = (file: string, words: string) =>
    spawn(process.execPath, [PI_BIN, "-p", "--session", file, "--model", "wire-chat/scripted", words], {
      cwd,
      env: { ...env, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
      stdio: ["ignore", "ignore", "pipe"],
    });
  const fileOf = (n: number) => join(home, `s-${Math.floor(n / KILLS_PER_SESSION)}.jsonl`);

  try {
    const startedAt = performance.now();
    let firstMs = Number.POSITIVE_INFINITY;
    heard = () => (firstMs = Math.min(firstMs, performance.now() - startedAt));
    expect(await once(start(join(home, "whole.jsonl"), "mark-first-"), "close")).toEqual([0, null]);
    const workMs = performance.now() - startedAt - firstMs;
    let sent = 0;
    for (let n = 0; n < KILLS; n++) {
      const from = server.requests.length;
      const running = start(fileOf(n), `prompt ${n}`);
      const kill = (afterMs: number) => (timer ??= setTimeout(() => running.kill("SIGKILL"), afterMs));
      let timer: NodeJS.Timeout | undefined;
      const at = random();
      // While it starts, or while it works: that begins with its first request.
      heard = () => kill(at * workMs);
      if (n % 2 === 1) kill(at * firstMs);
      await once(running, "close");
      clearTimeout(timer);
      if (server.requests.length > from) sent++;
      // What was sent to the model was reported as written.
      const last = JSON.stringify(server.requests.slice(from).at(-1)?.body ?? "");
      const entries = last.includes(`prompt ${n}`) ? readSession(fileOf(n))!.entries : [];
      const kept = JSON.stringify(entries);
      if (last !== '""') expect(kept).toContain(`prompt ${n}`);
      expect((last.match(MARK) ?? []).filter((mark) => !kept.includes(mark))).toEqual([]);
    }
    expect(sent).toBeGreaterThanOrEqual(KILLS / 2);
    heard = () => {};
    for (let n = 0; n < KILLS; n += KILLS_PER_SESSION) {
      const before = existsSync(fileOf(n)) ? JSON.stringify(readSession(fileOf(n))!.entries) : "";
      const last = start(fileOf(n), "go on");
      let stderr = "";
      last.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
      const [code] = (await once(last, "close")) as [number];
      expect({ code, stderr }).toMatchObject({ code: 0 });
      const { entries, problems } = readSession(fileOf(n))!;
      const after = JSON.stringify(entries);
      expect((before.match(MARK) ?? []).filter((mark) => !after.includes(mark))).toEqual([]);
      expect(problems.filter(({ kind }) => kind !== "torn" && kind !== "unreadable")).toEqual([]);
    }
    expect(server.refusals()).toEqual([]);
  } finally {
    await server.close();
  }
}, 1_800_000);
