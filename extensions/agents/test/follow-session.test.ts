import type { Entry } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { type Files, fileOf, official, open, toolsOf } from "./open-agents.ts";

const REVIEWER = fileOf("tools: [read, grep]", "You review.");
const done = () => ({ text: "Done." });

/** A session that was held with the reviewer. */
async function held(files: Files): Promise<Entry[]> {
  const { agent, agents } = await open({ files: { ...files }, script: done });
  await agents.use("reviewer");
  await agent.run("Go.");
  return [...agent.transcript.path()];
}

test("F043: a session that is gone on with in a new process is held to its agent, and that is told", async () => {
  const files = { "agents/reviewer.md": REVIEWER };
  const entries = await held(files);
  // Was not there before: it would be on without an agent.
  const late = official("pi-late", toolsOf(["deploy"], []));
  const { agent, agents, notices, prompt } = await open({ files, entries, script: done, extensions: [late] });
  await agent.dispatch("session_start", { reason: "startup" });
  expect(agents.current).toBe("reviewer");
  expect(agent.state.activeTools).toEqual(["read", "grep"]);
  expect(notices).toEqual([
    expect.stringMatching(/^This session has an agent of its own\. The agent reviewer .*read, grep/),
  ]);
  expect(await prompt()).toMatch(/^You review\./);
  await agents.use("off");
  expect(agent.state.activeTools).toEqual(["read", "bash", "write"]);
});

test.for([
  ["gone", {}],
  ["faulty", { "agents/reviewer.md": fileOf("tool: [read]") }],
  ["another's", { "project/agents/reviewer.md": fileOf("tools: [read, bash]", "You are mine now.") }],
] as const)("F043: a session whose agent is %s by now stays held to the tools that it had", async ([, files]) => {
  const entries = await held({ "agents/reviewer.md": REVIEWER });
  const script = [{ calls: [{ name: "bash", arguments: {} }] }, { text: "Done." }];
  const { agent, agents, notices, model, ran } = await open({ files: { ...files }, entries, script });
  await agent.dispatch("session_start", { reason: "startup" });
  expect(agents.current).toBe(undefined);
  expect(notices).toEqual([
    expect.stringMatching(/^The agent "reviewer" is not in force any more: .*still holds.*read, grep/),
  ]);
  await agent.input("Go.");
  await agent.settled();
  expect(ran).toEqual([]);
  expect(model.requests[0]!.tools.map(({ name }) => name)).toEqual(["read"]);
  expect(model.requests[0]!.systemPrompt).not.toMatch(/You review|mine now/);
});

test("F043: a record that cannot be read holds to no tools", async () => {
  const entries = (await held({ "agents/reviewer.md": REVIEWER })).map((entry) =>
    entry.type === "custom" ? { ...entry, data: { name: 5, tools: "all" } } : entry,
  );
  const { agent } = await open({ files: { "agents/reviewer.md": REVIEWER }, entries });
  await agent.dispatch("session_start", { reason: "startup" });
  expect(agent.state.activeTools).toEqual([]);
});

test("F043: the agent in force goes on over a new session, a fork and a branch, and each remembers it", async () => {
  const { agent, agents } = await open({ files: { "agents/reviewer.md": REVIEWER }, script: done });
  const remembered = async () => {
    await agent.input("Go.");
    await agent.settled();
    return agent.transcript.path().flatMap((entry) => (entry.type === "custom" ? entry.data : []));
  };
  expect(await remembered()).toEqual([]);
  const branch = agent.transcript.leafId;
  await agents.use("reviewer");
  const usual = ["read", "bash", "write"];
  const record = { name: "reviewer", scope: "user", tools: ["read", "grep"], usual };
  expect(await remembered()).toEqual([record]);
  expect(await remembered()).toEqual([record]);
  agent.moveTo(branch);
  expect(await remembered()).toEqual([record]);
  for (const reason of ["new", "fork"] as const) {
    agent.open({ id: reason, entries: [] });
    await agent.dispatch("session_start", { reason });
    expect(agent.state.activeTools).toEqual(["read", "grep"]);
    expect(await remembered()).toEqual([record]);
  }
});

test("F043: a session without an agent does not lift the limits of the one in force", async () => {
  const plain = await open({ script: done });
  await plain.agent.run("Go.");
  const { agent, agents } = await open({ files: { "agents/reviewer.md": REVIEWER } });
  await agents.use("reviewer");
  agent.open({ id: "plain", entries: plain.agent.transcript.path() });
  await agent.dispatch("session_start", { reason: "resume" });
  expect(agents.current).toBe("reviewer");
  expect(agent.state.activeTools).toEqual(["read", "grep"]);
});

test("off is remembered too: the session is nobody's from then on", async () => {
  const files = { "agents/reviewer.md": REVIEWER };
  const first = await open({ files, script: done });
  await first.agents.use("reviewer");
  await first.agent.run("Go.");
  await first.agents.use("off");
  await first.agent.input("On.");
  await first.agent.settled();
  const { agent, agents } = await open({ files, entries: first.agent.transcript.path() });
  await agent.dispatch("session_start", { reason: "startup" });
  expect(agents.current).toBe(undefined);
});

