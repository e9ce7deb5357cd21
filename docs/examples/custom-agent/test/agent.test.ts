import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import anthropic from "@pi-agent/anthropic";
import { createAgent } from "@pi-agent/kernel";
import { lastResults, type Script, type TempProject, tempProject } from "@pi-agent/testing";
import { startWireServer } from "@pi-agent/testing/wire";
import { expect, test } from "vitest";

const FILES = {
  "sum.mjs": "export const sum = (a, b) => a - b;\n",
  "check.mjs": 'import { sum } from "./sum.mjs";\nif (sum(2, 2) !== 4) throw new Error("2 + 2 is not " + sum(2, 2));\n',
};
const CHECK = { name: "bash", arguments: { command: "node check.mjs && echo all is well" } };
const EDIT = { name: "edit", arguments: { path: "sum.mjs", edits: [{ oldText: "a - b", newText: "a + b" }] } };

/** Runs the ten lines as they are, in a project of their own. */
async function runExample(project: TempProject, script: Script) {
  const catalogue = createAgent({ extensions: [anthropic] });
  await catalogue.ready();
  const models = catalogue
    .registry("provider")
    .get("anthropic")!
    .value.models.map(({ id }) => id);
  await catalogue.dispose();
  const server = await startWireServer({ script, models });
  const preload = fileURLToPath(new URL("./to-wire-server.ts", import.meta.url));
  const agent = fileURLToPath(new URL("../src/agent.ts", import.meta.url));
  const loadedFile = `${project.home}/loaded.json`;
  const child = spawn(process.execPath, ["--conditions", "@pi-agent/source", "--import", preload, agent], {
    cwd: project.path,
    env: {
      PATH: process.env.PATH,
      HOME: project.home,
      ANTHROPIC_API_KEY: "test-key",
      WIRE_URL: server.url,
      LOADED: loadedFile,
    },
  });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
    });
  }
  const [code] = (await once(child, "close")) as [number | null];
  await server.close();
  return { code, ...output, server, loaded: JSON.parse(readFileSync(loadedFile, "utf8")) as string[] };
}

test("ten lines mend a file with the real tools and answer; nothing but their two packages is loaded", async () => {
  await using project = await tempProject({ files: FILES });
  const run = await runExample(project, [
    { calls: [CHECK] },
    { calls: [EDIT] },
    { calls: [CHECK] },
    { text: "Mended." },
  ]);
  expect(run).toMatchObject({ code: 0, stdout: "Mended.\n", stderr: "· bash\n· edit\n· bash\n" });
  expect(await project.read("sum.mjs")).toBe("export const sum = (a, b) => a + b;\n");

  expect(run.server.refusals()).toEqual([]);
  const { requests } = run.server;
  const results = requests.slice(1).map(({ neutral }) => lastResults(neutral!)[0]!);
  expect(results.map(({ isError }) => isError === true)).toEqual([true, false, false]);
  expect(results[2]?.text).toContain("all is well");
  const { system, tools } = requests[0]!.neutral!;
  expect(system).toContain("You mend failing tests.");
  expect(tools.map(({ name }) => name).toSorted()).toEqual(["bash", "edit", "read", "write"]);

  // wire is the library that providers share.
  expect(run.loaded).toEqual(["extensions/anthropic", "extensions/tools", "extensions/wire", "kernel"]);
  expect(readdirSync(project.agentDir)).toEqual([]);
});

test("a provider that refuses ends the ten lines with exit code 1", async () => {
  await using project = await tempProject({ files: FILES });
  const { code, stdout } = await runExample(project, [{ fail: { status: 401 } }]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "\n" });
});
