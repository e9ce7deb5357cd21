/**
 * Decides about projects of its own in a process of its own, as soon as it is told to.
 *
 *   node --conditions @pi-agent/source trust-decider.ts ours <agentDir> <name> <decisions>
 *   node --conditions @pi-agent/source trust-decider.ts pi <agentDir> <name> <decisions>     as Pi writes its file
 *
 * Prints `ready`, waits for a byte on standard input, and prints `said <key>` after each decision.
 */
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { remember } from "../../loader/src/trust-writer.ts";

const [way = "", agentDir = "", name = "", count = "1"] = process.argv.slice(2);
const KINDS = [
  { decision: "denied", bound: "folder" },
  { decision: "trusted", bound: "folder" },
  { decision: "text", bound: "content" },
] as const;

console.log("ready");
await once(process.stdin, "data");
for (let i = 0; i < Number(count); i++) {
  const key = `/projects/${name}/${i}`;
  await (way === "pi" ? decideAsPi(key) : decide(key, i));
  console.log(`said ${key}`);
}
process.stdin.destroy();

async function decide(key: string, index: number): Promise<void> {
  const digest = `sha256-${String(index % 10).repeat(64)}`;
  const resources = { "prompt:p": { kind: "prompt", digest, members: { p: digest } } };
  const kind = KINDS[index % KINDS.length] ?? KINDS[0];
  await remember(agentDir, { key, ...kind, below: false, decidedBy: "prompt", resources });
}

/** Under the same lock, which is a folder; in place, and not at once. */
async function decideAsPi(key: string): Promise<void> {
  const path = join(agentDir, "trust.json");
  while (!isMade(`${path}.lock`)) await setTimeout(5);
  const known = existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as object) : {};
  writeFileSync(path, "");
  await setTimeout(1);
  writeFileSync(path, JSON.stringify({ ...known, [key]: true }));
  rmdirSync(`${path}.lock`);
}

function isMade(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code !== "EEXIST") throw fault;
    return false;
  }
}