test("off, named at the start, takes a session's agent back with its tools", async () => {
  const files = { "agents/reviewer.md": REVIEWER };
  const { agent, agents, model } = await open({ files, entries: await held(files), script: done });
  await agents.use("off");
  await agent.dispatch("session_start", { reason: "startup" });
  await agent.input("Go.");
  await agent.settled();
  expect(model.requests[0]!.tools.map(({ name }) => name)).toEqual(["read", "bash", "write"]);
  expect(agent.transcript.path()).toContainEqual(expect.objectContaining({ data: { name: null } }));
});

test("F043: after a reload the agent is as its file is now, and what came meanwhile stays off until it goes", async () => {
  const { agent, agents, files, notices } = await open({ files: { "agents/reviewer.md": REVIEWER } });
  await agents.use("reviewer");
  await agent.extend([official("pi-late", toolsOf(["deploy"], []))]);
  agent.setActiveTools([...agent.state.activeTools, "deploy"]);
  files["agents/reviewer.md"] = fileOf("tools: [grep]\nthinking: low", "You look.");
  await agent.dispatch("session_start", { reason: "reload" });
  expect(agent.state).toMatchObject({ activeTools: ["grep"], thinkingLevel: "low" });
  expect(notices).toEqual(["The file of the agent has changed. The agent reviewer is in force. Its tools: grep."]);
  await agents.use("off");
  expect(agent.state.activeTools).toEqual(["read", "bash", "write", "deploy"]);
});

test("F044: a file that is faulty after a reload leaves the agent as it was, and that is told", async () => {
  const { agent, agents, files, notices, prompt } = await open({
    files: { "agents/reviewer.md": REVIEWER },
    script: done,
  });
  await agents.use("reviewer");
  files["agents/reviewer.md"] = fileOf("allowed-tools: [bash]", "You do anything.");
  await agent.dispatch("session_start", { reason: "reload" });
  expect(notices).toEqual([expect.stringMatching(/"allowed-tools" is not known.*`tools`.*stays as it was/)]);
  expect(agents.current).toBe("reviewer");
  expect(await prompt()).toMatch(/^You review\./);
  expect(agent.state.activeTools).toEqual(["read", "grep"]);
});

test("T10 F043: a project's agent that loses its grant goes with prompt, model and thinking; its limits stay, and that is told", async () => {
  const file = fileOf("tools: [read]\nmodel: scripted/other\nthinking: high", "You are the project's.");
  const { agent, agents, files, notices, model, prompt, ran } = await open({
    files: { "project/agents/ours.md": file },
    script: (request) =>
      request.messages.length > 1 ? { text: "Done." } : { calls: [{ name: "bash", arguments: {} }] },
  });
  await prompt();
  ran.length = 0;
  await agents.use("ours");
  delete files["project/agents/ours.md"];
  await agent.dispatch("resources_changed", { reason: "revocation" });
  expect(notices).toEqual([expect.stringMatching(/"ours" is not in force any more.*not trusted.*Its tools: read\./)]);
  expect(agents.current).toBe(undefined);
  expect(await prompt()).not.toContain("the project's");
  expect(model.requests.at(-1)).toMatchObject({ thinkingLevel: "medium", model: { id: "scripted" } });
  expect(ran).toEqual([]);
  // Trusted again, it is nobody's to put in force but the person's.
  files["project/agents/ours.md"] = file;
  await agent.dispatch("resources_changed", { reason: "grant" });
  expect(agents.current).toBe(undefined);
  await agent.input("/agent off");
  expect(agent.state.activeTools).toEqual(["read", "bash", "write"]);
});

test("P14: --agent counts where no command puts it in force, and nothing is sent when it cannot be", async () => {
  const files = { "agents/reviewer.md": REVIEWER };
  const good = await open({ files, flags: { agent: "reviewer" } });
  await good.agent.dispatch("session_start", { reason: "startup" });
  expect(good.agents.current).toBe("reviewer");
  const bad = await open({ files, flags: { agent: "revewer" }, script: done });
  await bad.agent.dispatch("session_start", { reason: "startup" });
  expect(bad.faults.join()).toContain('There is no agent "revewer".');
  expect((await bad.agent.run("Go.")).outcome).toBe("error");
  expect(bad.model.requests).toEqual([]);
  await bad.agents.use("reviewer");
  expect((await bad.agent.run("Go.")).outcome).toBe("done");
});

test("P14: the agent that was named at the start counts more than the session's", async () => {
  const files = { "agents/reviewer.md": REVIEWER, "agents/talker.md": fileOf("tools: []") };
  const entries = await held(files);
  const { agent, agents, notices } = await open({ files, entries });
  await agents.use("talker");
  await agent.dispatch("session_start", { reason: "startup" });
  expect(agents.current).toBe("talker");
  expect(notices).toEqual([]);
  await agents.use("off");
  expect(agent.state.activeTools).toEqual(["read", "bash", "write"]);
});
