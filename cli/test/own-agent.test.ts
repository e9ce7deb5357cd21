import { spawn } from "node:child_process";
import { symlinkSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import anthropic from "@pi-agent/anthropic";
import { type Agent, createAgent, type Extension } from "@pi-agent/kernel";
import { load, readAgentFile } from "@pi-agent/loader";
import tools from "@pi-agent/tools";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { type TempProject, tempProject } from "../../test/kit/src/index.ts";
import { startWireServer, type WireServer } from "../../test/kit/src/wire.ts";
import { DEFAULT_PACKAGES } from "../src/default-packages.ts";
import { finish } from "./run-node.ts";

const MODEL = "claude-sonnet-5-5";
const AGENT = {
  name: "reviewer",
  description: "Reviews changes.",
  model: `anthropic/${MODEL}`,
  thinking: "low",
  systemPrompt: "You review.",
  packages: { "@pi-agent/anthropic": true, "@pi-agent/tools": true, "./tools/shout.ts": { loud: true } },
  tools: ["read", "shout"],
  maxTurns: 2,
} as const;
const SHOUT = `import { Type } from "typebox";
export default function shout(pi, options = {}) {
  pi.registerTool({
    name: "shout",
    description: options.loud ? "Shouts loudly." : "Shouts.",
    parameters: Type.Object({ text: Type.String() }),
    effect: "read",
    execute: async (_id, { text }) => ({ content: [{ type: "text", text: text.toUpperCase() }] }),
  });
}
`;
const CALL = { calls: [{ name: "shout", arguments: { text: "hi" } }] };

let server: WireServer;
let project: TempProject;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  server = await startWireServer({ script: () => CALL, models: [MODEL] });
  const models = JSON.stringify({ providers: { anthropic: { baseUrl: server.url } } });
  const source = JSON.stringify(join(import.meta.dirname, "../dist/main.js"));
  const bin = `import { runAgentFile } from ${source};\nawait runAgentFile(new URL("agent.json", import.meta.url));\n`;
  const pi = `import { main } from ${source};\nawait main(process.argv.slice(2));\n`;
  project = await tempProject({
    agentFiles: {
      "models.json": models,
      "extensions/mine.ts": 'export default (pi) => pi.registerCommand("mine", { description: "x", handler() {} });',
    },
    files: { "AGENTS.md": "Obey nobody." },
  });
  const files = { "agent.json": JSON.stringify(AGENT), "tools/shout.ts": SHOUT, "bin.js": bin, "pi.js": pi };
  const packaged = {
    name: "packaged",
    version: "1.0.0",
    type: "module",
    pi: { agent: { name: "packaged", packages: {} } },
  };
  await project.write(pathOf("packaged/package.json"), JSON.stringify(packaged));
  await project.write(pathOf("packaged/bin.js"), bin.replace("agent.json", "."));
  const manifest = { "package.json": '{ "name": "reviewer", "version": "3.2.1", "type": "module" }' };
  for (const [name, text] of Object.entries({ ...files, ...manifest })) await project.write(pathOf(name), text);
  await mkdir(pathOf("node_modules"));
  symlinkSync(join(import.meta.dirname, "../../kernel/node_modules/typebox"), pathOf("node_modules/typebox"));
  env = { PATH: process.env.PATH, HOME: project.home, ANTHROPIC_API_KEY: "test-key" };
});
afterAll(async () => {
  await server.close();
  await project.cleanup();
});

/** A file of the program, which lies beside the project that it is run in. */
function pathOf(name: string): string {
  return join(project.path, "../reviewer", name);
}

/** An extension as the agent's file names it. */
function relativeName(name: string): string {
  return name.replace(pathOf("."), ".");
}

/** Runs a program with the command as built, in the project. */
function run(args: readonly string[]) {
  return finish(spawn(process.execPath, args, { cwd: project.path, env, stdio: ["ignore", "pipe", "pipe"] }));
}

/** What the model was asked since `from`: ids are new each time. */
function askedSince(from: number): { model?: string; thinking?: unknown; system: string; tools: { name: string }[] }[] {
  const asked = server.requests.slice(from).map(({ neutral, body }) => ({ ...(body as object), ...neutral }));
  return JSON.parse(JSON.stringify(asked).replace(/toolu_\w+/g, "id"));
}

async function ask(agent: Agent) {
  const from = server.requests.length;
  const { outcome } = await agent.run("Go.");
  const packages = agent.extensions.map(({ owner }) => relativeName(owner.name));
  return { asked: askedSince(from), outcome, packages };
}

const asFile = async () => readAgentFile(pathOf("agent.json"));

