/**
 * The thread that has the database:
 *
 *   poke ──► drain in the background ──fails──► wait, longer each time ──► drain
 *   ask  ──► open, migrate ──► query, transaction, drain of everything ──► answer
 *   nothing to do for a while, or an embedded database that another process waits for ──► close
 */
import { type Database, DatabaseError } from "./database.ts";
import { Drainer } from "./drain.ts";
import type { Ask, FromWorker, PlainError, ToWorker, WorkerSettings } from "./messages.ts";
import { migrate } from "./migrations.ts";

interface OpenDatabase extends Database {
  isWanted?(): boolean;
}
interface OpenTransaction {
  tx: Pick<Database, "query">;
  end(isGood: boolean): void;
  ended: Promise<void>;
}

const LOOK_MS = 100;
const IDLE_MS = { embedded: 10_000, server: 60_000 } as const;
const RETRY_MS = { first: 500, most: 30_000 } as const;
// Whoever asked for the database gets the time to open it.
const YIELD_MS = 1_500;

export class Engine {
  private readonly settings: WorkerSettings;
  private readonly post: (message: FromWorker) => void;
  private readonly drainer: Drainer;
  private opening: { db: Promise<OpenDatabase>; isQuiet: boolean } | undefined;
  private turn: Promise<void> = Promise.resolve();
  private open: OpenDatabase | undefined;
  private readonly transactions = new Map<number, OpenTransaction>();
  private lastTransaction = 0;
  /** How much is under way. */
  private busy = 0;
  private lastUseMs = Date.now();
  private background: Promise<void> | undefined;
  private isPoked = false;
  private notBeforeMs = 0;
  private retryMs: number = RETRY_MS.first;
  private troubleCode: string | undefined;
  private isClosing = false;
  private readonly timer: NodeJS.Timeout;

  constructor(settings: WorkerSettings, post: (message: FromWorker) => void) {
    this.settings = settings;
    this.post = post;
    this.drainer = new Drainer({
      ...settings,
      target: settings.targetId,
      onDrained: (place) => post({ event: "drained", ...place }),
      onClaimed: (folder) => post({ event: "claimed", folder }),
      onRefused: (file, reason) => post({ event: "refused", file, reason }),
    });
    this.timer = setInterval(() => void this.look(), LOOK_MS);
  }

  handle(message: ToWorker): void {
    this.drainer.setOwn(message.own);
    if (message.do === "poke") {
      this.isPoked = true;
      this.drainInBackground();
    } else {
      void this.reply(message.id, message);
    }
  }

  private async reply(id: number, ask: Ask): Promise<void> {
    this.busy++;
    try {
      this.post({ id, result: await this.answer(ask) });
    } catch (error) {
      this.post({ id, error: toPlain(error) });
    } finally {
      this.busy--;
      this.lastUseMs = Date.now();
    }
  }

  private async answer(ask: Ask): Promise<unknown> {
    switch (ask.do) {
      case "query":
        return this.query(ask);
      case "begin":
        return this.begin();
      case "end":
        return this.end(ask.tx, ask.isGood);
      case "drain":
        return this.drainAll();
      case "close":
        return this.close();
    }
  }

  private async query({ text, values, tx }: Extract<Ask, { do: "query" }>): Promise<unknown[]> {
    if (tx === undefined) return (await this.database()).query(text, values);
    const transaction = this.transactions.get(tx);
    if (!transaction) throw new Error("the transaction has ended");
    return transaction.tx.query(text, values);
  }

  /** Answers a transaction's number once it has begun; it goes on until it is ended. */
  private async begin(): Promise<number> {
    const db = await this.database();
    const number = ++this.lastTransaction;
    return new Promise((resolve, reject) => {
      const ended = db.transaction(async (tx) => {
        const { promise, resolve: end } = Promise.withResolvers<boolean>();
        this.transactions.set(number, { tx, end, ended });
        resolve(number);
        if (!(await promise)) throw new TakenBack();
      });
      ended.catch(reject);
    });
  }

  private async end(number: number, isGood: boolean): Promise<void> {
    const transaction = this.transactions.get(number);
    this.transactions.delete(number);
    transaction?.end(isGood);
    await transaction?.ended.catch((error: unknown) => {
      if (!(error instanceof TakenBack)) throw error;
    });
  }

  private async drainAll(): Promise<void> {
    const db = await this.database();
    await this.inTurn(() => this.drainer.drain(db, { includesOthers: true, isStopped: () => this.isClosing }));
    this.retryMs = RETRY_MS.first;
    this.notBeforeMs = 0;
    this.tellTrouble(undefined);
  }

