import type { ExtensionAPI } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { fileOf, official, open, toolsOf } from "./open-agents.ts";

const REVIEWER = fileOf("description: Reviews\ntools: [read, grep]\nskills: [pdf]\nthinking: high", "You review.");
const FILES = {
  "agents/reviewer.md": REVIEWER,
  "agents/writer.md": fileOf("model: scripted/other", "You write."),
  "agents/nobody.md": fileOf("tools: []", "You talk."),
  "agents/faulty.md": fileOf("tools: [raed]\nmodel: scripted/other\nthinking: max", "You are half in force."),
  "skills/pdf/SKILL.md": fileOf("name: pdf"),
  "skills/xls.md": fileOf("description: Sheets"),
  "context/AGENTS.md": "Speak plainly.",
};
const CALLS = ["read", "bash", "grep", "write"].map((name) => ({ name, arguments: {} }));

test("P14: one file is an agent: its prompt, tools, skills and thinking are in force, and off takes them back", async () => {
  const { agent, agents, model, prompt } = await open({ files: FILES, script: () => ({ text: "Done." }) });
  const before = await prompt();
  const skills = () =>
    agent
      .service("resources")!
      .list("skill")
      .map(({ path }) => path);
  await agents.use("reviewer");
  expect(agents.current).toBe("reviewer");
  expect(await prompt()).toMatch(/^You review\.\n\n[^]*Speak plainly\.[^]*Current date: [^]*\/nowhere/);
  expect(model.requests.at(-1)).toMatchObject({ thinkingLevel: "high", tools: [{ name: "read" }, { name: "grep" }] });
  expect(skills()).toEqual(["skills/pdf/SKILL.md"]);
  await agents.use("writer");
  expect(await prompt()).toMatch(/^You write\./);
  expect(model.requests.at(-1)).toMatchObject({ thinkingLevel: "medium", model: { id: "other" } });
  expect(agent.state.activeTools).toEqual(["read", "bash", "write"]);
  expect(skills()).toHaveLength(2);
  await agents.use("off");
  expect(agents.current).toBe(undefined);
  expect(await prompt()).toBe(before);
  expect(agent.state).toMatchObject({ thinkingLevel: "medium", model: { id: "scripted" }, limits: [] });
});

test("P14: without a package that writes prompts the agent's own still reaches the model", async () => {
  const { agents, prompt } = await open({ files: FILES, script: () => ({ text: "Done." }), hasPrompt: false });
  await agents.use("reviewer");
  expect(await prompt()).toBe("You review.");
});

test("P14: tools that are empty are none, and the model is told of none", async () => {
  const { agents, model, prompt } = await open({ files: FILES, script: () => ({ text: "Done." }) });
  await agents.use("nobody");
  await prompt();
  expect(model.requests[0]!.tools).toEqual([]);
});

test("F044: a tool that the agent does not have does not run when the model calls it by name", async () => {
  const { agent, agents, ran } = await open({ files: FILES, script: [{ calls: CALLS }, { text: "Done." }] });
  await agents.use("reviewer");
  await agent.run("Go.");
  expect(ran).toEqual(["read", "grep"]);
});

test("F043: what another extension switches on in the middle of a run neither runs nor is told to the model", async () => {
  const meddler = (pi: ExtensionAPI) => {
    pi.on("agent_start", () => pi.setActiveTools(["read", "bash", "write"]));
    pi.on("turn_start", () => pi.setActiveTools(["bash"]));
    pi.on("tool_call", () => (pi.setActiveTools(["bash"]), { block: false }));
  };
  const script = [{ calls: CALLS }, { calls: CALLS }, { text: "Done." }];
  const { agent, agents, model, ran } = await open({ files: FILES, script, extensions: [official("m", meddler)] });
  await agents.use("reviewer");
  await agent.run("Go.");
  expect(model.requests.flatMap(({ tools }) => tools.map(({ name }) => name))).not.toContain("bash");
  expect(ran).not.toContain("bash");
  await agents.use("off");
  expect(agent.state.activeTools).toEqual(["read", "bash", "write"]);
});

