/** A bad network before a server: it waits, cuts, loses answers, and says that disks are full. */
import { connect, createServer, type Socket } from "node:net";
import {
  createError,
  createReady,
  createSplitter,
  type PgMessage,
  startupParameters,
  statementOf,
  statusOf,
  type TransactionStatus,
} from "./messages.ts";

export interface Proxy {
  port: number;
  /** The same address by way of the proxy. */
  through(url: string): string;
  /** Connections are taken, and nothing moves any more in any direction. */
  block(): void;
  unblock(): void;
  /** Ends all connections at once, without a word. */
  cut: () => void;
  /** Ends connections as soon as they come, until `unblock`. */
  refuse(): void;
  /** Half of the next such statement arrives, then its connection is gone. Resolves when that has happened. */
  cutInside: (statement: RegExp) => Promise<void>;
  /** The next such statement arrives and is carried out; its connection is gone before the answer. */
  cutAnswer: (statement: RegExp) => Promise<void>;
  /** The server says this to such statements, which never reach it, until the answer is called. */
  fail: (statement: RegExp, sqlState: string, text: string) => () => void;
  /** Connections that are open. */
  readonly open: number;
  /** How many statements have come by that look so. */
  count: (statement: RegExp) => number;
  close: () => Promise<void>;
}

type Act = "cutInside" | "cutAnswer";

interface Trap {
  statement: RegExp;
  act: Act;
  sprung(): void;
}

interface Refusal {
  statement: RegExp;
  sqlState: string;
  text: string;
}

/** What all connections of a proxy go by. */
class Plan {
  readonly pairs = new Set<Pair>();
  readonly refusals = new Set<Refusal>();
  readonly seen: string[] = [];
  traps: Trap[] = [];
  isBlocked = false;
  isRefusing = false;
}

/** Starts a proxy on a port of its own. Close it. */
export async function startProxy(target: { host: string; port: number }): Promise<Proxy> {
  const plan = new Plan();
  const server = createServer((client) => {
    if (plan.isRefusing) client.destroy();
    else plan.pairs.add(new Pair(client, connect(target), plan));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const cut = () => {
    for (const pair of plan.pairs) pair.destroy();
  };
  return {
    port,
    through: (url) => Object.assign(new URL(url), { host: `127.0.0.1:${port}` }).href,
    block() {
      plan.isBlocked = true;
      for (const pair of plan.pairs) pair.pause();
    },
    unblock() {
      plan.isBlocked = false;
      plan.isRefusing = false;
      for (const pair of plan.pairs) pair.resume();
    },
    cut,
    refuse() {
      plan.isRefusing = true;
      cut();
    },
    cutInside: (statement) => trap(plan, statement, "cutInside"),
    cutAnswer: (statement) => trap(plan, statement, "cutAnswer"),
    fail(statement, sqlState, text) {
      const refusal = { statement, sqlState, text };
      plan.refusals.add(refusal);
      return () => void plan.refusals.delete(refusal);
    },
    get open() {
      return plan.pairs.size;
    },
    count: (statement) => plan.seen.filter((text) => statement.test(text)).length,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      cut();
      await closed;
    },
  };
}

function trap(plan: Plan, statement: RegExp, act: Act): Promise<void> {
  return new Promise((sprung) => plan.traps.push({ statement, act, sprung }));
}

class Pair {
  private readonly client: Socket;
  private readonly server: Socket;
  private readonly plan: Plan;
  private readonly splitClient = createSplitter({ fromClient: true });
  private readonly splitServer = createSplitter({ fromClient: false });
  private status: TransactionStatus = "I";
  /** Sent instead of what the server would say, once the client waits for it. */
  private refusal: Refusal | undefined;
  private trapped: Trap | undefined;
  /** The server answers a request for TLS by one byte, which is no message. */
  private awaitsByte = false;

  constructor(client: Socket, server: Socket, plan: Plan) {
    this.client = client;
    this.server = server;
    this.plan = plan;
    for (const socket of [client, server]) {
      // Else each message waits for the other side's delayed word that the one before it came.
      socket.setNoDelay(true);
      socket.on("error", () => undefined).on("close", () => this.destroy());
    }
    client.on("data", (chunk: Buffer) => this.splitClient(chunk).forEach((message) => this.toServer(message)));
    server.on("data", (chunk: Buffer) => this.hear(chunk));
    if (plan.isBlocked) this.pause();
  }

  pause(): void {
    this.client.pause();
    this.server.pause();
  }

  resume(): void {
    this.client.resume();
    this.server.resume();
  }

  destroy(): void {
    this.client.destroy();
    this.server.destroy();
    this.plan.pairs.delete(this);
  }

  private hear(chunk: Buffer): void {
    const isByte = this.awaitsByte;
    this.awaitsByte = false;
    if (isByte) this.client.write(chunk.subarray(0, 1));
    for (const message of this.splitServer(isByte ? chunk.subarray(1) : chunk)) this.toClient(message);
  }

  private toServer(message: PgMessage): void {
    if (message.type === "" && startupParameters(message) === undefined) this.awaitsByte = true;
    const text = statementOf(message);
    if (text !== undefined) this.look(text);
    if (this.refusal) return this.refuse(message);
    if (this.trapped?.act === "cutInside") return this.cutInside(message, this.trapped);
    this.server.write(message.bytes);
  }

  private look(text: string): void {
    this.plan.seen.push(text);
    this.refusal = [...this.plan.refusals].find(({ statement }) => statement.test(text));
    const found = this.plan.traps.find(({ statement }) => statement.test(text));
    if (!found || this.refusal) return;
    this.plan.traps = this.plan.traps.filter((each) => each !== found);
    this.trapped = found;
  }

  /** A client that sent many messages reads the answer when it has sent the last of them. */
  private refuse({ type }: PgMessage): void {
    if ((type !== "Q" && type !== "S") || !this.refusal) return;
    const { sqlState, text } = this.refusal;
    this.refusal = undefined;
    this.client.write(createError(sqlState, text));
    this.client.write(createReady(this.status === "I" ? "I" : "E"));
  }

  private cutInside({ bytes }: PgMessage, trapped: Trap): void {
    this.client.pause();
    this.client.destroy();
    // The half has to reach the server before its end does.
    this.server.end(bytes.subarray(0, Math.ceil(bytes.length / 2)), () => {
      this.destroy();
      trapped.sprung();
    });
  }

  private toClient(message: PgMessage): void {
    if (message.type === "Z") this.status = statusOf(message);
    if (this.trapped?.act === "cutAnswer") {
      // The server is done with it when it says that it is ready for the next.
      if (message.type !== "Z") return;
      this.trapped.sprung();
      return this.destroy();
    }
    this.client.write(message.bytes);
  }
}
