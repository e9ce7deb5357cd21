import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentError, type ExtensionReport } from "@pi-agent/kernel";
import type { PlanItem } from "@pi-agent/loader";
import { expect, onTestFinished, test } from "vitest";
import { runDoctor } from "../../src/commands/doctor.ts";
import { createScriptedAgent } from "../scripted-agent.ts";
import { item, plan } from "../trust/planned.ts";

const PATH = "/home/somebody/with/a/long/way/to/.pi/agent/extensions/tardy-extension.ts";
const TARDY: ExtensionReport = {
  owner: { name: PATH, scope: "user", path: PATH },
  state: "loaded",
  loadMs: 12.34,
  hookMs: 1_234.56,
  promptTokens: 321,
  errors: 2,
  slow: ["context", "turn_end"],
};
const BROKEN: ExtensionReport = {
  owner: { name: "broken.ts", scope: "user", path: "/there/broken.ts" },
  state: "failed",
  loadMs: 1,
  hookMs: 0,
  promptTokens: 0,
  errors: 1,
  slow: [],
  error: new AgentError("extension_failed", "It broke.", { hint: "Mend it." }),
};

/** What a host has of the resources below. */
const HOST = {
  resources: { list: (kind: string) => (kind === "skill" ? [{ path: "/their/project/.pi/skills/a/SKILL.md" }] : []) },
};

async function examine(args: string[], extensions: ExtensionReport[], columns?: number, items: PlanItem[] = []) {
  const agent = createScriptedAgent([]);
  await agent.ready();
  let written = "";
  const output = { stream: { isTTY: columns !== undefined, columns }, write: (text: string) => void (written += text) };
  const report = {
    cwd: "/here",
    boundary: "/here",
    agentDir: "/agent",
    plan: plan(items),
    decision: "untrusted",
    decidedBy: "nobody",
    extensions,
    problems: extensions.flatMap(({ error }) => error ?? []),
    heldLine: () => undefined,
  };
  const folder = await mkdtemp(join(tmpdir(), "pi-agent-test-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const packages = { context: { agentDir: folder, home: folder, hostVersions: {}, isLent: () => false } };
  const code = await runDoctor(args, { agent, host: HOST, report, packages, output } as never);
  await agent.dispose();
  return { code, written };
}

test("E6: pi doctor tells each extension's load time, hook time, prompt tokens, errors and slow hooks", async () => {
  const { code, written } = await examine([], [TARDY]);
  expect(code).toBe(0);
  expect(written).toMatch(/state +load ms +hook ms +tokens +errors +scope +name\n/);
  expect(written).toMatch(/loaded +12\.3 +1234\.6 +321 +2 +user +\/home\S+tardy-extension\.ts\n/);
  expect(written).toMatch(/slow +\/home\S+tardy-extension\.ts +in context, turn_end\n/);
});

test.each([60, 80, 120])("E6: the tables fit a terminal of %s columns, and a path keeps its end", async (columns) => {
  const { written } = await examine([], [TARDY], columns);
  const tables = written.slice(0, written.indexOf("Held back"));
  expect(tables.split("\n").filter((line) => line.length > columns)).toEqual([]);
  if (columns >= 80) expect(tables).toMatch(/tardy-extension\.ts/);
});

test("E6: pi doctor --json has the same as data, and what failed with its code", async () => {
  const { code, written } = await examine(["--json"], [TARDY, BROKEN]);
  expect(code).toBe(1);
  const { isWell, extensions, problems, places, trust } = JSON.parse(written);
  expect(isWell).toBe(false);
  const { owner, ...costs } = TARDY;
  expect(extensions[0]).toEqual({ ...owner, ...costs });
  expect(extensions[1]).toMatchObject({ state: "failed", error: { code: "extension_failed", hint: "Mend it." } });
  expect(problems).toEqual([{ code: "extension_failed", message: "It broke.", hint: "Mend it." }]);
  expect(places).toMatchObject({ folder: "/here", agentDirectory: "/agent" });
  expect(trust).toEqual({ decision: "untrusted, by nobody", stored: [], damaged: [] });
});

test("pi doctor does not know what else is typed after it", async () => {
  expect(await examine(["--jsn"], [])).toEqual({ code: 2, written: "" });
});

const LOADED = { verdict: "loaded", reason: "approved before" } as const;
const THEIRS = "/their/project/.pi/extensions/theirs.ts";
const theirs: ExtensionReport = { ...TARDY, owner: { name: THEIRS, scope: "project", path: THEIRS } };

test("pi doctor compares the plan with what is in force, resource by resource", async () => {
  const items = [
    item("executable", "extension:.pi/extensions/theirs.ts", LOADED),
    item("text", "skill:.pi/skills/a/SKILL.md", LOADED),
    item("text", "prompt:.pi/prompts/p.md"),
  ];
  const { code, written } = await examine([], [theirs], undefined, items);
  expect(code).toBe(0);
  expect(written).toMatch(/loaded +as planned +extension:.pi\/extensions\/theirs.ts +approved before\n/);
  expect(written).toMatch(/held +as planned +prompt:.pi\/prompts\/p.md +waits for your answer\n/);
});

test.each([
  ["what was to load and did not", item("executable", "extension:.pi/extensions/gone.ts", LOADED), "not in force"],
  ["what was held and is in force all the same", item("executable", "extension:.pi/extensions/theirs.ts"), "in force"],
  ["a text that was held and can be read", item("text", "skill:.pi/skills/a/SKILL.md"), "in force"],
])("pi doctor tells %s, and then all is not well", async (_, asked, is) => {
  const { code, written } = await examine([], [theirs], undefined, [asked]);
  expect(code).toBe(1);
  expect(written).toContain(`NOT as planned: ${is}  ${asked.id}`);
});