  private drainInBackground(): void {
    if (this.background || this.isClosing || Date.now() < this.notBeforeMs) return;
    this.isPoked = false;
    this.busy++;
    this.background = this.drainQuietly().finally(() => {
      this.busy--;
      this.lastUseMs = Date.now();
      this.background = undefined;
      if (this.isPoked) this.drainInBackground();
    });
  }

  private async drainQuietly(): Promise<void> {
    try {
      const db = await this.database(0);
      const includesOthers = this.settings.target.kind === "embedded";
      const isStopped = () => this.isClosing || db.isWanted?.() === true;
      await this.inTurn(() => this.drainer.drain(db, { includesOthers, isStopped }));
      this.retryMs = RETRY_MS.first;
      this.tellTrouble(undefined);
    } catch (error) {
      const plain = toPlain(error);
      this.isPoked = true;
      this.notBeforeMs = Date.now() + this.retryMs;
      this.retryMs = Math.min(this.retryMs * 2, RETRY_MS.most);
      // Who has the embedded database drains for everybody.
      if (plain.code !== "database_in_use") this.tellTrouble(plain);
      if (isUnusable(plain)) await this.closeDatabase();
    }
  }

  /** One drains at a time: what is sent is sent once, where nothing fails. */
  private inTurn<T>(fn: () => Promise<T>): Promise<T> {
    const turn = this.turn.then(fn);
    this.turn = turn.then(ignore, ignore);
    return turn;
  }

  /** The database, opened and of our version; one attempt is shared. `waitMs`: for an embedded one that is in use. */
  private async database(waitMs?: number): Promise<OpenDatabase> {
    if (this.open) return this.open;
    const { opening } = this;
    // Who drains in the background does not wait, and so may have failed where a reader would not.
    if (opening) return opening.isQuiet && waitMs === undefined ? opening.db.catch(() => this.database()) : opening.db;
    const db = this.openDatabase(waitMs).finally(() => {
      this.opening = undefined;
    });
    this.opening = { db, isQuiet: waitMs !== undefined };
    return db;
  }

  private async openDatabase(waitMs: number | undefined): Promise<OpenDatabase> {
    const { target, schema } = this.settings;
    const db: OpenDatabase =
      target.kind === "server"
        ? await (await import("./server.ts")).openServer(target.url)
        : await (await import("./embedded.ts")).openEmbedded(target.dir, waitMs === undefined ? {} : { waitMs });
    try {
      await migrate(db, schema);
    } catch (error) {
      await db.close();
      throw error;
    }
    this.lastUseMs = Date.now();
    this.open = db;
    return db;
  }

  private async look(): Promise<void> {
    if (this.isPoked) this.drainInBackground();
    if (this.busy > 0 || this.transactions.size > 0) return;
    const isWanted = this.open?.isWanted?.() === true;
    const isIdle = Date.now() - this.lastUseMs > IDLE_MS[this.settings.target.kind];
    if (!isWanted && !isIdle) return;
    if (isWanted) this.notBeforeMs = Date.now() + YIELD_MS;
    // Counts as work, so that nobody ends the thread while it closes.
    this.busy++;
    await this.closeDatabase();
    this.busy--;
    if (this.busy === 0 && !this.isPoked) this.post({ event: "idle" });
  }

  private async close(): Promise<void> {
    this.isClosing = true;
    clearInterval(this.timer);
    await this.background;
    await this.closeDatabase();
  }

  private async closeDatabase(): Promise<void> {
    const db = this.open;
    this.open = undefined;
    for (const each of this.transactions.values()) each.end(false);
    this.transactions.clear();
    // One that broke cannot be closed well; its lock is free all the same.
    await db?.close().catch(ignore);
  }

  private tellTrouble(error: PlainError | undefined): void {
    if (this.troubleCode === error?.code) return;
    this.troubleCode = error?.code;
    this.post({ event: "trouble", error });
  }
}

function ignore(): void {}

/** Takes a transaction back whose own function failed. */
class TakenBack extends Error {}

/** A schema that somebody dropped, or a database that broke: it is opened, and made, anew. */
function isUnusable({ sqlState, code }: PlainError): boolean {
  return code === "database_failed" && (sqlState === undefined || /^(?:3F000|42P01)$/.test(sqlState));
}

function toPlain(error: unknown): PlainError {
  if (error instanceof DatabaseError) {
    const { code, message, hint, sqlState } = error;
    return { code, message, hint, ...(sqlState !== undefined && { sqlState }) };
  }
  const { message } = error as Error;
  return { code: "database_failed", message: `The database failed: ${message}.`, hint: "Try again." };
}
