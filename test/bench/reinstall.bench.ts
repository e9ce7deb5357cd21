/**
 * Installing a package with 20 dependencies anew when everything is in the cache and locked, next to npm doing the same
 * from its own cache and lock: whole processes, turn about.
 */
import { execFile } from "node:child_process";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { PI_BIN } from "@pi-agent/testing/house";
import { startVerdaccio, type Verdaccio } from "../e2e/packages-verdaccio.ts";
import { homeFor } from "./installed-packages.ts";
import { interleave, median, medianRatio } from "./processes.ts";
import type { Ratio } from "./run.ts";

const DEPENDENCIES = 20;
const FILES = 30;
const RUNS = 12;
const QUIET = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel", "error"];

export async function run(): Promise<Ratio[]> {
  await using registry = await startVerdaccio();
  await publish(registry);
  const { home, agentDir } = await homeFor(registry);
  try {
    const env = { PATH: process.env.PATH, HOME: home, npm_config_cache: join(home, "npm-cache") };
    const project = join(home, "project");
    await mkdir(project);
    await writeFile(join(project, "package.json"), JSON.stringify({ private: true, dependencies: { top: "1.0.0" } }));
    await writeFile(join(agentDir, "settings.json"), JSON.stringify({ packages: ["npm:top@1.0.0"] }));
    const ours = async () => {
      await rm(join(agentDir, "packages"), { recursive: true, force: true });
      return await time(process.execPath, [PI_BIN, "install", "--yes"], { cwd: join(home, "work"), env });
    };
    const theirs = async () => {
      await rm(join(project, "node_modules"), { recursive: true, force: true });
      return await time("npm", ["install", ...QUIET], { cwd: project, env });
    };
    const rounds = await interleave({ ours, theirs }, { runs: RUNS, warmUps: 2 });
    await assertSame(agentDir, project);
    const show = (side: { ms: number }[]) => `${median(side.map(({ ms }) => ms)).toFixed(0)} ms`;
    console.log(`warm reinstall with ${DEPENDENCIES} dependencies: ${show(rounds.ours)}, npm ${show(rounds.theirs)}`);
    const ratio = medianRatio(rounds.ours, rounds.theirs, "ms");
    return [{ what: `warm-reinstall-with-${DEPENDENCIES}-dependencies/npm`, ratio, limit: 1 }];
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

async function publish(registry: Verdaccio): Promise<void> {
  const names = Array.from({ length: DEPENDENCIES }, (_, index) => `dependency-${index}`);
  const code = (name: string, file: number) => `exports.value = "${name} ${file}";\n`.repeat(60);
  for (const name of names) {
    const files = Array.from({ length: FILES }, (_, file) => [`lib/part-${file}.js`, code(name, file)]);
    await registry.publish({ name, version: "1.0.0" }, Object.fromEntries(files));
  }
  const dependencies = Object.fromEntries(names.map((name) => [name, "^1.0.0"]));
  await registry.publish(
    { name: "top", version: "1.0.0", dependencies },
    { "extensions/main.ts": "export default () => {};\n" },
  );
}

/** Fails when one of the two did not install all of it. */
async function assertSame(agentDir: string, project: string): Promise<void> {
  const [root = ""] = await readdir(join(agentDir, "packages", "top"));
  const ours = join(agentDir, "packages", "top", root, "package", "node_modules");
  for (const modules of [ours, join(project, "node_modules")]) {
    const found = (await readdir(modules)).filter((name) => name.startsWith("dependency-"));
    if (found.length !== DEPENDENCIES) throw new Error(`${modules} has ${found.length} dependencies.`);
  }
}

async function time(
  program: string,
  args: string[],
  options: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<{ ms: number }> {
  const startedAt = performance.now();
  await promisify(execFile)(program, args, options);
  return { ms: performance.now() - startedAt };
}
