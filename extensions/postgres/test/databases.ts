/** The same tests on both kinds of database: `describe.each(DATABASES)`. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Database } from "../src/database.ts";
import { openEmbedded } from "../src/embedded.ts";
import { openServer } from "../src/server.ts";
import { embeddedAgentDir } from "./embedded.ts";
import { NO_SERVER, sharedServer } from "./server.ts";

/** An empty database and an agent directory that knows of it. */
export interface TestDatabase {
  agentDir: string;
  /** Of a server's database. */
  url?: string;
  /** What a process needs to find it. */
  env: Record<string, string>;
  /** Opens it in this thread. An embedded one has one user at a time. */
  open: () => Promise<Database>;
  /** A further agent directory; only those of a server share their database. */
  anotherAgentDir: () => Promise<string>;
  dispose: () => Promise<void>;
}

export interface DatabaseKind {
  kind: "embedded" | "server";
  /** For the name of a group of tests: what it runs on, or why it does not. */
  name: string;
  isMissing: boolean;
  create: () => Promise<TestDatabase>;
}

export const DATABASES: readonly DatabaseKind[] = [
  { kind: "embedded", name: "embedded", isMissing: false, create: () => create() },
  {
    kind: "server",
    name: NO_SERVER ? `server (${NO_SERVER})` : "server",
    isMissing: NO_SERVER !== undefined,
    create: async () => create(await (await sharedServer()).freshDatabase()),
  },
];

/** Makes an agent directory for a server's database, or with an embedded one of its own. */
export async function create(url?: string): Promise<TestDatabase> {
  const { agentDir, remove } = url === undefined ? await embeddedAgentDir() : await emptyAgentDir();
  const others: string[] = [];
  return {
    agentDir,
    url,
    env: { PI_CODING_AGENT_DIR: agentDir, ...(url !== undefined && { DATABASE_URL: url }) },
    open: () => (url === undefined ? openEmbedded(join(agentDir, "postgres")) : openServer(url)),
    async anotherAgentDir() {
      const another = await emptyAgentDir();
      others.push(another.agentDir);
      return another.agentDir;
    },
    async dispose() {
      await remove();
      await Promise.all(others.map((dir) => rm(dir, { recursive: true, force: true })));
    },
  };
}

async function emptyAgentDir(): Promise<{ agentDir: string; remove(): Promise<void> }> {
  const agentDir = await mkdtemp(join(tmpdir(), "pi-agent-database-"));
  return { agentDir, remove: () => rm(agentDir, { recursive: true, force: true }) };
}
