import { lstat, mkdir, readdir, readFile, readlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { PackageContext } from "../../src/packages/index.ts";
import { createPrograms } from "../../src/programs.ts";
import { temporaryFolder } from "./folders.ts";

/** A person's home with an agent directory, and a context for operations on packages in it. */
export interface PackageHome {
  home: string;
  agentDir: string;
  context: PackageContext;
  /** Writes a file below the home. */
  write(path: string, content: string): Promise<string>;
  /** The settings as they are now. */
  settings(): Promise<Record<string, unknown>>;
  lock(): Promise<{ packages: Record<string, Record<string, unknown>> }>;
}

/** Makes a home whose `.npmrc` names a registry. */
export async function packageHome(registry?: string, more: Partial<PackageContext> = {}): Promise<PackageHome> {
  const home = await temporaryFolder();
  const agentDir = join(home, ".pi", "agent");
  await mkdir(agentDir, { recursive: true });
  const write = async (path: string, content: string) => {
    const full = join(home, path);
    await mkdir(dirname(full), { recursive: true });
    await writeFile(full, content);
    return full;
  };
  if (registry !== undefined) await write(".npmrc", `registry=${registry}/\n`);
  const env = { PATH: process.env.PATH, HOME: home };
  const places = { cwd: home, boundary: join(home, "nowhere"), agentDir, home };
  const programs = createPrograms(env, () => places);
  const readJson = async (name: string) => JSON.parse(await readFile(join(agentDir, name), "utf8"));
  return {
    home,
    agentDir,
    context: {
      agentDir,
      home,
      env,
      findProgram: (name) => programs.find(name),
      hostVersions: { "@pi-agent/kernel": "0.1.0" },
      isLent: (name) => name === "typebox",
      requestTimeoutMs: 10_000,
      ...more,
    },
    write,
    settings: () => readJson("settings.json"),
    lock: () => readJson("pi.lock.json"),
  };
}

/** Everything below a folder, to be compared: files with their content and whether they can be run, and what else there is. */
export async function readTree(folder: string): Promise<Record<string, string>> {
  const tree: Record<string, string> = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const { mode } = await lstat(path);
    const content = entry.isFile() ? await readFile(path, "base64") : entry.isDirectory() ? "/" : await readlink(path);
    tree[path.slice(folder.length + 1)] = `${(mode & 0o111).toString(8)} ${content}`;
  }
  return tree;
}

/** The names of the roots in a store, without what is only there while something is done. */
export async function rootsIn(store: string): Promise<string[]> {
  const names = await readdir(store, { recursive: true }).catch(() => []);
  return names.filter((name) => /(?:^|\/)[0-9a-f]{32}$/.test(name)).sort();
}
