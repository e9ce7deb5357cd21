import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { installPackage, listPackages, removePackage } from "../../src/packages/index.ts";
import { type PackageHome, packageHome, rootsIn } from "./home.ts";
import { startRegistry, type TestRegistry } from "./registry.ts";

const CHILD = join(import.meta.dirname, "install-child.ts");
const ROUNDS = process.env.SOAK ? 200 : 2;

test(`P4: an install or update that is killed at any of ${2 * ROUNDS} moments leaves the old state or the new one, whole`, {
  timeout: ROUNDS * 30_000,
}, async () => {
  const registry = await startRegistry();
  publish(registry, "1.0.0");
  publish(registry, "2.0.0");
  const at = await packageHome(registry.url);
  await installPackage(at.context, "npm:a@1.0.0", { cwd: at.home });
  const durationMs = await measure(at);
  for (let round = 0; round < ROUNDS; round++) {
    await killAtSomeTime(start(at, "install", `npm:a@${round % 2 === 0 ? "1.0.0" : "2.0.0"}`), durationMs);
    await assertWhole(at);
  }
  await installPackage(at.context, "npm:a", { cwd: at.home });
  for (let round = 0; round < ROUNDS; round++) {
    publish(registry, `3.0.${round}`);
    await killAtSomeTime(start(at, "update", "npm:a"), durationMs);
    await assertWhole(at);
  }
  // What all of them left is gone after the next one.
  expect(await installPackage(at.context, "npm:a@2.0.0", { cwd: at.home })).toMatchObject({ version: "2.0.0" });
  const { cache, ...names } = await namesIn(at);
  expect(names).toEqual({
    agentDir: ["cache", "packages", "pi.lock.json", "pi.lock.previous.json", "settings.json"],
    packages: ["a"],
  });
  expect(cache.filter((name) => name !== "tmp")).toEqual(["CACHEDIR.TAG", "content-v2", "index-v5", "scratch"]);
  expect(await readdir(join(at.agentDir, "cache", "packages", "scratch"))).toEqual([]);
  await removePackage(at.context, "npm:a", { cwd: at.home });
  expect((await namesIn(at)).packages).toEqual([]);
});

test("P4: what killed processes left in the cache is thrown away, and what one that runs works on is not", async () => {
  const registry = await startRegistry();
  publish(registry, "1.0.0");
  const at = await packageHome(registry.url);
  const cache = join(at.agentDir, "cache", "packages");
  const ended = spawn(process.execPath, ["-e", "0"]);
  await once(ended, "exit");
  const folders = [
    `scratch/${hostname()}.${ended.pid}.x`,
    `scratch/${hostname()}.${process.pid}.x`,
    "scratch/elsewhere.1.x",
  ];
  for (const each of [...folders, "tmp/old", "tmp/new", "scratch/elsewhere.1.old"]) {
    await mkdir(join(cache, each), { recursive: true });
    if (each.endsWith("old")) await utimes(join(cache, each), 0, 0);
  }
  await writeFile(join(at.agentDir, "pi.lock.json.1.abc.tmp"), "");
  await installPackage(at.context, "npm:a", { cwd: at.home });
  expect((await readdir(join(cache, "scratch"))).sort()).toEqual(
    ["elsewhere.1.x", `${hostname()}.${process.pid}.x`].sort(),
  );
  expect(await readdir(join(cache, "tmp"))).toEqual(["new"]);
  expect(await readdir(at.agentDir)).not.toContain("pi.lock.json.1.abc.tmp");
});

