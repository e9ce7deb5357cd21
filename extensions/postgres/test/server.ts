/**
 * A PostgreSQL of the tests' own, in a folder of its own: no root, no system service.
 *
 *   initdb ─► postgres ─► { url, freshDatabase, query, kill, restart } ─► stop
 *   keeper: a shell that waits for the end of its input, and so of this process, however that ends; then it takes
 *   the server and the folder away.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import { placeBinaries, serverUser } from "./binaries.ts";

export { NO_SERVER } from "./binaries.ts";

export interface TestServer {
  host: string;
  port: number;
  /** The address of a database for the server's first role; `postgres` when none is named. */
  url(database?: string): string;
  /** Creates an empty database, or a copy of another one, and answers its address. */
  freshDatabase(template?: string): Promise<string>;
  /** Runs statements as the server's first role, each time on a connection of their own. */
  query<T = Record<string, unknown>>(sql: string, database?: string): Promise<T[]>;
  /** Signals the server; a signal that ends it is waited for. `SIGINT` is its fast shutdown, `SIGQUIT` its immediate one. */
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Starts it again on the same port, after ending it when it runs. */
  restart(): Promise<void>;
  stop(): Promise<void>;
  /** What it has logged. */
  log(): Promise<string>;
}

export interface ServerSettings {
  /** Of the first role, `postgres`; without it everybody is trusted. */
  password?: string;
  /** More lines for postgresql.conf, such as `max_connections=20`. */
  settings?: readonly string[];
  /** An empty folder for the data, such as a small file system. */
  dataDirectory?: string;
}

const HOST = "127.0.0.1";
// Nothing is worth keeping after the run, so nothing has to reach a disk.
const SETTINGS = [
  `listen_addresses='${HOST}'`,
  "fsync=off",
  "full_page_writes=off",
  "shared_buffers=32MB",
  "max_connections=60",
  "autovacuum=off",
  "timezone='UTC'",
];
const START_DEADLINE_MS = 30_000;

