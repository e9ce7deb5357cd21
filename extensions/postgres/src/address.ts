import { DatabaseError } from "./database.ts";

/** How much TLS an address asks for, in the server's own words. */
export type SslMode = "disable" | "prefer" | "require" | "verify-ca" | "verify-full";

/** Where a database is. */
export interface Address {
  host: string;
  port: number;
  database: string;
  user: string;
  password?: string;
  sslMode: SslMode;
  /** Paths of PEM files. */
  sslFiles: { ca?: string; cert?: string; key?: string };
  /** Sent to the server at the start, such as `endpoint=…`. */
  options?: string;
  /** Host and database, for words: no user, no password. */
  name: string;
}

const HINT = "Write it like postgres://user:password@host:5432/database; encode @ : / % # ? in a password.";
const ENCODE = "its host, port or password has a character that must be encoded";
const MODES: Record<string, SslMode> = {
  disable: "disable",
  allow: "prefer",
  prefer: "prefer",
  require: "require",
  "verify-ca": "verify-ca",
  "verify-full": "verify-full",
  "no-verify": "require",
};

/** Reads the address of a server. Fails with `database_url`, whose words show nothing of it: where it is wrong, any part may be the password. */
export function parseAddress(text: string): Address {
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text.trim())?.[1]?.toLowerCase();
  if (scheme === undefined) throw wrong("it is not of the form postgres://…");
  if (scheme !== "postgres" && scheme !== "postgresql")
    throw wrong("it does not begin with postgres:// or postgresql://");
  if (!/^[a-z]+:\/\//i.test(text.trim())) throw wrong("two slashes must follow the colon at its beginning");
  const url = parseUrl(text.trim());
  const { searchParams: query } = url;
  if (url.hash !== "" || (url.username === "" && text.includes("@"))) throw wrong(ENCODE);
  const host = query.get("host") || decode(url.hostname).replace(/^\[|\]$/g, "") || "localhost";
  const user = decode(url.username) || query.get("user") || "postgres";
  const password = decode(url.password) || query.get("password") || undefined;
  const database = decode(url.pathname.slice(1)) || query.get("dbname") || user;
  const port = Number(url.port || query.get("port") || 5432);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw wrong("its port is not a number from 1 to 65535");
  return {
    host,
    port,
    database,
    user,
    ...(password !== undefined && { password }),
    sslMode: readMode(query.get("sslmode"), host),
    sslFiles: readFiles(query),
    ...(query.get("options") && { options: query.get("options") ?? "" }),
    name: `${printable(host)}:${port}/${printable(database)}`,
  };
}

function readMode(given: string | null, host: string): SslMode {
  if (given === null) return host.startsWith("/") ? "disable" : "prefer";
  const mode = MODES[given];
  if (!mode) throw wrong(`its sslmode is none of ${Object.keys(MODES).slice(0, 6).join(", ")}`);
  return mode;
}

function readFiles(query: URLSearchParams): Address["sslFiles"] {
  const [ca, cert, key] = ["sslrootcert", "sslcert", "sslkey"].map((name) => query.get(name) || undefined);
  return { ...(ca && ca !== "system" && { ca }), ...(cert && { cert }), ...(key && { key }) };
}

function parseUrl(text: string): URL {
  // The parser's own error carries the whole text.
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url) throw wrong(ENCODE);
  return url;
}

function decode(text: string): string {
  try {
    const decoded = decodeURIComponent(text);
    if (!decoded.includes("\0")) return decoded;
  } catch {
    // As below.
  }
  throw wrong("a percent sign in it is not followed by the digits of a character");
}

function wrong(why: string): DatabaseError {
  return new DatabaseError("database_url", `The address of the database cannot be used: ${why}.`, { hint: HINT });
}

/** A name in an error is not a place for control characters. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, "?");
}
