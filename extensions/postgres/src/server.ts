import { readFileSync } from "node:fs";
import type { ConnectionOptions } from "node:tls";
import type { CustomTypesConfig, Pool, PoolClient, PoolConfig } from "pg";
import { type Address, parseAddress } from "./address.ts";
import { type Database, DatabaseError, NUMBER_OIDS, toParameter } from "./database.ts";
import { isConnectionLoss, isWithoutTls, toDatabaseError } from "./failure.ts";
import { within } from "./within.ts";

export interface ServerOptions {
  /** Connections at most. */
  max?: number;
  connectTimeoutMs?: number;
  /** For one statement; then its connection is given up. */
  statementTimeoutMs?: number;
}

// A writer and a reader side by side; many agents on many machines share one server.
const MAX_CONNECTIONS = 2;
const CONNECT_TIMEOUT_MS = 10_000;
const CLOSE_MS = 2_000;
const STATEMENT_TIMEOUT_MS = 60_000;
// Each of the pool's connections may be gone, and the next one is fresh.
const MAX_TRIES = MAX_CONNECTIONS + 1;
// Below what poolers and firewalls cut.
const IDLE_TIMEOUT_MS = 10_000;

/**
 * Opens a server's database by its address. It keeps nothing in a session of the server (no named statements, no
 * settings, no session locks), so that any pooler may stand between. A connection that was cut is replaced.
 * Fails with `database_url`, `database_unreachable`, `database_refused`, `database_tls`.
 */
export async function openServer(url: string, options: ServerOptions = {}): Promise<Database> {
  const address = parseAddress(url);
  const server = new Server(address, options);
  try {
    await server.query("select 1");
    return server;
  } catch (error) {
    await server.close();
    throw error;
  }
}

class Server implements Database {
  private readonly address: Address;
  private readonly options: ServerOptions;
  private pool: Promise<Pool> | undefined;
  /** Turned off for good when an address that only prefers TLS meets a server without it. */
  private usesTls: boolean;

  constructor(address: Address, options: ServerOptions) {
    this.address = address;
    this.options = options;
    this.usesTls = address.sslMode !== "disable";
  }

  async query<T>(text: string, values: readonly unknown[] = []): Promise<T[]> {
    const { client, result } = await this.named(this.lend((lent) => ask<T>(lent, text, values)));
    client.release();
    return result;
  }

  async transaction<T>(fn: (tx: Pick<Database, "query">) => Promise<T>): Promise<T> {
    const { client } = await this.named(this.lend((lent) => lent.query("begin")));
    let isLost = false;
    const watched = <R>(work: Promise<R>) =>
      this.named(
        work.catch((error: unknown) => {
          isLost ||= isConnectionLoss(error);
          throw error;
        }),
      );
    try {
      const result = await fn({ query: (text, values = []) => watched(ask(client, text, values)) });
      await watched(client.query("commit"));
      return result;
    } catch (error) {
      if (!isLost) await watched(client.query("rollback")).catch(ignore);
      throw error;
    } finally {
      client.release(isLost);
    }
  }

  async close(): Promise<void> {
    const pool = this.pool;
    this.pool = undefined;
    // A connection that does not even take a goodbye is left to the end of the thread.
    if (pool)
      await within(
        CLOSE_MS,
        pool.then((each) => each.end()),
      );
  }

  /**
   * Lends a connection after a first statement on it. An idle one may have been cut without a word: then the statement
   * runs once more, on another. Whoever borrows releases it.
   */
  private async lend<T>(first: (client: PoolClient) => Promise<T>): Promise<{ client: PoolClient; result: T }> {
    for (let tries = 1; ; tries++) {
      const client = await this.fromPool();
      try {
        return { client, result: await first(client) };
      } catch (error) {
        const isLost = isConnectionLoss(error);
        client.release(isLost);
        if (!isLost || tries === MAX_TRIES) throw error;
      }
    }
  }

  private async fromPool(): Promise<PoolClient> {
    this.pool ??= this.createPool();
    const pool = await this.pool;
    try {
      return await this.connect(pool);
    } catch (error) {
      if (!(this.address.sslMode === "prefer" && this.usesTls && isWithoutTls(error))) throw error;
      this.usesTls = false;
      this.pool = this.createPool();
      void pool.end();
      return this.connect(await this.pool);
    }
  }

  /** The driver's own time-out covers the connection, and this one whatever it does with it. */
  private async connect(pool: Pool): Promise<PoolClient> {
    const connecting = pool.connect();
    const limitMs = (this.options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS) + CLOSE_MS;
    if (await within(limitMs, connecting.catch(ignore))) return connecting;
    connecting.then((client) => client.release(true), ignore);
    throw new Error("timeout expired");
  }

  private async createPool(): Promise<Pool> {
    const { default: pg } = await import("pg");
    const numbers = new Set<number>(NUMBER_OIDS);
    const getTypeParser: CustomTypesConfig["getTypeParser"] = (oid, format) =>
      numbers.has(oid) ? Number : pg.types.getTypeParser(oid, format);
    const ssl = this.usesTls && toTls(this.address);
    const pool = new pg.Pool({ ...toConfig(this.address, this.options), ssl, types: { getTypeParser } });
    // Both speak of connections that nobody uses just now; the next use finds out by itself.
    pool.on("error", () => undefined);
    pool.on("connect", (client) => void client.on("error", () => undefined));
    return pool;
  }

  private named<T>(work: Promise<T>): Promise<T> {
    return work.catch((error: unknown) => Promise.reject(toDatabaseError(error, this.address)));
  }
}

function ignore(): void {}

async function ask<T>(client: PoolClient, text: string, values: readonly unknown[]): Promise<T[]> {
  const { rows } = await client.query({ text, values: values.map(toParameter) });
  return rows as T[];
}

function toConfig(address: Address, options: ServerOptions): PoolConfig {
  const { host, port, database, user, password } = address;
  return {
    host,
    port,
    database,
    user,
    ...(password !== undefined && { password }),
    ...(address.options !== undefined && { options: address.options }),
    application_name: "pi-agent",
    max: options.max ?? MAX_CONNECTIONS,
    connectionTimeoutMillis: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    query_timeout: options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    allowExitOnIdle: true,
    keepAlive: true,
  };
}

/** `require` encrypts and trusts any certificate unless one is named, as the server's own programs do. */
function toTls({ sslMode, sslFiles, host }: Address): ConnectionOptions {
  const [ca, cert, key] = [sslFiles.ca, sslFiles.cert, sslFiles.key].map(readPem);
  const checksChain =
    sslMode === "verify-ca" || sslMode === "verify-full" || (sslMode === "require" && ca !== undefined);
  return {
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
    rejectUnauthorized: checksChain,
    ...(sslMode !== "verify-full" && { checkServerIdentity: () => undefined }),
    // A name for the server to choose its certificate by; an address is none.
    ...(!/^[\d.]+$|:/.test(host) && { servername: host }),
  };
}

function readPem(path: string | undefined): Buffer | undefined {
  if (path === undefined) return undefined;
  try {
    return readFileSync(path);
  } catch (error) {
    const message = `A file that the address of the database names cannot be read: ${(error as Error).message}.`;
    const hint = "Correct sslrootcert, sslcert and sslkey in the address, or make the file readable.";
    throw new DatabaseError("database_tls", message, { hint });
  }
}