/** Makes and starts a server. `stop` it; when this process ends before, however it does, the server goes too. */
export async function startServer(options: ServerSettings = {}): Promise<TestServer> {
  const folder = await mkdtemp(join(tmpdir(), "pi-agent-postgres-"));
  await chmod(folder, 0o755);
  const data = options.dataDirectory ?? join(folder, "data");
  const keeper = startKeeper(folder, data);
  try {
    const native = placeBinaries(folder);
    const port = await freePort();
    await initialize({ native, folder, data, port, options });
    const server = new Server({ native, folder, data, port, keeper, password: options.password });
    await server.restart();
    return server;
  } catch (error) {
    keeper.stdin?.end();
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

const SHARED = Symbol.for("pi-agent.tests.postgres");

/** Answers this process's one server: test files that follow each other share it. Its `stop` does nothing; its end is the process's. */
export function sharedServer(): Promise<TestServer> {
  const global = globalThis as { [SHARED]?: Promise<TestServer> };
  global[SHARED] ??= startServer().then((server) => {
    server.stop = async () => undefined;
    return server;
  });
  return global[SHARED];
}

interface Place {
  native: string;
  folder: string;
  data: string;
  port: number;
  keeper: ChildProcess;
  password?: string;
}

class Server implements TestServer {
  readonly host = HOST;
  private readonly place: Place;
  private child: ChildProcess | undefined;
  private databases = 0;

  constructor(place: Place) {
    this.place = place;
  }

  get port(): number {
    return this.place.port;
  }

  url(database = "postgres"): string {
    const { port, password } = this.place;
    return `postgres://postgres${password === undefined ? "" : `:${encodeURIComponent(password)}`}@${HOST}:${port}/${database}`;
  }

  async freshDatabase(template = "template1"): Promise<string> {
    const name = `test_${process.pid}_${++this.databases}`;
    await this.query(`create database ${name} template ${template} strategy file_copy`);
    return this.url(name);
  }

  async query<T>(sql: string, database?: string): Promise<T[]> {
    const client = new pg.Client({ connectionString: this.url(database) });
    client.on("error", () => undefined);
    try {
      await client.connect();
      return (await client.query(sql)).rows as T[];
    } finally {
      await client.end();
    }
  }

  async kill(signal: NodeJS.Signals): Promise<void> {
    const { child } = this;
    if (!child || hasEnded(child)) return;
    // Nothing else may be left that keeps this process alive.
    child.ref();
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    if (!["SIGSTOP", "SIGCONT", "SIGHUP"].includes(signal)) await ended;
  }

  async restart(): Promise<void> {
    await this.kill("SIGINT");
    const deadline = Date.now() + START_DEADLINE_MS;
    for (;;) {
      this.child ??= this.spawn();
      if (await this.answers()) return;
      // What an old server left in shared memory goes with the last of its processes.
      if (hasEnded(this.child)) this.child = undefined;
      if (Date.now() > deadline) throw new Error(`PostgreSQL does not start:\n${await this.log()}`);
      await sleep(15);
    }
  }

  async stop(): Promise<void> {
    await this.kill("SIGQUIT");
    const { keeper } = this.place;
    keeper.ref();
    const gone = new Promise((resolve) => keeper.once("exit", resolve));
    keeper.stdin?.end();
    await gone;
  }

  log(): Promise<string> {
    return readFile(join(this.place.folder, "log"), "utf8").catch(() => "");
  }

  private spawn(): ChildProcess {
    const { native, folder, data } = this.place;
    const log = openSync(join(folder, "log"), "a");
    const child = spawn(join(native, "bin", "postgres"), ["-D", data, "-k", folder], {
      ...serverUser(),
      cwd: folder,
      env: { PATH: process.env.PATH, LC_ALL: "C" },
      stdio: ["ignore", log, log],
      detached: true,
    });
    child.unref();
    closeSync(log);
    return child;
  }

  private async answers(): Promise<boolean> {
    try {
      await this.query("select 1");
      return true;
    } catch {
      return false;
    }
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function startKeeper(folder: string, data: string): ChildProcess {
  const script = `read -r line
    pid=$(head -n 1 "$1/postmaster.pid") && kill -QUIT "$pid"
    while kill -0 "$pid" && [ "$((n += 1))" -lt 200 ]; do sleep 0.05; done
    rm -rf "$0"`;
  const keeper = spawn("sh", ["-c", script, folder, data], { stdio: ["pipe", "ignore", "ignore"], detached: true });
  keeper.unref();
  (keeper.stdin as unknown as { unref(): void }).unref();
  keeper.stdin?.on("error", () => undefined);
  return keeper;
}

async function initialize(at: Omit<Place, "keeper" | "password"> & { options: ServerSettings }): Promise<void> {
  const { native, folder, data, options } = at;
  const user = serverUser();
  const own = async (path: string) => user.uid !== undefined && (await chown(path, user.uid, user.gid ?? 0));
  await mkdir(data, { recursive: true });
  // A socket, a log and a password file lie beside the data.
  await Promise.all([own(folder), own(data)]);
  const word = join(folder, "password");
  await writeFile(word, options.password ?? "");
  await own(word);
  const access = options.password === undefined ? ["-A", "trust"] : ["-A", "scram-sha-256", "--pwfile", word];
  const args = ["-D", data, "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions", ...access];
  const env = { PATH: process.env.PATH, LC_ALL: "C", TZ: "UTC" };
  await promisify(execFile)(join(native, "bin", "initdb"), args, { ...user, cwd: folder, env });
  await rm(word);
  const lines = [...SETTINGS, `port=${at.port}`, ...(options.settings ?? [])];
  await writeFile(join(data, "postgresql.conf"), `${lines.join("\n")}\n`, { flag: "a" });
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, HOST, resolve));
  const { port } = probe.address() as { port: number };
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
