import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";

export interface TempProject {
  /** Real path of the project's folder. */
  path: string;
  /** A home of its own, outside the project. */
  home: string;
  /** `.pi/agent` in that home. */
  agentDir: string;
  /** Reads a file as text; a relative path starts at the project. */
  read(path: string): Promise<string>;
  /** Writes a file and the folders above it; a relative path starts at the project. */
  write(path: string, content: string | Uint8Array): Promise<string>;
  cleanup(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface TempProjectOptions {
  /** By path, relative to the project. */
  files?: Record<string, string | Uint8Array>;
  /** By path, relative to the agent directory. */
  agentFiles?: Record<string, string | Uint8Array>;
  /** Makes the project a repository with its files committed. */
  git?: boolean;
}

/** Makes a project folder and an empty home, both temporary and both outside of any other project. */
export async function tempProject(options: TempProjectOptions = {}): Promise<TempProject> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "pi-agent-test-")));
  const path = join(root, "project");
  const home = join(root, "home");
  const agentDir = join(home, ".pi", "agent");
  await Promise.all([path, agentDir].map((folder) => mkdir(folder, { recursive: true })));
  const project = {
    path,
    home,
    agentDir,
    read: (file: string) => readFile(resolve(path, file), "utf8"),
    async write(file: string, content: string | Uint8Array) {
      const target = resolve(path, file);
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, content);
      return target;
    },
    cleanup: () => rm(root, { recursive: true, force: true }),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
  for (const [file, content] of Object.entries(options.files ?? {})) await project.write(file, content);
  for (const [file, content] of Object.entries(options.agentFiles ?? {})) {
    await project.write(join(agentDir, file), content);
  }
  if (options.git) await initRepository(path, home);
  return project;
}

async function initRepository(path: string, home: string): Promise<void> {
  const env = { PATH: process.env.PATH, HOME: home, GIT_CONFIG_NOSYSTEM: "1" };
  const identity = ["-c", "user.name=Test", "-c", "user.email=test@example.invalid"];
  const git = (...args: string[]) => promisify(execFile)("git", [...identity, ...args], { cwd: path, env });
  await git("init", "--quiet", "--initial-branch=main");
  await git("add", "--all");
  await git("commit", "--quiet", "--allow-empty", "--message=start");
}