test("F043: a late answer of before_turn that switches a tool on does not make it run", async () => {
  const meddler = (pi: ExtensionAPI) => void pi.on("before_turn", () => ({ activeTools: ["bash", "read"] }));
  const script = [{ calls: CALLS }, { text: "Done." }];
  const { agent, agents, ran } = await open({ files: FILES, script, extensions: [official("m", meddler)] });
  await agents.use("reviewer");
  await agent.run("Go.");
  expect(ran).toEqual(["read"]);
});

test("F043: a child that an extension makes has no more tools than the agent that it is made under", async () => {
  const childRan: string[] = [];
  let results: string[] = [];
  const delegate = (pi: ExtensionAPI) =>
    void pi.registerTool({
      name: "delegate",
      description: "delegate",
      parameters: { type: "object" },
      async execute(_id, _args, _signal, _onUpdate, ctx) {
        const child = ctx.createAgent({ extensions: [toolsOf(["read", "bash", "write"], childRan)] });
        const { messages } = await child.run("Go.");
        results = messages.flatMap((each) => (each.role === "toolResult" ? JSON.stringify(each.content) : []));
        return { content: [] };
      },
    });
  const script = [
    { calls: [{ name: "delegate", arguments: {} }] },
    { calls: CALLS },
    { text: "Done." },
    { text: "Done." },
  ];
  const files = { "agents/boss.md": fileOf("tools: [read, delegate]") };
  const { agent, agents } = await open({ files, script, extensions: [official("d", delegate)] });
  await agents.use("boss");
  await agent.run("Go.");
  expect(childRan).toEqual(["read"]);
  expect(results[1]).toContain("The agent boss does not have the tool bash. Its tools: read, delegate.");
});

test.for(["faulty", "nosuch", "../reviewer", "agents/reviewer", "reviewer.md", "", "__proto__"])(
  "F044: /agent with what cannot be used, such as %j, leaves the agent that was, whole",
  async (name) => {
    const { agent, agents, prompt } = await open({ files: FILES, script: () => ({ text: "Done." }) });
    await agents.use("reviewer");
    const text = await prompt();
    await expect(agents.use(name)).rejects.toMatchObject({ code: name === "faulty" ? "agent_file" : "unknown_agent" });
    expect(agents.current).toBe("reviewer");
    expect(agent.state).toMatchObject({
      model: { id: "scripted" },
      thinkingLevel: "high",
      activeTools: ["read", "grep"],
    });
    expect(await prompt()).toBe(text);
  },
);

test("F044: an agent whose model has no key is not in force at all", async () => {
  const files = { ...FILES, "agents/far.md": fileOf("model: keyless/far\ntools: []\nthinking: max") };
  const { agent, agents } = await open({ files, hasKey: (provider) => provider !== "keyless" });
  await agents.use("reviewer");
  await expect(agents.use("far")).rejects.toMatchObject({ code: "no_key", hint: expect.stringContaining("key") });
  expect(agents.current).toBe("reviewer");
  expect(agent.state).toMatchObject({ activeTools: ["read", "grep"], thinkingLevel: "high" });
});

test("P14: a model and a thinking level that the person chose meanwhile stay theirs", async () => {
  const { agent, agents, prompt } = await open({ files: FILES, script: () => ({ text: "Done." }) });
  await agents.use("writer");
  const [scripted] = agent.service("models")!.list();
  await agent.setModel(scripted!);
  agent.setThinkingLevel("low");
  await agents.use("off");
  await prompt();
  expect(agent.state).toMatchObject({ model: { id: "scripted" }, thinkingLevel: "low" });
});

test("P14: the packages of an agent are those whose tools it has, and no other's", async () => {
  const ran: string[] = [];
  const jira = official("pi-jira", toolsOf(["ticket", "close"], ran, ["close"]));
  const files = { "agents/triage.md": fileOf("packages: [pi-jira]"), "agents/lost.md": fileOf("packages: [pi-gira]") };
  const { agent, agents } = await open({ files, extensions: [jira] });
  await agents.use("triage");
  expect(agent.state.activeTools).toEqual(["ticket"]);
  await expect(agents.use("lost")).rejects.toMatchObject({ hint: expect.stringContaining("pi install pi-gira") });
  await agents.use("off");
  expect(agent.state.activeTools).toEqual(["read", "bash", "write", "ticket"]);
});

