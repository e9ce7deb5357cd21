import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ExtensionEntry } from "@pi-agent/kernel";
import { Type } from "typebox";
import { expect, test } from "vitest";
import type { TempProject } from "../../test/kit/src/index.ts";
import type { AgentDefinition } from "../src/agent-file.ts";
import { askedWith, canary, loadIn, marks, project, toolExtension, verdicts } from "./loading.ts";

type Loaded = Awaited<ReturnType<typeof loadIn>>;
const tools = ({ agent }: Loaded) => [...agent.registry("tool").keys()];

function official(name: string): ExtensionEntry {
  const parameters = Type.Object({});
  const tool = { description: "", parameters, execute: async () => ({ content: [] }) };
  return {
    owner: { name: `@pi-agent/${name}`, scope: "official" },
    extension: (pi, options: { called?: string } | undefined) => {
      const called = options?.called ?? name;
      pi.register("tool", called, { ...tool, name: called });
    },
  };
}

const OFFICIAL = [official("one"), official("two")];

/** A definition in a folder of its own, with a tool of its own and packages in node_modules. */
async function agentIn(folder: string, definition: Partial<AgentDefinition>): Promise<AgentDefinition> {
  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  };
  await write("tools/own.ts", toolExtension("own", ""));
  await write(
    "node_modules/beside/package.json",
    '{ "name": "beside", "pi": { "extensions": ["./x.ts"], "skills": ["./s"] } }',
  );
  await write("node_modules/beside/x.ts", toolExtension("beside", ""));
  await write("node_modules/beside/s/SKILL.md", "---\nname: s\n---\n");
  await write(
    "node_modules/@pi-agent/two/package.json",
    '{ "name": "@pi-agent/two", "pi": { "extensions": ["./x.ts"] } }',
  );
  await write("node_modules/@pi-agent/two/x.ts", toolExtension("pinned", ""));
  return { file: join(folder, "agent.json"), name: "reviewer", packages: [], ...definition };
}

/** A person with an extension, a skill and a package of their own, and a project with an extension. */
async function person(): Promise<TempProject> {
  const at = await project({ files: { ".git/HEAD": "", ".pi/extensions/theirs.ts": "" } });
  await at.write(".pi/extensions/theirs.ts", toolExtension("theirs", ""));
  await at.write(join(at.agentDir, "extensions/mine.ts"), toolExtension("mine", ""));
  await at.write(join(at.agentDir, "skills/mine/SKILL.md"), "---\nname: mine\n---\n");
  await at.write(join(at.home, "pkg/package.json"), '{ "name": "mine-too", "pi": { "extensions": ["./x.ts"] } }');
  await at.write(join(at.home, "pkg/x.ts"), toolExtension("packaged", ""));
  await at.write(join(at.agentDir, "settings.json"), JSON.stringify({ packages: [join(at.home, "pkg")] }));
  return at;
}

const PICKS = [
  { name: "@pi-agent/one", options: { called: "renamed" } },
  { name: "./tools/own.ts" },
  { name: "beside" },
];

test("P13: nothing loads but what is picked, and options reach it", async () => {
  const at = await person();
  const definition = await agentIn(join(at.home, "agent"), { packages: PICKS });
  const loaded = await loadIn(at, { official: OFFICIAL, agent: { definition }, mode: askedWith("content") });
  expect(tools(loaded)).toEqual(["renamed", "own", "beside"]);
  expect(loaded.host.resources.list("skill").map(({ source }) => source)).toEqual(["package beside"]);
  expect(loaded.report.plan.items).toEqual([]);
  expect(loaded.report.problems).toEqual([]);
});

test("P13: what the person installed can be picked by its name, and comes with the command before it lies beside the file", async () => {
  const at = await person();
  const definition = await agentIn(join(at.home, "agent"), {
    packages: [{ name: "mine-too" }, { name: "@pi-agent/two" }],
  });
  expect(tools(await loadIn(at, { official: OFFICIAL, agent: { definition } }))).toEqual(["two", "packaged"]);
});

