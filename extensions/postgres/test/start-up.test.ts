import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "./hubs.ts";

const SOURCE = (path: string) => JSON.stringify(join(import.meta.dirname, path));

/** Runs a program with an agent that has the extension; answers what it printed. */
async function run(code: string, agentDir: string): Promise<unknown> {
  const program = `import { createAgent } from ${SOURCE("../../../kernel/src/index.ts")};
    import { scriptedProvider } from ${SOURCE("../../../test/kit/src/index.ts")};
    import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
    const { default: postgres } = await import(${SOURCE("../src/index.ts")});
    ${code}`;
  const env = { PATH: process.env.PATH ?? "", HOME: agentDir, PI_CODING_AGENT_DIR: agentDir };
  const args = ["--conditions", "@pi-agent/source", "--input-type=module-typescript", "-e", program];
  const child = spawn(process.execPath, args, { cwd: import.meta.dirname, env, stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  const code_ = await new Promise((resolve) => child.on("close", resolve));
  expect(code_).toBe(0);
  return JSON.parse(text);
}

const RUN = `const agent = createAgent({ extensions: [scriptedProvider([{ text: "Done." }]), postgres], model: "scripted/scripted" });
  await agent.input("go");
  await agent.settled();`;
const PRINT = `console.log(JSON.stringify({ loaded: loaded.filter((url) => /pglite|\\/pg\\/|worker|runs\\//.test(url)) }));`;

test("D2 a short run opens no database, loads none, and leaves its lines to the next start", async () => {
  const { path, remove } = await tempFolder();
  try {
    expect(await run(`${RUN} await agent.dispose(); ${PRINT}`, path)).toEqual({ loaded: [] });
    const [folder = "", ...others] = readdirSync(join(path, "spool"));
    expect(others).toEqual([]);
    expect(folder).toMatch(/^none\./);
    expect(readFileSync(join(path, "spool", folder, "1.jsonl"), "utf8")).toContain('"status":"done"');
    expect(readdirSync(path)).toEqual(["spool"]);
  } finally {
    await remove();
  }
}, 30_000);

test("D2 a process that nobody disposed of ends by itself, with its lines on disk", async () => {
  const { path, remove } = await tempFolder();
  try {
    expect(await run(`${RUN} ${PRINT}`, path)).toEqual({ loaded: [] });
    const [folder = ""] = readdirSync(join(path, "spool"));
    expect(readFileSync(join(path, "spool", folder, "1.jsonl"), "utf8")).toContain('"status":"done"');
  } finally {
    await remove();
  }
}, 30_000);

test("an agent that is only started writes nothing", async () => {
  const { path, remove } = await tempFolder();
  try {
    await run(
      `const agent = createAgent({ extensions: [postgres] }); await agent.ready(); await agent.dispose(); ${PRINT}`,
      path,
    );
    expect(readdirSync(path)).toEqual([]);
  } finally {
    await remove();
  }
}, 30_000);
