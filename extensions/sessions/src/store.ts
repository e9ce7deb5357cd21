import type { Entry } from "@pi-agent/kernel";
import type { SessionInfo } from "./list.ts";
import type { Problem, SessionHeader } from "./record.ts";

/**
 * Where sessions are kept. A package registers one as kind `session-store`; the setting `session.store` names the one
 * that lists, reads and leases (`files` by default), all others receive what is appended too.
 * Ids are data: they never make a path, and never a part of a query's text.
 */
export interface SessionStore {
  /** Lists what is kept, newest first. What cannot be read is left out. */
  list(filter?: { cwd?: string }): Promise<SessionInfo[]>;
  /** Reads a session; `undefined` where there is none. Fails with `session_unreadable`, `session_invalid`. */
  read(id: string): Promise<StoredSession | undefined>;
  /** Takes the one right to write to a session, or tells who has it. A process that died has none. */
  claim(id: string): Promise<Claim>;
  /** Opens a session to write to; what the store does not have of it is written with what is appended next. */
  open(session: { header: SessionHeader; entries: readonly Entry[] }): SessionSink;
  /** Deletes a session with all of its entries; answers whether there was one. Fails with `session_in_use`. */
  remove(id: string): Promise<boolean>;
}

export interface StoredSession {
  header: SessionHeader;
  /** Every parent before its children. */
  entries: readonly Entry[];
  /** What was wrong with it; it is mended in `entries`. */
  problems: readonly Problem[];
  /** The file that it lies in, where it lies in one. */
  file?: string;
}

export type Claim =
  | {
      release(): Promise<void>;
      /** Tells whether the right is still there, as it was seen last; left out by a store that cannot tell. */
      isHeld?(): boolean;
    }
  | { holder: Holder };

/** Who writes to a session. */
export interface Holder {
  pid: number;
  host: string;
  /** ISO 8601. */
  since: string;
}

/** What appends to one session. It never throws for a place that cannot be written: that is told, kept and tried again. */
export interface SessionSink {
  /** The file that it writes to, where it is one; left out until it is known. */
  readonly file?: string;
  /** Only queues. */
  append(entry: Entry): void;
  /** Resolves when what was appended outlasts the process. */
  flush(): void | Promise<void>;
  /** Writes what is left. */
  close(): Promise<void>;
}

declare module "@pi-agent/kernel" {
  interface Registry {
    "session-store": SessionStore;
  }
}
