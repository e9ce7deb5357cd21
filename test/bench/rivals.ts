/** Fetches what we are held against from the npm registry: once, into a folder that no workspace package sees. */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const CACHE = join(import.meta.dirname, ".rivals");
const VERSIONS = {
  "@earendil-works/pi-agent-core": "1.6.0",
  "@earendil-works/pi-coding-agent": "1.6.0",
} as const;
const LIMIT_MS = 300_000;

/** Answers the `node_modules` that holds a rival, or `undefined` after saying that it cannot be had. */
export async function fetchRival(name: keyof typeof VERSIONS): Promise<string | undefined> {
  const wanted = `${name}@${VERSIONS[name]}`;
  const folder = join(CACHE, wanted);
  if (!existsSync(folder)) {
    mkdirSync(dirname(folder), { recursive: true });
    const fresh = mkdtempSync(join(CACHE, "fetching-"));
    try {
      await install(wanted, fresh);
      renameSync(fresh, folder);
    } catch (error) {
      rmSync(fresh, { recursive: true, force: true });
      console.log("skipped: needs npm registry");
      console.error(`${wanted} could not be fetched: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    }
  }
  return join(folder, "node_modules");
}

async function install(wanted: string, folder: string): Promise<void> {
  const quiet = ["--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries", "0"];
  await promisify(execFile)("npm", ["install", ...quiet, "--prefix", folder, wanted], {
    cwd: folder,
    timeout: LIMIT_MS,
  });
}