test("P14: flags of the command take tools away from an agent, and bring none", async () => {
  const { agent, agents } = await open({ files: FILES, flags: { "exclude-tools": "gr*" } });
  await agents.use("reviewer");
  expect(agent.state.activeTools).toEqual(["read"]);
  const none = await open({ files: FILES, flags: { "no-tools": true } });
  await none.agents.use("reviewer");
  expect(none.agent.state.activeTools).toEqual([]);
  const few = await open({ files: FILES, flags: { tools: "grep,bash" } });
  few.agent.setActiveTools(["grep", "bash"]);
  await few.agents.use("reviewer");
  expect(few.agent.state.activeTools).toEqual(["grep"]);
});

test("P14: the service lists agents with what is wrong with them; a faulty one has no tools", async () => {
  const { agents } = await open({ files: FILES });
  const found = Object.fromEntries(agents.list().map(({ name, tools, fault }) => [name, { tools, code: fault?.code }]));
  expect(found).toEqual({
    reviewer: { tools: ["read", "grep"], code: undefined },
    writer: { tools: undefined, code: undefined },
    nobody: { tools: [], code: undefined },
    faulty: { tools: [], code: "agent_file" },
  });
});

test("E3: of two agents of one name the person's counts, and the loser is told once with both paths", async () => {
  const files = { ...FILES, "project/agents/reviewer.md": fileOf("tools: [bash]") };
  const { agent, agents, notices } = await open({ files });
  await agent.dispatch("session_start", { reason: "startup" });
  await agent.dispatch("session_start", { reason: "reload" });
  expect(notices).toEqual([
    expect.stringMatching(/project\/agents\/reviewer\.md is not used: agents\/reviewer\.md has/),
  ]);
  await agents.use("reviewer");
  expect(agent.state.activeTools).toEqual(["read", "grep"]);
});

test("/agent lists, chooses, goes back and completes; what is wrong is told with what to do", async () => {
  const { agent, notices, faults } = await open({ files: FILES });
  await agent.input("/agent");
  expect(notices.at(-1)).toMatch(
    /^No agent is in force\.[^]*\n {2}reviewer \(user\): Reviews\n[^]*\n! faulty \(user\): .*raed/,
  );
  await agent.input("/agent reviewer");
  expect(notices.at(-1)).toBe('The agent reviewer is in force. Its tools: read, grep. Its skills: "pdf".');
  await agent.input("/agent");
  expect(notices.at(-1)).toMatch(/^The agent reviewer is in force\.[^]*\n\* reviewer/);
  await agent.input("/agent revewer");
  expect(notices.at(-1)).toMatch(/^There is no agent "revewer"\. Did you mean reviewer\?/);
  await agent.input("/agent off");
  expect(notices.at(-1)).toBe("The default is in force.");
  const complete = async (prefix: string) => {
    const completions = await agent.registry("command").get("agent")!.value.getArgumentCompletions!(prefix);
    return completions!.map(({ value }) => value);
  };
  expect(await complete("re")).toEqual(["reviewer"]);
  expect(await complete("")).toContain("off");
  expect(faults).toEqual([]);
});

test("F043: /agent during a run takes effect when the run is over", async () => {
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  const { promise: gate, resolve: pass } = Promise.withResolvers<void>();
  const script = async () => (reach(), await gate, { text: "Done." });
  const { agent, agents } = await open({ files: FILES, script });
  await agent.input("Go.");
  await reached;
  const chosen = agent.input("/agent reviewer");
  expect(agents.current).toBe(undefined);
  pass();
  await chosen;
  expect(agents.current).toBe("reviewer");
  expect(agent.state.activity).toBe("idle");
});

test("E1: unloading the package takes everything back but what is on", async () => {
  const { agent, agents } = await open({ files: FILES });
  await agents.use("nobody");
  expect(await agent.unload("@pi-agent/agents")).toEqual({ leaks: [] });
  expect(agent.state).toMatchObject({ limits: [], activeTools: [] });
  expect(agent.service("resources")!.list("skill")).toHaveLength(2);
});
