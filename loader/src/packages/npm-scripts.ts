/**
 * Install scripts of packages, which run only for packages that the person allowed by name (P1). They get the variables
 * that a build needs and none of the person's keys; `prepare` never runs.
 */
import { existsSync } from "node:fs";
import { readdir, symlink, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { exec } from "../exec.ts";
import type { PackageContext } from "./context.ts";
import type { LockedPackage } from "./lock-file.ts";
import { readInstallScripts, readPackageManifest, readPrograms } from "./manifest-of.ts";
import { wordScript } from "./package-error.ts";
import { withScratch } from "./scratch.ts";

/** A package in a root that has install scripts: its name, and its place; the root itself has the place "". */
export interface Scripted {
  name: string;
  place: string;
  commands: { event: string; command: string }[];
}

const TIMEOUT_MS = 600_000;
const PASSED_ON =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_\w+|TZ|TMPDIR|TEMP|TMP|SystemRoot|ComSpec|PATHEXT|USERPROFILE|APPDATA|LOCALAPPDATA|CC|CXX|CFLAGS|CXXFLAGS|LDFLAGS|MAKEFLAGS|https?_proxy|no_proxy|HTTPS?_PROXY|NO_PROXY)$/;

/** Lists the packages of a staged root that want to run scripts, the deepest first, as npm would run them. */
export async function findScripted(
  folder: string,
  locked: Pick<LockedPackage, "name" | "dependencies">,
): Promise<Scripted[]> {
  const places = Object.keys(locked.dependencies).toSorted((a, b) => depthOf(b) - depthOf(a) || (a < b ? -1 : 1));
  const scripted: Scripted[] = [];
  for (const place of [...places, ""]) {
    const at = join(folder, place);
    if (!existsSync(at)) continue;
    const commands = await readCommands(at);
    const name =
      place === "" ? locked.name : (locked.dependencies[place]?.name ?? place.split("node_modules/").at(-1)!);
    if (commands.length > 0) scripted.push({ name, place, commands });
  }
  return scripted;
}

/** Runs the scripts of the packages that are allowed. Fails with `package_script`. */
export async function runScripts(
  context: PackageContext,
  folder: string,
  scripted: readonly Scripted[],
): Promise<void> {
  if (scripted.length === 0) return;
  await withScratch(context, async (bin) => {
    await linkPrograms(folder, bin);
    for (const { name, place, commands } of scripted) {
      for (const { event, command } of commands) {
        context.onProgress?.({ step: "running", what: `${name} ${event}: ${command}` });
        await runScript(context, { name, event, command, cwd: join(folder, place), bin });
      }
    }
  });
}

async function readCommands(folder: string): Promise<Scripted["commands"]> {
  const commands = await readInstallScripts(folder);
  const hasOwn = commands.some(({ event }) => event !== "postinstall");
  // npm builds what brings a description for its compiler, and says nothing else.
  if (hasOwn || !existsSync(join(folder, "binding.gyp"))) return commands;
  return [{ event: "install", command: "node-gyp rebuild" }, ...commands];
}

async function runScript(
  { env, home, signal }: PackageContext,
  { name, event, command, cwd, bin }: { name: string; event: string; command: string; cwd: string; bin: string },
): Promise<void> {
  const { version } = await readPackageManifest(cwd, { label: name, fallback: name });
  const kept = Object.fromEntries(Object.entries(env).filter(([key]) => PASSED_ON.test(key)));
  const scriptEnv = {
    ...kept,
    HOME: home,
    PATH: [bin, env.PATH ?? ""].join(delimiter),
    INIT_CWD: cwd,
    npm_lifecycle_event: event,
    npm_lifecycle_script: command,
    npm_package_name: name,
    npm_package_version: version ?? "",
    npm_node_execpath: process.execPath,
    NODE: process.execPath,
  };
  const [shell, flags] =
    process.platform === "win32" ? [env.ComSpec ?? "cmd", ["/d", "/s", "/c"]] : ["/bin/sh", ["-c"]];
  const { code, stdout, stderr } = await exec(shell, [...flags, command], {
    cwd,
    env: scriptEnv,
    signal,
    timeout: TIMEOUT_MS,
  });
  signal?.throwIfAborted();
  if (code !== 0) throw wordScript(name, { event, command, said: (stderr.trim() || stdout.trim()).slice(-1_000) });
}

/** Puts the programs of all dependencies where the scripts find them, for as long as they run. */
async function linkPrograms(folder: string, bin: string): Promise<void> {
  const modules = join(folder, "node_modules");
  const names = await readdir(modules).catch(() => []);
  const nested = await Promise.all(
    names.map(async (name) =>
      name.startsWith("@") ? (await readdir(join(modules, name))).map((each) => join(name, each)) : [name],
    ),
  );
  for (const name of nested.flat()) {
    const at = join(modules, name);
    for (const [program, path] of Object.entries(await readPrograms(at))) {
      const target = join(at, path);
      if (!target.startsWith(at) || !existsSync(target) || existsSync(join(bin, program))) continue;
      await linkProgram(join(bin, program), target);
    }
  }
}

async function linkProgram(path: string, target: string): Promise<void> {
  if (!/\.[cm]?js$/.test(target)) return await symlink(target, path);
  // What npm makes executable on its own is not so here.
  await writeFile(path, `#!/bin/sh\nexec "${process.execPath}" "${target}" "$@"\n`, { mode: 0o755 });
}

function depthOf(place: string): number {
  return place.split("node_modules/").length;
}
