/** Many agents on many machines, one database. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openHome } from "../agents.ts";
import { create, type TestDatabase } from "../databases.ts";
import { NO_SERVER, sharedServer } from "../server.ts";
import type { MachineOrder } from "./machine.ts";

const SCRIPT = fileURLToPath(new URL("machine.ts", import.meta.url));

async function work(order: MachineOrder): Promise<{ session: string; request: string }> {
  const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, HOME: order.home.agentDir };
  const args = ["--conditions", "@pi-agent/source", SCRIPT, JSON.stringify(order)];
  return JSON.parse((await promisify(execFile)(process.execPath, args, { env })).stdout);
}

describe.skipIf(NO_SERVER)(`three machines and one server${NO_SERVER ? ` (${NO_SERVER})` : ""}`, () => {
  let place: TestDatabase;
  beforeAll(async () => {
    place = await create(await (await sharedServer()).freshDatabase());
  }, 60_000);
  afterAll(() => place?.dispose());
  const newHome = async () => ({
    agentDir: await place.anotherAgentDir(),
    url: place.url,
    settings: { "session.store": "postgres" },
  });

  test("D3 three processes with agent directories of their own begin at once on an empty database, and all is there", async () => {
    const homes = [await newHome(), await newHome(), await newHome()];
    const done = await Promise.all(homes.map((home, at) => work({ home, prompts: [`task ${at}`] })));
    const reader = await openHome(await newHome());
    const runs = await reader.query<{ session_id: string; status: string }>(
      "select session_id, status from pi_agent.runs",
    );
    expect(runs.map(({ session_id }) => session_id).sort()).toEqual(done.map(({ session }) => session).sort());
    expect(runs.every(({ status }) => status === "done")).toBe(true);
    const sessions = await reader.query("select id from pi_agent.sessions where header is not null");
    expect(sessions).toHaveLength(3);
    await reader.close();
  }, 60_000);

  test("F151 a session goes on on another machine, and the model is asked what it would have been asked on the first", async () => {
    const first = await work({ home: await newHome(), prompts: ["first", "second"] });
    const other = await work({ home: await newHome(), session: first.session, before: "second", prompts: ["second"] });
    expect(other.request).toBe(first.request);
    expect(other.session).toBe(first.session);
    const third = await work({ home: await newHome(), session: first.session, prompts: ["third"] });
    expect(third.request).toContain('"third"');
    const reader = await openHome(await newHome());
    const ids = await reader.query<{ id: string }>("select id from pi_agent.entries where session_id = $1", [
      first.session,
    ]);
    expect(new Set(ids.map(({ id }) => id)).size).toBe(ids.length);
    await reader.close();
  }, 60_000);
});
