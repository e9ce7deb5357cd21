/**
 * Folders that are only there while something is worked out, below the cache. Each is named after the process that
 * works in it, so that what a killed one left is thrown away by the next operation.
 */
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { cacheOf, type PackageContext } from "./context.ts";
import { wordUnsaved } from "./package-error.ts";
import { isRunning } from "./store-lock.ts";

type Where = Pick<PackageContext, "agentDir">;

// Nothing is worked on for so long: what is older was left by a process of another machine, or by npm's libraries.
const LEFT_AFTER_MS = 3_600_000;

/** Runs in a new empty folder, which is gone afterwards. Fails with `package_not_saved`. */
export async function withScratch<T>(context: Where, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = join(scratchOf(context), [hostname(), process.pid, crypto.randomUUID()].join("."));
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
    throw wordUnsaved(folder, cause);
  });
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Throws away what killed processes left: in such folders, and where npm's libraries write before they cache. */
export async function sweepScratch(context: Where): Promise<void> {
  await sweep(scratchOf(context), isLeftByName);
  await sweep(join(cacheOf(context), "tmp"), () => false);
}

function scratchOf(context: Where): string {
  return join(cacheOf(context), "scratch");
}

async function sweep(folder: string, isLeft: (name: string) => boolean): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    if (isLeft(name) || (await isOld(path))) await rm(path, { recursive: true, force: true });
  }
}

function isLeftByName(name: string): boolean {
  const [, host, pid] = /^(.*)\.(\d+)\.[^.]+$/.exec(name) ?? [];
  return host === hostname() && !isRunning(Number(pid));
}

async function isOld(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined);
  return stats !== undefined && Date.now() - stats.mtimeMs > LEFT_AFTER_MS;
}
