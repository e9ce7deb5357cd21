import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Agent, type Context, createAgent, type Entry, type Extension, type Host } from "@pi-agent/kernel";
import { fakeClock, scriptedProvider } from "@pi-agent/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import postgres from "../src/index.ts";
import { type Head, type Line, readLine } from "../src/lines.ts";
import { listFiles, listFolders } from "../src/spool-folder.ts";
import { fakeHost, tempFolder } from "./hubs.ts";

type Script = Parameters<typeof scriptedProvider>[0];

let agentDir = "";
let remove = async () => {};
let agents: Agent[] = [];

beforeEach(async () => {
  ({ path: agentDir, remove } = await tempFolder());
});
afterEach(async () => {
  for (const agent of agents.splice(0)) await agent.dispose();
  await remove();
});

/** An agent whose server is not there: what is written stays in the spool. */
async function start(
  script: Script,
  given: { extensions?: Extension[]; settings?: Record<string, unknown>; maxTurns?: number } = {},
) {
  const told: string[] = [];
  const host = fakeHost(agentDir, { url: "postgres://u:S3CRET@127.0.0.1:1/db" });
  const place: Extension = (pi) => {
    pi.register("service", "environment" as never, host.service("environment" as never));
  };
  const settings = {
    get: (key: string) => given.settings?.[key],
    onChange: () => () => {},
  } as unknown as Host["settings"];
  const agent = createAgent({
    extensions: [place, scriptedProvider(script), postgres, echo, ...(given.extensions ?? [])],
    model: "scripted/scripted",
    graceMs: 50,
    host: { cwd: "/project", settings, ui: { notify: (text: string) => void told.push(text) } as Host["ui"] },
    ...(given.maxTurns !== undefined && { maxTurns: given.maxTurns }),
  });
  agents.push(agent);
  await agent.ready();
  return { agent, told };
}

const echo: Extension = (pi) => {
  pi.registerTool({
    name: "echo",
    description: "Answers.",
    parameters: { type: "object", properties: {} } as never,
    execute: async () => ({ content: [{ type: "text", text: "answer" }] }),
  });
};

function lines(): Line[] {
  return listFolders(join(agentDir, "spool")).flatMap(({ path }) =>
    listFiles(path).flatMap((file) =>
      readFileSync(file.path, "utf8")
        .split("\n")
        .flatMap((text) => readLine(text) ?? []),
    ),
  );
}
function heads<T extends Head["t"]>(t: T): Extract<Head, { t: T }>[] {
  return lines().flatMap(({ head }) => (head.t === t ? (head as Extract<Head, { t: T }>) : []));
}
function steps(): { seq: number; iteration: number; type: string; role?: string }[] {
  return lines().flatMap(({ head, payload }) => {
    if (head.t !== "entry" || !head.step) return [];
    const entry = JSON.parse(payload) as Entry;
    const { seq, iteration } = head.step;
    return { seq, iteration, type: entry.type, ...(entry.type === "message" && { role: entry.message.role }) };
  });
}

async function prompt(agent: Agent): Promise<void> {
  await agent.input("go");
  await agent.settled();
}

test("a run is recorded with its steps, what it cost and how it ended", async () => {
  const usage = { input: 100, output: 10 };
  const { agent } = await start([
    { text: "Looking.", calls: [{ name: "echo", arguments: {} }], usage },
    { text: "Done.", usage },
  ]);
  await prompt(agent);
  const [run, ...otherRuns] = heads("run");
  expect(otherRuns).toEqual([]);
  expect(run).toMatchObject({
    session: agent.sessionId,
    cwd: "/project",
    config: { model: "scripted/scripted", tools: ["echo"] },
  });
  const roles = steps().filter(({ role }) => role && role !== "system");
  expect(roles.map(({ role, iteration }) => `${role} ${iteration}`)).toEqual([
    "user 0",
    "assistant 0",
    "toolResult 0",
    "assistant 1",
  ]);
  expect(steps().map(({ seq }) => seq)).toEqual(steps().map((_, at) => at));
  expect(heads("end")).toEqual([
    expect.objectContaining({
      id: run?.id,
      status: "done",
      usage: expect.objectContaining({ input: 200, output: 20 }),
    }),
  ]);
  expect(heads("end")[0]).not.toHaveProperty("error");
});

test("every entry of a run is a step, and the first run takes along what came before it", async () => {
  const { agent } = await start([{ text: "One." }, { text: "Two." }], {
    extensions: [(pi) => void pi.on("turn_end", () => void pi.appendEntry("note", { n: 1 }))],
  });
  await prompt(agent);
  agent.setThinkingLevel("low");
  await prompt(agent);
  expect(heads("run")).toHaveLength(2);
  const all = agent.transcript.path().map(({ type }) => type);
  expect(steps().map(({ type }) => type)).toEqual(all);
  expect(steps().filter(({ seq }) => seq === 0)).toHaveLength(2);
});

