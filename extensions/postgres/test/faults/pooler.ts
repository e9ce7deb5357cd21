/**
 * What PgBouncer does with `pool_mode=transaction`, made as unkind as it may be: each transaction gets the other one of
 * two connections to the server, which forgets all between (`DISCARD ALL`).
 *
 *   client ─┐                     ┌─ server connection 1
 *   client ─┼─ one transaction ──►┤
 *   client ─┘                     └─ server connection 2
 */
import { connect, createServer, type Socket } from "node:net";
import {
  createMessage,
  createQuery,
  createReady,
  createSplitter,
  createStartup,
  type PgMessage,
  startupParameters,
  statusOf,
} from "./messages.ts";

export interface Pooler {
  port: number;
  /** The same address by way of the pooler. */
  through: (url: string) => string;
  /** Transactions that each server connection has had. */
  readonly used: readonly number[];
  close(): Promise<void>;
}

// A request for TLS is answered by one byte: no.
const NO_TLS = Buffer.from("N");

/** Starts a pooler before a server that trusts everybody. Close it. */
export async function startPooler(target: { host: string; port: number }): Promise<Pooler> {
  const pools = new Map<string, Pool>();
  const clients = new Set<Socket>();
  const server = createServer((socket) => {
    clients.add(socket.setNoDelay(true));
    socket.on("error", () => undefined).on("close", () => clients.delete(socket));
    const split = createSplitter({ fromClient: true });
    let client: Client | undefined;
    socket.on("data", (chunk: Buffer) => {
      for (const message of split(chunk)) {
        if (client) client.take(message);
        else client = welcome(socket, message, (user, database) => poolOf(pools, target, { user, database }));
      }
    });
    socket.on("close", () => client?.leave());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return {
    port,
    through: (url) => Object.assign(new URL(url), { host: `127.0.0.1:${port}` }).href,
    get used() {
      return [...pools.values()].flatMap((pool) => pool.links.map((link) => link.used));
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of clients) socket.destroy();
      for (const pool of pools.values()) pool.close();
      await closed;
    },
  };
}

function poolOf(pools: Map<string, Pool>, target: { host: string; port: number }, who: Record<string, string>): Pool {
  const key = `${who.user} ${who.database}`;
  const pool = pools.get(key) ?? new Pool(target, who);
  pools.set(key, pool);
  return pool;
}

/** Lets a client in, as a pooler does that trusts it: answers nothing until the client has said who it is. */
function welcome(
  socket: Socket,
  message: PgMessage,
  poolFor: (user: string, database: string) => Pool,
): Client | undefined {
  const parameters = startupParameters(message);
  if (!parameters) {
    socket.write(NO_TLS);
    return undefined;
  }
  const settings = {
    server_version: "18.0",
    client_encoding: "UTF8",
    standard_conforming_strings: "on",
    integer_datetimes: "on",
  };
  socket.write(createMessage("R", Buffer.alloc(4)));
  for (const [name, value] of Object.entries(settings))
    socket.write(createMessage("S", Buffer.from(`${name}\0${value}\0`)));
  socket.write(createReady("I"));
  const { user = "", database = user } = parameters;
  return new Client(socket, poolFor(user, database));
}

class Client {
  private readonly socket: Socket;
  private readonly pool: Pool;
  private link: Link | undefined;
  private waiting: Buffer[] | undefined;
  /** Answers that are still to come: one for each query and each sync. */
  private pending = 0;

  constructor(socket: Socket, pool: Pool) {
    this.socket = socket;
    this.pool = pool;
  }

  take({ type, bytes }: PgMessage): void {
    if (type === "X") return void this.socket.end();
    if (type === "Q" || type === "S") this.pending++;
    if (this.link) return void this.link.socket.write(bytes);
    this.waiting ??= this.queue();
    this.waiting.push(bytes);
  }

  /** A client that goes in the middle of a transaction takes its server connection with it. */
  leave(): void {
    this.link?.fail();
    this.link = undefined;
  }

  private queue(): Buffer[] {
    this.pool.lend((link) => {
      if (this.socket.destroyed) return link.giveBack();
      this.link = link;
      link.lendTo(
        (message) => this.answer(message),
        () => this.socket.destroy(),
      );
      for (const bytes of this.waiting ?? []) link.socket.write(bytes);
      this.waiting = undefined;
    });
    return [];
  }

  private answer(message: PgMessage): void {
    this.socket.write(message.bytes);
    if (message.type !== "Z" || --this.pending > 0 || statusOf(message) !== "I") return;
    this.link?.giveBack();
    this.link = undefined;
  }
}

class Pool {
  readonly links: Link[];
  private readonly queue: ((link: Link) => void)[] = [];
  private readonly free: Link[];

  constructor(target: { host: string; port: number }, who: Record<string, string>) {
    this.links = [1, 2].map(() => new Link(target, who, (link) => this.put(link)));
    this.free = [...this.links];
  }

  lend(use: (link: Link) => void): void {
    const link = this.free.shift();
    if (link) link.whenReady(() => use(link));
    else this.queue.push(use);
  }

  close(): void {
    for (const link of this.links) link.close();
  }

  private put(link: Link): void {
    this.free.push(link);
    const next = this.queue.shift();
    if (next) this.lend(next);
  }
}

/** A connection to the server; one that is lost is made anew. */
class Link {
  used = 0;
  socket!: Socket;
  private readonly target: { host: string; port: number };
  private readonly who: Record<string, string>;
  private readonly isFree: (link: Link) => void;
  private ready!: Promise<void>;
  private hear: (message: PgMessage) => void = () => undefined;
  private lost: () => void = () => undefined;
  private isClosed = false;

  constructor(target: { host: string; port: number }, who: Record<string, string>, isFree: (link: Link) => void) {
    this.target = target;
    this.who = who;
    this.isFree = isFree;
    this.open();
  }

  whenReady(use: () => void): void {
    void this.ready.then(use);
  }

  lendTo(hear: (message: PgMessage) => void, lost: () => void): void {
    this.used++;
    this.hear = hear;
    this.lost = lost;
  }

  giveBack(): void {
    this.lost = () => undefined;
    this.hear = ({ type }) => type === "Z" && this.isFree(this);
    this.socket.write(createQuery("DISCARD ALL"));
  }

  fail(): void {
    this.hear = () => undefined;
    this.lost = () => this.whenReady(() => this.isFree(this));
    this.socket.destroy();
  }

  close(): void {
    this.isClosed = true;
    this.socket.destroy();
  }

  private open(): void {
    const socket = connect(this.target);
    this.socket = socket.setNoDelay(true);
    const split = createSplitter({ fromClient: false });
    this.ready = new Promise((resolve) => {
      this.hear = ({ type }) => type === "Z" && resolve();
    });
    socket.on("data", (chunk: Buffer) => split(chunk).forEach((message) => this.hear(message)));
    socket
      .on("error", () => undefined)
      .on("close", () => {
        const { lost } = this;
        this.lost = () => undefined;
        if (!this.isClosed) this.open();
        lost();
      });
    socket.write(createStartup(this.who));
  }
}
