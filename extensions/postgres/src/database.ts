/** A PostgreSQL database, on a server or in this process. Values go as parameters only. */
export interface Database {
  /**
   * Runs one statement and answers its rows. A value goes as text: strings as they are, what is not a string as JSON;
   * whole numbers come back as numbers, times as `Date`, json parsed. Fails with a `DatabaseError`.
   */
  query<T = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<T[]>;
  /** Runs `fn` in one transaction of its own; a throw takes everything back. Keep nothing open while others think. */
  transaction<T>(fn: (tx: Pick<Database, "query">) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export type DatabaseErrorCode =
  | "database_url"
  | "database_unreachable"
  | "database_refused"
  | "database_tls"
  | "database_newer"
  | "database_in_use"
  | "database_failed";

/** What is wrong with a database: what happened and why, and what to do. Never holds an address with its password. */
export class DatabaseError extends Error {
  readonly code: DatabaseErrorCode;
  readonly hint: string;
  /** The server's own code, where it gave one. */
  readonly sqlState?: string;

  constructor(code: DatabaseErrorCode, message: string, more: { hint: string; sqlState?: string }) {
    super(message);
    this.name = "DatabaseError";
    this.code = code;
    this.hint = more.hint;
    if (more.sqlState !== undefined) this.sqlState = more.sqlState;
  }
}

/** Types that both drivers are told to answer alike: oid of int8 and numeric. */
export const NUMBER_OIDS = [20, 1700] as const;

/** Makes text of a value, so that no driver guesses: an array would become an array literal. */
export function toParameter(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === "string") return value;
  return value instanceof Date ? value.toISOString() : JSON.stringify(value);
}

/** Quotes a name for the text of a statement. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