test("a failed run says of what kind its failure was", async () => {
  const { agent } = await start([{ fail: { status: 429, body: "slow down" } }]);
  await prompt(agent);
  expect(heads("end")).toEqual([
    expect.objectContaining({
      status: "error",
      error: { kind: "rate_limit", message: expect.stringContaining("slow down") },
    }),
  ]);
});

test("a run that is aborted, or out of turns, ends as such", async () => {
  const { agent } = await start(
    [{ calls: [{ name: "echo", arguments: {} }] }, { calls: [{ name: "echo", arguments: {} }] }],
    {
      maxTurns: 1,
    },
  );
  await prompt(agent);
  expect(heads("end").map(({ status }) => status)).toEqual(["max_turns"]);
  const waiting = await start([{ calls: [{ name: "wait", arguments: {} }] }], { extensions: [waiter().extension] });
  const settled = prompt(waiting.agent);
  waiting.agent.on("tool_execution_start", () => void waiting.agent.abort());
  await settled;
  expect(heads("end").map(({ status }) => status)).toEqual(["max_turns", "aborted"]);
});

test("a run that takes long says every 20 seconds that it goes on, and stops with its end", async () => {
  const { extension, begun, end } = waiter();
  const { agent } = await start([{ calls: [{ name: "wait", arguments: {} }] }, { text: "Done." }], {
    extensions: [extension],
  });
  using clock = fakeClock();
  const settled = prompt(agent);
  await begun;
  const before = heads("beat").length;
  for (let n = 0; n < 3; n++) await clock.advance(20_000);
  await clock.advance(100);
  expect(heads("beat").length - before).toBe(3);
  end();
  await settled;
  const after = heads("beat").length;
  await clock.advance(100_000);
  expect(heads("beat")).toHaveLength(after);
});

test("D2 what a run appended is on disk before the next call of the model", async () => {
  const seen: number[] = [];
  const { agent } = await start(() => {
    seen.push(steps().length);
    return seen.length < 3 ? { calls: [{ name: "echo", arguments: {} }] } : { text: "Done." };
  });
  const sizes: number[] = [];
  agent.on("transcript_flush", () => void sizes.push(agent.transcript.size));
  await prompt(agent);
  expect(seen).toEqual(sizes.slice(0, 3));
});

test("an agent that an agent makes has a run of its own, which names the one it belongs to", async () => {
  let context: Context | undefined;
  const { agent } = await start([{ text: "Child." }, { text: "Parent." }], {
    extensions: [
      (pi) => {
        pi.on("before_agent_start", (_event, ctx) => {
          context = ctx;
        });
        pi.on("turn_end", async (_event, ctx) => {
          if (context === undefined) return;
          context = undefined;
          await ctx.createAgent({ extensions: [] }).run("a part of it");
        });
      },
    ],
  });
  await prompt(agent);
  const [parent, child] = heads("run");
  expect(child?.config).toMatchObject({ parentRunId: parent?.id });
  expect(child?.session).not.toBe(parent?.session);
  expect(heads("end").map(({ id, status }) => [id, status])).toEqual([
    [child?.id, "done"],
    [parent?.id, "done"],
  ]);
});

test("D1 a run is done whether or not there is a database, and a person is told once, without the password", async () => {
  const { agent, told } = await start(Array.from({ length: 5 }, () => ({ text: "Done." })));
  for (let n = 0; n < 4; n++) await prompt(agent);
  await expect.poll(() => told.length, { timeout: 20_000 }).toBe(1);
  await prompt(agent);
  expect(heads("end").map(({ status }) => status)).toEqual(Array(5).fill("done"));
  expect(told).toEqual([expect.stringMatching(/127\.0\.0\.1:1\/db cannot be reached.*waits in .*spool/)]);
  expect(told.join()).not.toContain("S3CRET");
}, 30_000);

test("switched off it registers and writes nothing, and the address is a secret all the same", async () => {
  const { agent } = await start([{ text: "Done." }], { settings: { "postgres.enabled": false } });
  await prompt(agent);
  expect(lines()).toEqual([]);
  expect(agent.registry("session-store" as never).has("postgres")).toBe(false);
  expect(agent.registry("secret").has("DATABASE_URL")).toBe(true);
});

test("F161 DATABASE_URL is a secret, scrubbed from what children get", async () => {
  const { agent } = await start([]);
  expect([...agent.registry("secret").keys()]).toContain("DATABASE_URL");
});

/** A tool that ends when it is told to. */
function waiter() {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const extension: Extension = (pi) => {
    pi.registerTool({
      name: "wait",
      description: "Waits.",
      parameters: { type: "object", properties: {} } as never,
      execute: async () => {
        begin();
        await ended;
        return { content: [{ type: "text", text: "waited" }] };
      },
    });
  };
  return { extension, begun, end };
}
