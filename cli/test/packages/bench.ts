/** The built command with a registry, a home and a project, all gone when the test has finished. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "../../../loader/test/packages/folders.ts";
import { type PackageHome, packageHome } from "../../../loader/test/packages/home.ts";
import { startRegistry, type TestRegistry } from "../../../loader/test/packages/registry.ts";
import { type Finished, finish } from "../run-node.ts";

export const PI = fileURLToPath(new URL("../../bin/pi.js", import.meta.url));

export interface Bench extends Omit<PackageHome, "context"> {
  registry: TestRegistry;
  project: string;
  /** All that the command inherits, beside what a terminal adds. */
  env: Record<string, string>;
  /** Starts the command in the project, with nobody to ask. */
  start: (...args: string[]) => ChildProcess;
  /** Runs it to its end. Lines of progress, which come on a busy machine, are left out. */
  pi: (...args: string[]) => Promise<Finished>;
  /** Writes a file of the project. */
  put: (path: string, content: string) => Promise<string>;
}

export const EXTENSION = { "extensions/one.ts": "export default () => {};\n" };

const PROGRESS = /^(?:waiting for another pi|looking up|fetching|unpacking|saving) .*\n/gm;

export async function openBench(): Promise<Bench> {
  const registry = await startRegistry();
  const { context: _, ...own } = await packageHome(registry.url);
  const project = await temporaryFolder();
  const env = { PATH: process.env.PATH ?? "", HOME: own.home, NO_COLOR: "1", GIT_CONFIG_NOSYSTEM: "1" };
  const start = (...args: string[]) => {
    const child = spawn(process.execPath, [PI, ...args], { cwd: project, env, stdio: ["ignore", "pipe", "pipe"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    return child;
  };
  const put = async (path: string, content: string) => {
    const full = join(project, path);
    await mkdir(dirname(full), { recursive: true });
    await writeFile(full, content);
    return full;
  };
  const pi = async (...args: string[]) => {
    const end = await finish(start(...args));
    return { ...end, stderr: end.stderr.replaceAll(PROGRESS, "") };
  };
  return { ...own, registry, project, env, start, pi, put };
}

/** The settings of the project. */
export async function projectSettings({ project }: Bench): Promise<Record<string, unknown>> {
  return JSON.parse(await readFile(join(project, ".pi/settings.json"), "utf8"));
}
