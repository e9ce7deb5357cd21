/** D2: an agent that is killed at any moment has lost nothing that it reported as written. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Entry } from "@pi-agent/kernel";
import { afterEach, describe, expect, test } from "vitest";
import { assertRecorded, type Home, linesWaiting, openHome } from "../agents.ts";
import { DATABASES, type TestDatabase } from "../databases.ts";

const KILLS = process.env.SOAK === "1" ? 500 : 6;
const AT_ONCE = 3;
// Before the database is opened, while it is, and while it is written to.
const LATEST_MS = { embedded: 3_500, server: 1_500 };
const SCRIPT = fileURLToPath(new URL("killed-agent.ts", import.meta.url));

describe.each(DATABASES)("an agent on $name that is killed", ({ kind, create, isMissing }) => {
  let place: TestDatabase;
  afterEach(() => place?.dispose());

  test.skipIf(isMissing)(
    `D2 ${KILLS} times at random moments has everything that was reported as written, once`,
    async () => {
      place = await create();
      const home: Home = { agentDir: place.agentDir, url: place.url, settings: { "session.store": "postgres" } };
      const reported: [run: string, session: string, entry: string][] = [];
      for (let killed = 0; killed < KILLS; killed += AT_ONCE) {
        const runs = Array.from({ length: AT_ONCE }, () => runAndKill(home, Math.random() * LATEST_MS[kind]));
        reported.push(...(await Promise.all(runs)).flat());
      }
      expect(reported.length).toBeGreaterThan(KILLS);
      const reader = await openHome(home);
      expect(linesWaiting(home)).toBe(0);
      await assertRecorded(reader);
      await assertAllThere(reader, reported);
      await reader.close();
    },
    60_000 + KILLS * 3_000,
  );
});

/** Answers what the process reported, from its first report on until it was killed `afterMs` later. */
function runAndKill(home: Home, afterMs: number): Promise<[string, string, string][]> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["--conditions", "@pi-agent/source", SCRIPT, JSON.stringify(home)], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, HOME: home.agentDir },
    });
    let [text, errors] = ["", ""];
    child.stdout.once("data", () => setTimeout(() => child.kill("SIGKILL"), afterMs));
    child.stdout.on("data", (chunk) => (text += chunk));
    child.stderr.on("data", (chunk) => (errors += chunk));
    child.once("error", reject);
    child.once("close", (_code, signal) => {
      if (signal !== "SIGKILL") return reject(new Error(`It ended by itself:\n${errors}`));
      const lines = text
        .slice(0, text.lastIndexOf("\n") + 1)
        .trimEnd()
        .split("\n");
      resolve(lines.map((line) => JSON.parse(line) as [string, string, string]));
    });
  });
}

async function assertAllThere(
  reader: Awaited<ReturnType<typeof openHome>>,
  reported: readonly [run: string, session: string, entry: string][],
): Promise<void> {
  const steps = await reader.query<{ run_id: string; payload: string }>("select run_id, payload from pi_agent.steps");
  const entries = await reader.query<{ session_id: string; payload: string }>(
    "select session_id, payload from pi_agent.entries",
  );
  const found = {
    steps: steps.map(({ run_id, payload }) => `${run_id} ${payload}`),
    entries: entries.map(({ session_id, payload }) => `${session_id} ${payload}`),
  };
  for (const rows of Object.values(found)) assert.equal(new Set(rows).size, rows.length, "Something is there twice.");
  const [isStep, isEntry] = [new Set(found.steps), new Set(found.entries)];
  for (const [run, session, entry] of reported) {
    if (run !== "") assert.ok(isStep.has(`${run} ${entry}`), `A step is missing: ${entry}`);
    assert.ok(isEntry.has(`${session} ${entry}`), `An entry is missing: ${entry}`);
  }
  for (const session of new Set(reported.map(([, id]) => id))) {
    const its = entries
      .filter(({ session_id }) => session_id === session)
      .map(({ payload }) => JSON.parse(payload) as Entry);
    const ids = new Set(its.map(({ id }) => id));
    assert.ok(
      its.every(({ parentId }) => parentId === null || ids.has(parentId)),
      `The session ${session} has a gap.`,
    );
  }
}
