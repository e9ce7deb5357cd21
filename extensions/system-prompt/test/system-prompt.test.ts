import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Agent, createAgent, type Extension, type FlagValue, type Resource } from "@pi-agent/kernel";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import systemPrompt from "../src/index.ts";
import { PREAMBLE } from "../src/texts.ts";

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "pi-system-prompt-"));
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(cwd, { recursive: true });
});

const tools: Extension = (pi) => {
  for (const name of ["read", "bash", "grep"]) {
    pi.registerTool({
      name,
      description: name,
      parameters: { type: "object" },
      promptSnippet: `Does ${name}`,
      promptGuidelines: [`Rule of ${name}.`],
      execute: async () => ({ content: [] }),
    });
  }
};

function resource(kind: string, path: string, text: string, state: Resource["state"] = "loaded"): Resource {
  return { id: path, kind, path, source: "files", scope: "user", state, text: () => text };
}

async function start(given: { flags?: Record<string, FlagValue>; resources?: Resource[] } = {}): Promise<Agent> {
  const { flags = {}, resources = [] } = given;
  const agent = createAgent({
    extensions: [tools, systemPrompt],
    host: {
      cwd,
      flags: new Map(Object.entries(flags)),
      resources: { list: (kind) => resources.filter((each) => each.kind === kind) },
    },
  });
  await agent.ready();
  onTestFinished(async () => void (await agent.dispose()));
  return agent;
}

async function sections(agent: Agent): Promise<Record<string, string>> {
  return Object.fromEntries((await agent.promptSections()).map(({ name, text }) => [name, text]));
}

test("E11 on the real kernel the sections stand in their slots, in order", async () => {
  const resources = [
    resource("context-file", "/p/AGENTS.md", "of the project"),
    resource("append-system-prompt", "/u/APPEND_SYSTEM.md", "added"),
  ];
  const agent = await start({ resources });
  const found = await agent.promptSections();
  expect(found.map(({ name }) => name).filter((name) => name !== "docs")).toEqual([
    "preamble",
    "tools",
    "rules",
    "addendum",
    "project_context",
    "cwd",
  ]);
  expect([...agent.registry("section")].every(([name, { value }]) => name === value.slot)).toBe(true);
  expect(found[0]!.text).toBe(PREAMBLE);
});

test("tools and rules follow the tools that are on", async () => {
  const agent = await start();
  const all = await sections(agent);
  expect(all.tools).toContain("- grep: Does grep");
  expect(all.rules).not.toContain("Use bash to list");
  agent.setActiveTools(["bash"]);
  const few = await sections(agent);
  expect(few.tools).toBe("These tools are on:\n- bash: Does bash");
  expect(few.rules).toContain("- Use bash to list and to search files.\n- Rule of bash.");
  agent.setActiveTools([]);
  expect(await sections(agent)).not.toHaveProperty("tools");
});

test("nothing changes in the prompt while nothing else does", async () => {
  writeFileSync(join(cwd, "more.md"), "first");
  const agent = await start({
    flags: { "append-system-prompt": ["more.md"] },
    resources: [resource("context-file", "/p/AGENTS.md", "x")],
  });
  vi.useFakeTimers({ toFake: ["Date"], now: new Date(2026, 5, 1, 8) });
  const before = await sections(agent);
  vi.setSystemTime(new Date(2026, 5, 1, 22));
  writeFileSync(join(cwd, "more.md"), "second");
  expect(await sections(agent)).toEqual(before);
  vi.setSystemTime(new Date(2026, 5, 2, 1));
  const { cwd: place, ...rest } = await sections(agent);
  expect(place).toBe(`Current date: 2026-06-02\nCurrent working directory: ${cwd}`);
  expect({ ...rest, cwd: before.cwd }).toEqual(before);
});

test.each([
  ["--system-prompt with a text", { "system-prompt": "Only this." }, []],
  ["--system-prompt with a file", { "system-prompt": "own.md" }, []],
  ["SYSTEM.md", {}, [resource("system-prompt", "/p/SYSTEM.md", "Only this.\n")]],
  [
    "--system-prompt rather than SYSTEM.md",
    { "system-prompt": "Only this." },
    [resource("system-prompt", "/s", "Not this.")],
  ],
  [
    "the first SYSTEM.md that may be used",
    {},
    [
      resource("system-prompt", "/held", "Not this.", "held"),
      resource("system-prompt", "/p/SYSTEM.md", "Only this."),
      resource("system-prompt", "/u/SYSTEM.md", "Nor this."),
    ],
  ],
])("%s replaces the preamble and drops tools, rules and docs", async (_name, flags, resources) => {
  writeFileSync(join(cwd, "own.md"), "Only this.");
  const context = resource("context-file", "/p/AGENTS.md", "of the project");
  const found = await sections(await start({ flags, resources: [...resources, context] }));
  expect(Object.keys(found)).toEqual(["preamble", "project_context", "cwd"]);
  expect(found.preamble).toBe("Only this.");
});

test("the addendum has files first, the project's last of them, then the flags in order", async () => {
  writeFileSync(join(cwd, "more.md"), "third\n");
  const resources = [
    resource("append-system-prompt", "/p/.pi/APPEND_SYSTEM.md", "second"),
    resource("append-system-prompt", "/u/APPEND_SYSTEM.md", "first"),
    resource("append-system-prompt", "/held", "never", "held"),
  ];
  const flags = { "append-system-prompt": ["more.md", "", "fourth"] };
  const { addendum } = await sections(await start({ flags, resources }));
  expect(addendum).toBe("first\n\nsecond\n\nthird\n\nfourth");
});

test("--no-context-files leaves them out", async () => {
  const resources = [resource("context-file", "/p/AGENTS.md", "of the project")];
  expect((await sections(await start({ resources }))).project_context).toContain("of the project");
  const without = await start({ resources, flags: { "no-context-files": true } });
  expect(await sections(without)).not.toHaveProperty("project_context");
});

test("held context files are no part of the prompt", async () => {
  const agent = await start({ resources: [resource("context-file", "/p/AGENTS.md", "held back", "held")] });
  expect(JSON.stringify(await agent.promptSections())).not.toContain("held back");
});

test("unloading takes the sections and flags away", async () => {
  const agent = await start();
  const owner = agent.registry("section").get("preamble")!.owner;
  expect(await agent.unload(owner.name)).toEqual({ leaks: [] });
  expect(await agent.promptSections()).toEqual([]);
  expect(agent.registry("flag").size).toBe(0);
});
