import type { Extension, Host, JsonObject } from "@pi-agent/kernel";

/** What the suite has to know about an extension; for most extensions that is nothing. */
export interface ConformanceOptions {
  /** The options that the extension is given. */
  options?: unknown;
  /** Extensions that are loaded before it, such as those that provide what it needs. */
  with?: readonly Extension[];
  /** The arguments that a tool is called with; `false` leaves the tool out. By default they are made from its schema. */
  calls?: Record<string, JsonObject | false>;
  /** What is typed behind a command; `false` leaves the command out. By default nothing is. */
  commands?: Record<string, string | false>;
  /** The files of the project that it works in, by path. */
  files?: Record<string, string>;
  /** Members of the host that it needs. Its `cwd` and `ui` are the suite's. */
  host?: Partial<Omit<Host, "cwd" | "ui" | "hasUI">>;
  /** How long a tool may take to end after an abort, in milliseconds; 2,000 if left out. */
  graceMs?: number;
  /** How long a session start, a run or a command may take without a person, in milliseconds; 4,000 if left out. */
  patienceMs?: number;
}

/** An extension, and what the suite was told about it. */
export interface Subject {
  extension: Extension;
  given: ConformanceOptions;
}
