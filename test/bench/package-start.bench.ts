/**
 * What 100 installed packages cost at a start, each a TypeScript extension: the first start, with nothing compiled yet,
 * next to Pi's with the same extensions in its folder, and every later one over a start without packages.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PI_BIN } from "@pi-agent/testing/house";
import { modelsJson, startWireServer, type WireServer } from "@pi-agent/testing/wire";
import { extensionNamed, type InstalledPackages, installPackages } from "./installed-packages.ts";
import { type Command, interleave, median, medianRatio, runNode } from "./processes.ts";
import { fetchRival } from "./rivals.ts";
import type { Ratio } from "./run.ts";

const COUNT = 100;
const LATER_LIMIT_MS = 1;
// Pi's first start with 100 extensions, measured on the machine that the limit was set for.
const PI_FIRST_MS = 1_900;

export async function run(): Promise<Ratio[]> {
  const server = await startWireServer({ script: () => ({ text: "Hello." }) });
  try {
    return await compareStarts(server);
  } finally {
    await server.close();
  }
}

async function compareStarts(server: WireServer): Promise<Ratio[]> {
  await using full = await installPackages(COUNT);
  await using empty = await installPackages(0);
  for (const each of [full, empty]) await writeModels(each.agentDir, server);
  const start = (home: string): Command => ({
    args: [PI_BIN, "-p", "--model", "wire-chat/scripted", "hello"],
    env: environmentOf(home),
    cwd: join(home, "work"),
  });
  await assertLoaded(full);
  const later = await interleave(
    { full: () => runNode(start(full.home)), empty: () => runNode(start(empty.home)) },
    { runs: 20, warmUps: 2 },
  );
  // Other work on the machine only adds.
  const least = (rounds: readonly { ms: number }[]) => Math.min(...rounds.map(({ ms }) => ms));
  const perPackageMs = (least(later.full) - least(later.empty)) / COUNT;
  const pi = await preparePi(server);
  try {
    const first = await interleave(
      {
        ours: () => runFirst(full.home, start(full.home)),
        theirs: pi && (() => runFirst(pi.home, pi.command)),
      },
      { runs: 7, warmUps: 1 },
    );
    console.log(
      `${COUNT} packages: first start ${show(first.ours)}${pi ? `, Pi's ${show(first.theirs)}` : ""}, later ${least(later.full).toFixed(0)} ms, without any ${least(later.empty).toFixed(0)} ms`,
    );
    const ratio = pi
      ? medianRatio(first.ours, first.theirs, "ms")
      : median(first.ours.map(({ ms }) => ms)) / PI_FIRST_MS;
    return [
      { what: `first-start-with-${COUNT}-packages/${pi ? "pi" : `${PI_FIRST_MS}-ms`}`, ratio, limit: 0.5 },
      { what: `later-start-per-package-ms/${LATER_LIMIT_MS}`, ratio: perPackageMs / LATER_LIMIT_MS, limit: 1 },
    ];
  } finally {
    if (pi) await rm(pi.home, { recursive: true, force: true });
  }
}

/** Runs a program as on a machine that has compiled nothing of it. */
async function runFirst(home: string, command: Command): Promise<{ ms: number }> {
  for (const folder of ["compiled", "tmp", ".pi/agent/cache/transform"])
    await rm(join(home, folder), { recursive: true, force: true });
  await mkdir(join(home, "tmp"));
  return await runNode(command);
}

/** Fails when not every package was loaded: the figure would be too good. */
async function assertLoaded({ home, agentDir }: InstalledPackages): Promise<void> {
  const list = await runNode({ args: [PI_BIN, "list", "--json"], env: environmentOf(home), cwd: join(home, "work") });
  const states = [...list.stdout.matchAll(/"state":\s*"(\w+)"/g)].map(([, state]) => state);
  if (states.length !== COUNT || states.some((state) => state !== "ok")) {
    throw new Error(`Not all packages in ${agentDir} are ok: ${list.stdout.slice(0, 2_000)}`);
  }
}

async function preparePi(server: WireServer): Promise<{ home: string; command: Command } | undefined> {
  const modules = await fetchRival("@earendil-works/pi-coding-agent");
  if (modules === undefined) return undefined;
  const home = await mkdtemp(join(tmpdir(), "pi-bench-"));
  const agentDir = join(home, ".pi", "agent");
  for (const folder of [join(agentDir, "extensions"), join(home, "work"), join(home, "tmp")]) {
    await mkdir(folder, { recursive: true });
  }
  await writeModels(agentDir, server);
  for (let index = 0; index < COUNT; index++) {
    await writeFile(join(agentDir, "extensions", `bench-${index}.ts`), extensionNamed(`bench-${index}`));
  }
  const cli = join(modules, "@earendil-works", "pi-coding-agent", "dist", "bundle", "cli.js");
  const args = [cli, "-p", "--model", "wire-chat/scripted", "hello"];
  const env = { ...environmentOf(home), PI_SKIP_VERSION_CHECK: "1", PI_TELEMETRY: "0" };
  return { home, command: { args, env, cwd: join(home, "work") } };
}

function environmentOf(home: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    HOME: home,
    TMPDIR: join(home, "tmp"),
    NODE_COMPILE_CACHE: join(home, "compiled"),
    PI_OFFLINE: "1",
  };
}

async function writeModels(agentDir: string, server: WireServer): Promise<void> {
  await writeFile(join(agentDir, "models.json"), JSON.stringify(modelsJson(server.url)));
}

function show(rounds: readonly { ms: number }[]): string {
  return `${median(rounds.map(({ ms }) => ms)).toFixed(0)} ms`;
}