test("P13: a program's own agent has what lies beside its file, wherever it is run, and nothing of the person's", async () => {
  const at = await person();
  const packages = [{ name: "@pi-agent/two" }, ...PICKS];
  const definition = await agentIn(join(at.path, "program"), { packages });
  const loaded = await loadIn(at, { official: OFFICIAL, agent: { definition, isOwn: true } });
  expect(tools(loaded)).toEqual(["renamed", "pinned", "own", "beside"]);
  const lacking = { definition: { ...definition, packages: [{ name: "mine-too" }] }, isOwn: true };
  await expect(loadIn(at, { agent: lacking })).rejects.toMatchObject({
    code: "package_missing",
    message: expect.stringContaining("mine-too"),
    hint: expect.stringContaining("npm install mine-too"),
  });
});

test("P13, T4: what a typed file picks inside the project waits for trust", async () => {
  const at = await person();
  const definition = await agentIn(join(at.path, "agent"), { packages: PICKS });
  await at.write("agent/tools/own.ts", canary(at, "own"));
  const asked = await loadIn(at, { official: OFFICIAL, agent: { definition } });
  expect(tools(asked)).toEqual(["renamed"]);
  expect(marks(at)).toEqual([]);
  expect(verdicts(asked.report.plan)).toEqual({
    "extension:agent/tools/own.ts": "held",
    "extension:agent/node_modules/beside/x.ts": "held",
  });
  const trusted = await loadIn(at, { official: OFFICIAL, agent: { definition }, mode: askedWith("content") });
  expect(tools(trusted)).toEqual(["renamed", "beside"]);
  expect(marks(at)).toEqual(["own evaluated", "own activated"]);
});

test("isBare loads neither official packages nor extensions, and has nothing evaluated", async () => {
  const at = await person();
  await at.write(join(at.agentDir, "extensions/mine.ts"), canary(at, "mine"));
  const loaded = await loadIn(at, { official: OFFICIAL, isBare: true, isPlanOnly: true, flags: { approve: true } });
  expect(loaded.report.extensions).toEqual([]);
  expect(marks(at)).toEqual([]);
});

test("the person's settings turn official packages off, a project's do not", async () => {
  const at = await person();
  await at.write(".pi/settings.json", JSON.stringify({ extensions: ["-builtin:two"] }));
  await at.write(join(at.agentDir, "settings.json"), JSON.stringify({ extensions: ["-builtin:one"] }));
  expect(tools(await loadIn(at, { official: OFFICIAL, flags: { approve: true } }))).toEqual(["two", "mine", "theirs"]);
});

test("P13, T4: settings of a typed file count as far as a project's may, those of a program's own agent all", async () => {
  const at = await person();
  const settings = { httpProxy: "http://elsewhere.example", theme: "dark" };
  const definition = await agentIn(join(at.path, "agent"), { settings });
  const typed = await loadIn(at, { agent: { definition } });
  expect([typed.host.settings.get("httpProxy"), typed.host.settings.get("theme")]).toEqual([undefined, "dark"]);
  const own = await loadIn(at, { agent: { definition, isOwn: true } });
  expect(own.host.settings.get("httpProxy")).toBe("http://elsewhere.example");
});

test("P13, F044: a list of tools holds, whatever a package switches on", async () => {
  const at = await person();
  const definition = await agentIn(join(at.home, "agent"), {
    tools: ["one"],
    packages: [{ name: "@pi-agent/one" }, { name: "./tools/own.ts" }],
  });
  const loaded = await loadIn(at, { official: OFFICIAL, agent: { definition } });
  loaded.agent.setActiveTools(["one", "own"]);
  expect(loaded.agent.state.limits).toMatchObject([{ reason: "the agent reviewer" }]);
  const asked = { ...definition, tools: ["onne"] };
  await expect(loadIn(at, { official: OFFICIAL, agent: { definition: asked } })).rejects.toMatchObject({
    code: "unknown_tool",
    hint: expect.stringContaining("one"),
  });
});
