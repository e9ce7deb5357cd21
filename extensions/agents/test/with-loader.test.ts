import { join } from "node:path";
import { SCRIPTED_MODEL, scriptedProvider, tempProject } from "@pi-agent/testing";
import { expect, onTestFinished, test } from "vitest";
import { type Loaded, load } from "../../../loader/src/index.ts";
import systemPrompt from "../../system-prompt/src/index.ts";
import agents from "../src/index.ts";
import { fileOf, official, toolsOf } from "./open-agents.ts";

const CALLS = ["read", "bash", "late"].map((name) => ({ name, arguments: {} }));
const tool = (name: string) => `export default (pi) => pi.registerTool({
  name: "${name}", description: "${name}", parameters: { type: "object" }, execute: async () => ({ content: [] }),
});`;

async function open(files: Record<string, string>, agentFiles: Record<string, string>, trust?: "content") {
  const project = await tempProject({ files, agentFiles });
  const notices: string[] = [];
  const ran: string[] = [];
  const model = scriptedProvider(({ messages }) =>
    messages.at(-1)?.role === "tool" ? { text: "Done." } : { calls: CALLS },
  );
  const ui = new Proxy({}, { get: () => (text: unknown) => void notices.push(String(text)) });
  const loaded: Loaded = await load({
    cwd: project.path,
    env: { HOME: project.home },
    agentDir: project.agentDir,
    trust,
    official: [
      official("@pi-agent/tools", toolsOf(["read", "bash"], ran)),
      official("@pi-agent/testing", model),
      official("@pi-agent/system-prompt", systemPrompt),
      official("@pi-agent/agents", agents),
    ],
    mode: { name: "test", hasUI: false, ui: ui as never },
  });
  onTestFinished(async () => {
    await loaded.dispose();
    await project.cleanup();
  });
  // One that needs no key is not taken unasked.
  await loaded.agent.setModel(SCRIPTED_MODEL);
  await loaded.agent.dispatch("session_start", { reason: "startup" });
  const ask = async () => {
    await loaded.agent.input("Go.");
    await loaded.agent.settled();
    return model.requests.at(-1)!;
  };
  return { ...loaded, project, notices, ran, ask, service: loaded.agent.service("agents")! };
}

test("T10 F043: an agent of a project goes when its trust is taken back in the running session, and its limits stay", async () => {
  const files = { ".pi/agents/ours.md": fileOf("tools: [read]", "You are the project's.") };
  const { agent, trust, service, notices, ran, ask } = await open(files, {}, "content");
  await service.use("ours");
  expect((await ask()).systemPrompt).toMatch(/^You are the project's\./);
  await trust.decide("never");
  expect(service.current).toBe(undefined);
  expect(service.list()).toEqual([]);
  expect(notices.join("\n")).toContain('The agent "ours" is not in force any more');
  expect((await ask()).systemPrompt).not.toContain("the project's");
  expect(ran).toEqual(["read", "read"]);
  await agent.input("/agent off");
  expect(agent.state.activeTools).toEqual(["read", "bash"]);
});

test("F043: what a reload and a trusted project bring is not the agent's, and is on when the agent goes", async () => {
  const files = { ".pi/extensions/late.js": tool("late") };
  const { agent, host, trust, project, service, ran, ask } = await open(files, {
    "agents/reviewer.md": fileOf("tools: [read]", "You review."),
  });
  await service.use("reviewer");
  await trust.decide("content");
  expect(agent.registry("tool").has("late")).toBe(true);
  expect((await ask()).tools.map(({ name }) => name)).toEqual(["read"]);
  await project.write(join(project.agentDir, "extensions/own.js"), tool("own"));
  await host.reload();
  expect(agent.state.activeTools).toEqual(["read"]);
  expect((await ask()).tools.map(({ name }) => name)).toEqual(["read"]);
  expect(ran).toEqual(["read", "read"]);
  await service.use("off");
  expect(agent.state.activeTools.toSorted()).toEqual(["bash", "late", "own", "read"]);
});

test("F043: a new session in the same process is held to the agent in force", async () => {
  const { agent, host, service, ran, ask } = await open({}, { "agents/reviewer.md": fileOf("tools: [read]") });
  await service.use("reviewer");
  await host.newSession();
  await ask();
  expect(ran).toEqual(["read"]);
  expect(agent.transcript.path()).toContainEqual(
    expect.objectContaining({ data: expect.objectContaining({ name: "reviewer" }) }),
  );
});
