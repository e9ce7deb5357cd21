/** The default agent without one of its packages: it works, and says what is missing when that is asked for. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tempProject } from "@pi-agent/testing";
import { runPi } from "@pi-agent/testing/house";
import { modelsJson, startWireServer, type WireServer } from "@pi-agent/testing/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DEFAULT_PACKAGES } from "../../cli/src/default-packages.ts";

/** What asks for something of a package, and what is said where it is not there. */
const ASKS: Record<string, { model?: string; args?: string[]; code: number; says: RegExp }> = {
  tools: { args: ["--tools", "read"], code: 2, says: /@pi-agent\/tools/ },
  anthropic: { model: "wire-anthropic", code: 1, says: /anthropic-messages.*@pi-agent\/anthropic/s },
  gemini: { model: "wire-gemini", code: 1, says: /google-generative-ai.*@pi-agent\/gemini/s },
  openai: { model: "wire-chat", code: 1, says: /openai-completions.*@pi-agent\/openai/s },
  sessions: { args: ["--session", "x"], code: 2, says: /--session.*@pi-agent\/sessions/s },
  "system-prompt": { args: ["--system-prompt", "x"], code: 2, says: /--system-prompt.*@pi-agent\/system-prompt/s },
  "step-log": { args: ["--log", "stderr"], code: 2, says: /--log.*@pi-agent\/step-log/s },
  cassette: { args: ["--record-cassette", "x"], code: 2, says: /--record-cassette.*@pi-agent\/cassette/s },
  agents: { args: ["--agent", "reviewer"], code: 2, says: /reviewer/ },
};
/** What nobody asks for by a flag or a model. */
const UNASKED = ["compaction", "retry"];
const ALL = [...Object.keys(ASKS), ...UNASKED];

let server: WireServer;
beforeAll(async () => {
  server = await startWireServer({ script: () => ({ text: "Hello." }) });
});
afterAll(() => server.close());

test("the packages that are left out here one by one are those of the default agent", () => {
  const names = DEFAULT_PACKAGES.map(({ owner }) => owner.name);
  expect(names.toSorted()).toEqual(ALL.map(toName).toSorted());
});

test.each(ALL.map((left) => [left, ASKS[left]] as const))(
  "P13: without %s the agent answers, and says what it lacks when it is asked for it",
  async (left, ask) => {
    await using project = await tempProject({ agentFiles: { "models.json": JSON.stringify(modelsJson(server.url)) } });
    const packages = ALL.filter((name) => name !== left);
    const definition = { name: "rest", packages: Object.fromEntries(packages.map((name) => [toName(name), true])) };
    const file = join(project.home, "agent.json");
    await writeFile(file, JSON.stringify(definition));
    const run = (model: string, args: readonly string[] = ["--agent", file]) =>
      runPi(["--model", `${model}/scripted`, ...args, "-p", "hello"], { cwd: project.path, home: project.home }).done;
    const works = await run(left === "openai" ? "wire-anthropic" : "wire-chat");
    expect(works).toMatchObject({ code: 0, stdout: expect.stringContaining("Hello."), stderr: "" });
    if (!ask) return;
    // One that is named takes the place of the file.
    const args = left === "agents" ? ask.args : ["--agent", file, ...(ask.args ?? [])];
    const told = await run(ask.model ?? "wire-chat", args);
    expect(told).toMatchObject({ code: ask.code, stderr: expect.stringMatching(ask.says) });
    expect(told.stderr).toMatch(/^ {2}(?:why|try): /m);
  },
);

function toName(name: string): string {
  return `@pi-agent/${name}`;
}