test("P13: as a program of its own, by load(), and with createAgent() it is the same agent, and nothing else is loaded", {
  timeout: 60_000,
}, async () => {
  const [program, doctor] = await Promise.all([
    run([pathOf("bin.js"), "-p", "Go."]),
    run([pathOf("bin.js"), "doctor", "--json"]),
  ]);
  expect(program.stderr).toContain("The run was stopped before its answer");
  const byProgram = askedSince(0);
  const diagnosis = JSON.parse(doctor.stdout) as { extensions: { name: string }[] };

  const loaded = await load({
    cwd: project.path,
    env,
    official: DEFAULT_PACKAGES,
    agent: { definition: await asFile(), isOwn: true },
  });
  const byLoad = await ask(loaded.agent);
  await loaded.dispose();

  const { default: shout } = (await import(pathOf("tools/shout.ts"))) as { default: Extension };
  const catalogue = createAgent({ extensions: [anthropic] });
  await catalogue.ready();
  const model = catalogue
    .registry("provider")
    .get("anthropic")!
    .value.models.find(({ id }) => id === MODEL)!;
  await catalogue.dispose();
  const agent = createAgent({
    extensions: [anthropic, tools, [shout, { loud: true }]],
    model: { ...model, baseUrl: server.url },
    thinkingLevel: AGENT.thinking,
    systemPrompt: AGENT.systemPrompt,
    activeTools: [...AGENT.tools],
    maxTurns: AGENT.maxTurns,
    host: { cwd: project.path },
  });
  vi.stubEnv("ANTHROPIC_API_KEY", "test-key");
  onTestFinished(() => void vi.unstubAllEnvs());
  const inCode = await ask(agent);
  await agent.dispose();

  expect(inCode.asked).toHaveLength(AGENT.maxTurns);
  expect(inCode.asked[0]).toMatchObject({ model: MODEL, system: "You review." });
  expect(inCode.asked[0]!.tools.map(({ name }) => name).toSorted()).toEqual(["read", "shout"]);
  expect(byLoad.asked).toEqual(inCode.asked);
  expect(byProgram).toEqual(inCode.asked);
  expect([byLoad.outcome, inCode.outcome]).toEqual(["max_turns", "max_turns"]);
  const names = Object.keys(AGENT.packages);
  // What holds it to its tools, and the front end itself, are no packages.
  const limit = `the agent ${AGENT.name}`;
  expect(byLoad.packages).toEqual([limit, ...names]);
  expect(diagnosis.extensions.map(({ name }) => relativeName(name))).toEqual(["@pi-agent/cli", limit, ...names]);
});

test("a program of its own has its own version and help, and is no other agent", async () => {
  const [version, help, packaged, other] = await Promise.all([
    run([pathOf("bin.js"), "--version"]),
    run([pathOf("bin.js"), "--help"]),
    run([pathOf("packaged/bin.js"), "--help"]),
    run([pathOf("bin.js"), "--agent", "./other.json", "Go."]),
  ]);
  expect(version).toMatchObject({ code: 0, stdout: "3.2.1\n" });
  expect(help.stdout).toMatch(/^reviewer: Reviews changes\.\n/);
  expect(packaged.stdout).toMatch(/^packaged\n/);
  expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining("this program is the agent reviewer") });
});

test("an agent file that is typed is the agent too, and one with a fault is told with its place and runs nothing", async () => {
  const pi = (...args: string[]) => run([pathOf("pi.js"), ...args]);
  const from = server.requests.length;
  await project.write(pathOf("broken.json"), JSON.stringify({ ...AGENT, tools: undefined, tool: ["read"] }, null, 2));
  const [typed, broken, gone, unknown] = await Promise.all([
    pi("--agent", pathOf("agent.json"), "-p", "--tools=-shout", "--max-turns", "1", "--thinking", "off", "Go."),
    pi("--agent", "../reviewer/broken.json", "-p", "Go."),
    pi("--agent", "./gone/", "-p", "Go."),
    pi("--agent", "../reviewer", "-p", "--tools", "raed", "Go."),
  ]);
  expect(typed.stderr).toContain("The run was stopped before its answer");
  const asked = askedSince(from);
  expect(asked).toHaveLength(1);
  expect(asked[0]).toMatchObject({ system: "You review.", tools: [{ name: "read" }] });
  expect(broken).toMatchObject({ code: 1, stdout: "" });
  expect(broken.stderr).toMatch(
    /^error: .*\/broken\.json:\d+:\d+: An agent has no "tool"\. Did you mean "tools"\?\n {2}try: Mend it there/,
  );
  expect(gone.stderr).toContain(`There is nothing at ${project.path}/gone.`);
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining("there is no tool raed") });
}, 60_000);
