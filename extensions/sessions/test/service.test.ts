import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Entry, Extension } from "@pi-agent/kernel";
import { afterEach, expect, test, vi } from "vitest";
import type { Problem } from "../src/index.ts";
import { message, prompt, startAgent, tempFolder } from "./support.ts";

const UUID_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

afterEach(() => {
  vi.unstubAllEnvs();
});

async function start(more: Partial<Parameters<typeof startAgent>[0]> = {}) {
  const agentDir = tempFolder();
  vi.stubEnv("PI_CODING_AGENT_DIR", agentDir);
  const started = await startAgent({ cwd: "/project", ...more });
  await started.begin();
  return { ...started, agentDir, sessions: started.agent.service("sessions")! };
}

test("a session that is created becomes the current one when the agent goes on with it, and is written with what is said", async () => {
  const { agent, sessions } = await start();
  const before = sessions.current!.id;
  const created = await sessions.create({ cwd: "/project", parentSession: "/old.jsonl" });
  expect(created.id).toMatch(UUID_7);
  expect(sessions.current?.id).toBe(before);
  agent.open(created);
  await agent.dispatch("session_start", { reason: "new" });
  expect(sessions.current).toMatchObject({ id: created.id, header: { parentSession: "/old.jsonl", cwd: "/project" } });
  await new Promise(setImmediate);
  expect(existsSync(created.file!)).toBe(false);
  await prompt(agent, "hello");
  const reopened = await sessions.open(created.file!);
  const problems: readonly Problem[] = reopened.problems;
  expect(problems).toEqual([]);
  expect(reopened.header.parentSession).toBe("/old.jsonl");
  expect(reopened.entries.some(({ type }) => type === "message")).toBe(true);
});

test("entries of another session are written at once", async () => {
  const { agent, sessions } = await start();
  const entries = [message("a", null), message("b", "a")] as Entry[];
  const created = await sessions.create({ cwd: "/project", entries });
  agent.open(created);
  await agent.dispatch("session_start", { reason: "fork" });
  await new Promise(setImmediate);
  expect((await sessions.open(created.file!)).entries).toEqual(entries);
});

test("with --no-session a created session is kept in memory too", async () => {
  const { sessions } = await start({ flags: { "no-session": true } });
  expect((await sessions.create({ cwd: "/project" })).file).toBeUndefined();
});

test("the hooks are fired for whoever changes sessions; a refusal is the last word, a fault refuses nothing", async () => {
  const seen: string[] = [];
  const refuse: Extension = (pi) => {
    pi.on("session_before_switch", () => {
      throw new Error("no luck");
    });
    pi.on("session_before_switch", ({ reason }) => (reason === "new" ? { cancel: true } : undefined));
    pi.on("session_before_switch", ({ reason }) => void seen.push(reason));
    pi.on("session_tree", ({ newLeafId }) => void seen.push(String(newLeafId)));
  };
  const { sessions } = await start({ extensions: [refuse] });
  expect(await sessions.fire("session_before_switch", { reason: "new" })).toEqual({ cancel: true });
  expect(await sessions.fire("session_before_switch", { reason: "resume" })).toBeUndefined();
  await sessions.fire("session_tree", { newLeafId: null, oldLeafId: "a" });
  expect(seen).toEqual(["resume", "null"]);
});

test("a host that says where the agent directory is, is believed, and its variables too", async () => {
  const elsewhere = tempFolder();
  const host: Extension = (pi) => {
    const env = { PI_CODING_AGENT_SESSION_DIR: undefined, HOME: elsewhere };
    pi.register("service", "environment", { agentDir: join(elsewhere, "agent"), env });
  };
  const { sessions } = await start({ extensions: [host] });
  expect(sessions.current?.file?.startsWith(join(elsewhere, "agent", "sessions"))).toBe(true);
});
