/** Agent directories with an embedded database in them, made once and then copied: making one takes seconds. */
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { openEmbedded } from "../src/embedded.ts";

const MODULES = join(import.meta.dirname, "..", "node_modules");
const { version } = JSON.parse(readFileSync(join(MODULES, "@electric-sql", "pglite", "package.json"), "utf8"));
const TEMPLATE = join(MODULES, ".cache", `pglite-${version}`);

/** A new agent directory, whose database is there and empty. */
export async function embeddedAgentDir(): Promise<{ agentDir: string; remove: () => Promise<void> }> {
  if (!existsSync(TEMPLATE)) await makeTemplate();
  const agentDir = await mkdtemp(join(tmpdir(), "pi-agent-embedded-"));
  await cp(TEMPLATE, join(agentDir, "postgres"), { recursive: true });
  return { agentDir, remove: () => rm(agentDir, { recursive: true, force: true, maxRetries: 5 }) };
}

async function makeTemplate(): Promise<void> {
  const draft = join(dirname(TEMPLATE), `draft-${randomUUID()}`);
  await mkdir(dirname(TEMPLATE), { recursive: true });
  const db = await openEmbedded(draft);
  await db.close();
  // Another worker may have been quicker.
  await rename(draft, TEMPLATE).catch(() => rm(draft, { recursive: true, force: true }));
}