test("P4: two installs at once wait for each other, and both packages are there", { timeout: 60_000 }, async () => {
  const registry = await startRegistry();
  publish(registry, "1.0.0");
  registry.publish({ name: "b", version: "1.0.0", files: { "extensions/x.ts": "b" } });
  const at = await packageHome(registry.url);
  const children = [start(at, "install", "npm:a"), start(at, "install", "npm:b")];
  for (const [code] of await Promise.all(children.map((child) => once(child, "exit")))) expect(code).toBe(0);
  const states = (await listPackages(at.context)).map(({ name, state }) => `${name} ${state}`);
  expect(states.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(["a ok", "b ok"]);
  expect(Object.keys((await at.lock()).packages)).toEqual(["npm:a", "npm:b"]);
});

test("P4: one that waits is told so, and can be aborted", async () => {
  const registry = await startRegistry();
  publish(registry, "1.0.0");
  const at = await packageHome(registry.url);
  await mkdir(join(at.agentDir, "packages", ".lock"), { recursive: true });
  const abort = new AbortController();
  const steps: string[] = [];
  const context = {
    ...at.context,
    signal: abort.signal,
    onProgress: ({ step }: { step: string }) => {
      steps.push(step);
      abort.abort();
    },
  };
  await expect(installPackage(context, "npm:a", { cwd: at.home })).rejects.toThrow();
  expect(steps).toEqual(["waiting"]);
});

test("P4: a full disk leaves what was installed and says so", async (ctx) => {
  const registry = await startRegistry();
  publish(registry, "1.0.0");
  registry.publish({
    name: "big",
    version: "1.0.0",
    files: { "extensions/x.ts": "", "big.bin": Buffer.alloc(6 << 20, 1) },
  });
  const at = await packageHome(registry.url);
  const store = join(at.agentDir, "packages");
  await mkdir(store);
  if (!(await mount(store, "size=4m"))) return ctx.skip("needs mount");
  await installPackage(at.context, "npm:a", { cwd: at.home });
  await expect(installPackage(at.context, "npm:big", { cwd: at.home })).rejects.toMatchObject({
    code: "package_not_saved",
    message: expect.stringContaining("disk is full"),
  });
  expect(await listPackages(at.context)).toMatchObject([{ name: "a", state: "ok" }]);
  expect((await namesIn(at)).packages).toEqual(["a"]);
});

test("P4: where a disk that is full holds everything, the same is said, whatever was being written", async (ctx) => {
  const registry = await startRegistry();
  publish(registry, "1.0.0");
  const at = await packageHome(registry.url);
  if (!(await mount(at.agentDir, "size=1m"))) return ctx.skip("needs mount");
  await installPackage(at.context, "npm:a", { cwd: at.home });
  const before = await namesIn(at);
  for (const size of [1 << 17, 1 << 18, 1 << 19, 1 << 20]) {
    registry.publish({
      name: `big-${size}`,
      version: "1.0.0",
      files: { "extensions/x.ts": "", "big.bin": randomBytes(size) },
    });
    const outcome = await installPackage(at.context, `npm:big-${size}`, { cwd: at.home }).catch(
      (error: unknown) => error,
    );
    if (!(outcome instanceof Error)) await removePackage(at.context, `npm:big-${size}`, { cwd: at.home });
    else expect(outcome).toMatchObject({ code: "package_not_saved", message: expect.stringContaining("disk is full") });
  }
  expect(await listPackages(at.context, { isThorough: true })).toMatchObject([{ name: "a", state: "ok" }]);
  expect((await namesIn(at)).packages).toEqual(before.packages);
});

test("P4: a read-only store is told, and what is in it still counts", async (ctx) => {
  const registry = await startRegistry();
  publish(registry, "1.0.0");
  const at = await packageHome(registry.url);
  const store = join(at.agentDir, "packages");
  await mkdir(store);
  if (!(await mount(store, "size=4m"))) return ctx.skip("needs mount");
  await installPackage(at.context, "npm:a@1.0.0", { cwd: at.home });
  publish(registry, "2.0.0");
  if (!(await remount(store))) return ctx.skip("needs mount");
  await expect(installPackage(at.context, "npm:a@2.0.0", { cwd: at.home })).rejects.toMatchObject({
    code: "package_not_saved",
    message: expect.stringContaining("read-only"),
  });
  expect(await listPackages(at.context)).toMatchObject([{ version: "1.0.0", state: "ok" }]);
});

function publish(registry: TestRegistry, version: string): void {
  const many = Array.from({ length: 60 }, (_, index) => [`lib/${index}.js`, `${version} ${index}`]);
  registry.publish({ name: "dep", version, files: Object.fromEntries(many) });
  const files = { "extensions/x.ts": version, ...Object.fromEntries(many) };
  registry.publish({ name: "a", version, files, manifest: { dependencies: { dep: version } } });
}

/** Kills a process at some time after it told of its first step. */
async function killAtSomeTime(child: ChildProcess, durationMs: number): Promise<void> {
  await once(child.stdout!, "data");
  const ended = once(child, "exit");
  const kill = setTimeout(() => child.kill("SIGKILL"), Math.random() * durationMs);
  await ended;
  clearTimeout(kill);
}

async function namesIn({ agentDir }: PackageHome) {
  const list = async (...below: string[]) => (await readdir(join(agentDir, ...below))).sort();
  const packages = (await list("packages")).filter((name) => name !== ".checked");
  return { agentDir: await list(), packages, cache: await list("cache", "packages") };
}

/** Settings, what holds of the locks, and every file name one version. */
async function assertWhole(at: PackageHome): Promise<void> {
  const [installed, ...others] = await listPackages(at.context, { isThorough: true });
  expect(others).toEqual([]);
  const { packages } = await at.settings();
  const [, pinned] = /^npm:a(?:@(.*))?$/.exec(String((packages as string[])[0])) ?? [];
  const version = pinned ?? installed!.version!;
  expect(installed).toMatchObject({ state: "ok", version });
  const read = (path: string) => readFile(join(installed!.folder!, path), "utf8");
  expect(await read("extensions/x.ts")).toBe(version);
  expect(await read("node_modules/dep/lib/59.js")).toBe(`${version} 59`);
  expect((await rootsIn(join(at.agentDir, "packages"))).length).toBeGreaterThan(0);
}

/** How long an install takes from its first step on. */
async function measure(at: PackageHome): Promise<number> {
  const child = start(at, "install", "npm:a@2.0.0");
  await once(child.stdout!, "data");
  const startedAt = performance.now();
  await once(child, "exit");
  return performance.now() - startedAt;
}

function start(at: PackageHome, operation: "install" | "update", source: string): ChildProcess {
  const child = spawn(process.execPath, ["--conditions", "@pi-agent/source", CHILD, at.home, operation, source], {
    stdio: ["ignore", "pipe", "inherit"],
    // Compiling takes longer than what is to be killed.
    env: { ...process.env, NODE_COMPILE_CACHE: join(at.home, "compiled"), TMPDIR: at.home },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

async function mount(folder: string, options: string): Promise<boolean> {
  if (process.getuid?.() !== 0 || process.platform !== "linux") return false;
  const isDone = await run("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder]);
  if (isDone) onTestFinished(() => run("umount", ["-l", folder]).then(() => {}));
  return isDone;
}

function remount(folder: string): Promise<boolean> {
  return run("mount", ["-o", "remount,ro", folder]);
}

async function run(program: string, args: string[]): Promise<boolean> {
  const child = spawn(program, args, { stdio: "ignore" });
  const failed = once(child, "error").then(() => [1]);
  const [code] = await Promise.race([once(child, "exit"), failed]);
  return code === 0;
}
