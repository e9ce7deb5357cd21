import type { Worker } from "node:worker_threads";
import { type Database, DatabaseError, toParameter } from "./database.ts";
import type { DrainedPlace } from "./drain.ts";
import type { Ask, FromWorker, PlainError, ToWorker, WorkerSettings } from "./messages.ts";
import type { SpoolFolder } from "./spool-folder.ts";
import { within } from "./within.ts";

export interface ClientOptions {
  /** Made when the thread is started. */
  settings(): Promise<WorkerSettings>;
  /** The spool folder that this process writes to just now. */
  own(): string | undefined;
  onDrained(place: DrainedPlace): void;
  onTrouble(error: DatabaseError | undefined): void;
  onRefused(file: string, reason: string): void;
}

interface Waiting {
  resolve(result: never): void;
  reject(error: DatabaseError): void;
}

const CLOSE_MS = 200;
// Then it is stuck.
const LATE_CLOSE_MS = 10_000;

/**
 * The database, from the main thread: a thread of its own is started at the first use, and ended when it has had nothing
 * to do for a while. The process stays alive for an answer that somebody waits for, and for nothing else.
 */
export class Client implements Database {
  private readonly options: ClientOptions;
  private worker: Worker | undefined;
  private starting: Promise<Worker> | undefined;
  private readonly waiting = new Map<number, Waiting>();
  private lastId = 0;
  private isClosed = false;
  /** Folders that the thread took over, by their random part. */
  readonly claimed = new Map<string, SpoolFolder>();

  constructor(options: ClientOptions) {
    this.options = options;
  }

  get isRunning(): boolean {
    return this.worker !== undefined || this.starting !== undefined;
  }

  query<T>(text: string, values: readonly unknown[] = []): Promise<T[]> {
    return this.ask<T[]>({ do: "query", text, values: values.map(toParameter) });
  }

  async transaction<T>(fn: (tx: Pick<Database, "query">) => Promise<T>): Promise<T> {
    const tx = await this.ask<number>({ do: "begin" });
    try {
      const result = await fn({
        query: (text, values = []) => this.ask({ do: "query", text, values: values.map(toParameter), tx }),
      });
      await this.ask({ do: "end", tx, isGood: true });
      return result;
    } catch (error) {
      await this.ask({ do: "end", tx, isGood: false }).catch(() => undefined);
      throw error;
    }
  }

  /** Has everything that waits written, whoever wrote it. Fails as the database does. */
  drain(): Promise<void> {
    return this.ask({ do: "drain" });
  }

  /** Has what waits written some time; nobody waits for it. */
  poke(): void {
    this.start().then(
      (worker) => send(worker, { do: "poke", own: this.options.own() }),
      (error: unknown) => this.options.onTrouble(error as DatabaseError),
    );
  }

  /** Ends the thread, which gets a moment to close what it has open. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.starting?.catch(() => undefined);
    const { worker } = this;
    if (!worker) return;
    const closing = this.ask({ do: "close" })
      .catch(() => undefined)
      .then(() => this.end());
    if (await within(CLOSE_MS, closing)) return;
    // Ended now, it would leave the embedded database locked by a process that goes on. Nobody waits for it.
    worker.unref();
    setTimeout(() => void this.end(), LATE_CLOSE_MS).unref();
  }

  private async ask<T>(ask: Ask): Promise<T> {
    const worker = await this.start();
    return new Promise<T>((resolve, reject) => {
      const id = ++this.lastId;
      this.waiting.set(id, { resolve, reject });
      worker.ref();
      send(worker, { ...ask, id, own: this.options.own() });
    });
  }

  private async start(): Promise<Worker> {
    if (this.worker) return this.worker;
    if (this.isClosed && !this.starting) throw closedError();
    this.starting ??= this.launch().finally(() => {
      this.starting = undefined;
    });
    return this.starting;
  }

  private async launch(): Promise<Worker> {
    const [{ Worker }, { freeLockOf }] = await Promise.all([import("node:worker_threads"), import("./lock.ts")]);
    const workerData = await this.options.settings();
    // Built, it lies beside this module as it does here.
    const file = import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js";
    const worker = new Worker(new URL(file, import.meta.url), { workerData, execArgv: [], name: "pi-agent-postgres" });
    worker.unref();
    worker.on("message", (message: FromWorker) => this.hear(worker, message));
    worker.on("error", (error) => this.fail(worker, error as Error));
    const { threadId } = worker;
    worker.on("exit", () => {
      // However it ended: this process lives, and so nobody else would take over.
      if (workerData.target.kind === "embedded") freeLockOf(workerData.target.dir, threadId);
      this.fail(worker, new Error("its thread has ended"));
    });
    this.worker = worker;
    return worker;
  }

  private hear(worker: Worker, message: FromWorker): void {
    if ("id" in message) return this.settle(worker, message);
    const { options } = this;
    switch (message.event) {
      case "drained":
        return options.onDrained(message);
      case "claimed":
        return void this.claimed.set(message.folder.random, message.folder);
      case "refused":
        return options.onRefused(message.file, message.reason);
      case "trouble":
        return options.onTrouble(message.error && toError(message.error));
      case "idle":
        if (this.waiting.size === 0) void this.end();
    }
  }

  private settle(worker: Worker, message: Extract<FromWorker, { id: number }>): void {
    const waiting = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (this.waiting.size === 0) worker.unref();
    if ("error" in message) waiting?.reject(toError(message.error));
    else waiting?.resolve(message.result as never);
  }

  private async end(): Promise<void> {
    const { worker } = this;
    this.worker = undefined;
    await worker?.terminate();
  }

  /** Whoever waits for a thread that is gone is told; the next use starts another. */
  private fail(worker: Worker, error: Error): void {
    if (this.worker === worker) this.worker = undefined;
    const message = `The database's thread failed: ${error.message}.`;
    const failure = new DatabaseError("database_failed", message, {
      hint: "Try again; what was to be written is on disk.",
    });
    for (const each of this.waiting.values()) each.reject(failure);
    this.waiting.clear();
  }
}

function send(worker: Worker, message: ToWorker): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  worker.postMessage(message);
}

function toError({ code, message, ...more }: PlainError): DatabaseError {
  return new DatabaseError(code, message, more);
}

/** Says that nobody is left whom the database was opened for. */
export function closedError(): DatabaseError {
  return new DatabaseError("database_failed", "The database was closed with its agent.", { hint: "Open it again." });
}
