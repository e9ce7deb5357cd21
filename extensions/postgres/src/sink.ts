import type { Entry } from "@pi-agent/kernel";
import type { SessionHeader, SessionSink } from "@pi-agent/sessions";
import type { Spool } from "./spool.ts";

export interface SinkOptions {
  spool: Spool;
  header: SessionHeader;
  /** What the session holds already, in the database or not. */
  entries: readonly Entry[];
  /** Ids of entries that the database has. */
  stored: ReadonlySet<string>;
}

/** Writes one session to the spool, from the first thing on that a person or a model says. */
export class Sink implements SessionSink {
  private readonly options: SinkOptions;
  private hasBegun = false;
  private waiting: Entry[] = [];

  constructor(options: SinkOptions) {
    this.options = options;
  }

  append(entry: Entry): void {
    if (!this.hasBegun) {
      this.waiting.push(entry);
      this.begin();
    } else {
      this.put(entry);
    }
  }

  flush(): void {
    this.options.spool.flush();
  }

  async close(): Promise<void> {
    this.flush();
  }

  private begin(): void {
    const { entries, stored, spool, header } = this.options;
    if (!entries.some(isSaid) && !this.waiting.some(isSaid)) return;
    this.hasBegun = true;
    spool.line({ t: "header", at: Date.now(), session: header.id }, JSON.stringify(header));
    for (const entry of entries) if (!stored.has(entry.id)) this.put(entry);
    for (const entry of this.waiting) this.put(entry);
    this.waiting = [];
  }

  private put(entry: Entry): void {
    this.options.spool.entry(entry, { session: this.options.header.id });
  }
}

function isSaid(entry: Entry): boolean {
  return entry.type === "message" && (entry.message.role === "user" || entry.message.role === "assistant");
}
