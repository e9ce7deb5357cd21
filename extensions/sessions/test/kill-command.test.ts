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

/** A model that reads the same file over and over, and marks each of its answers. */
async function startMarker() {
  let marks = 0;
  let turn = 0;
  return startWireServer({
    script: () => {
      const text = `mark-${marks++}-`;
      turn = (turn + 1) % (TURNS + 1);
      return turn === 0 ? { text } : { text, calls: [{ name: "read", arguments: { path: "file.txt" } }] };
    },
  });
}

test(`S2 kill -9 of the whole command, ${KILLS} times at random moments: each session opens, holds all that was reported as written, and goes on`, async () => {
  const server = await startMarker();
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
    expect(await once(start(join(home, "whole.jsonl"), "mark-first-"), "close")).toEqual([0, null]);
    const wholeMs = performance.now() - startedAt;
    for (let n = 0; n < KILLS; n++) {
      const from = server.requests.length;
      const running = start(fileOf(n), `prompt ${n}`);
      const timer = setTimeout(() => running.kill("SIGKILL"), Math.random() * wholeMs);
      await once(running, "close");
      clearTimeout(timer);
      // What was sent to the model was reported as written.
      const last = JSON.stringify(server.requests.slice(from).at(-1)?.body ?? "");
      const entries = last.includes(`prompt ${n}`) ? readSession(fileOf(n))!.entries : [];
      const kept = JSON.stringify(entries);
      if (last !== '""') expect(kept).toContain(`prompt ${n}`);
      expect((last.match(MARK) ?? []).filter((mark) => !kept.includes(mark))).toEqual([]);
    }
    for (let n = 0; n < KILLS; n += KILLS_PER_SESSION) {
      const before = existsSync(fileOf(n)) ? JSON.stringify(readSession(fileOf(n))!.entries) : "";
      const [code] = (await once(start(fileOf(n), "go on"), "close")) as [number];
      expect(code).toBe(0);
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
