/**
 * Hands what happens in one session to every store that receives it.
 *
 *   append ──► each sink queues ──► flush ──► each sink writes
 *      └─ a store that came since: opened with the entries so far
 *
 * A store that fails in its own code is told once; the others go on.
 */
import type { Entry } from "@pi-agent/kernel";
import { reasonOf } from "./problems.ts";
import type { SessionHeader } from "./record.ts";
import type { SessionSink, SessionStore } from "./store.ts";
import type { Stores } from "./stores.ts";
import type { WriterOptions } from "./writer.ts";

/** A session to record. */
export interface Recorded {
  header: SessionHeader;
  entries: readonly Entry[];
  /** Its entries come from elsewhere, and are written without waiting for another one. */
  isUnsaved?: boolean;
}

interface Receiver {
  store: SessionStore;
  sink: SessionSink;
}

export class Recorder {
  private readonly header: SessionHeader;
  private readonly stores: Stores;
  private readonly receives: (name: string) => boolean;
  private readonly report: WriterOptions["report"];
  private readonly receivers = new Map<string, Receiver>();
  private readonly failed = new Set<string>();
  /** All that happened so far, but for what only the agent knows. */
  readonly entries: Entry[];

  constructor(
    session: Recorded,
    given: { stores: Stores; receives(name: string): boolean; report: WriterOptions["report"] },
  ) {
    this.header = session.header;
    this.stores = given.stores;
    this.receives = (name) => given.receives(name);
    this.report = given.report;
    const last = session.isUnsaved ? session.entries.at(-1) : undefined;
    this.entries = last ? session.entries.slice(0, -1) : [...session.entries];
    if (last) this.append(last);
  }

  /** Where the session is kept in a file; `undefined` until that is known. */
  get file(): string | undefined {
    for (const { sink } of this.receivers.values()) if (sink.file !== undefined) return sink.file;
    return undefined;
  }

  append(entry: Entry): void {
    this.meet();
    this.entries.push(entry);
    for (const [name, { sink }] of this.receivers) {
      try {
        sink.append(entry);
      } catch (error) {
        this.tell(name, error);
      }
    }
  }

  /** Resolves when all have what was appended; at once where none has to wait. */
  flush(): void | Promise<void> {
    let waiting: Promise<void>[] | undefined;
    for (const [name, { sink }] of this.receivers) {
      try {
        const done = sink.flush();
        if (done) (waiting ??= []).push(done.catch((error: unknown) => this.tell(name, error)));
      } catch (error) {
        this.tell(name, error);
      }
    }
    return waiting && Promise.all(waiting).then(() => {});
  }

  async close(): Promise<void> {
    const all = [...this.receivers];
    this.receivers.clear();
    await Promise.all(all.map(([name, receiver]) => this.closeOne(name, receiver)));
  }

  /** Opens the stores that came since, and lets go of those that went. */
  private meet(): void {
    for (const [name, { value: store }] of this.stores) {
      const known = this.receivers.get(name);
      if (known?.store === store || !this.receives(name)) continue;
      if (known) void this.closeOne(name, known);
      this.open(name, store);
    }
    for (const [name, receiver] of this.receivers) {
      if (this.stores.has(name)) continue;
      this.receivers.delete(name);
      void this.closeOne(name, receiver);
    }
  }

  private open(name: string, store: SessionStore): void {
    try {
      const sink = store.open({ header: this.header, entries: [...this.entries] });
      this.receivers.set(name, { store, sink });
    } catch (error) {
      this.receivers.delete(name);
      this.tell(name, error);
    }
  }

  private async closeOne(name: string, { sink }: Receiver): Promise<void> {
    try {
      await sink.close();
    } catch (error) {
      this.tell(name, error);
    }
  }

  private tell(name: string, error: unknown): void {
    if (this.failed.has(name)) return;
    this.failed.add(name);
    const todo = "The session goes on in the other stores; mend that one, or unload its package.";
    this.report(`The session store ${name} failed: ${reasonOf(error)}. ${todo}`, "error");
  }
}
