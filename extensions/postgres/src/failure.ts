/** What went wrong with a database, in words that name it and hold nothing secret. */
import type { Address } from "./address.ts";
import { DatabaseError } from "./database.ts";

interface DriverError {
  code?: string;
  message?: string;
  errors?: readonly unknown[];
}

const UNREACHABLE = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EPIPE",
  "ENOENT",
  "EACCES",
]);
/** The server's code for a limit of the program: a driver that cannot send a value has met one. */
const TOO_LARGE = "54000";
const NO_TLS = /does not support SSL/i;
const WANTS_TLS =
  /no encryption|SSL (?:off|required)|requires? (?:an? )?(?:SSL|TLS|encrypt)|insecure connection|SSL connection is required/i;
/** The driver's own words for a password that it was not given. */
const NO_PASSWORD = /client password must be a/i;
const BAD_CERTIFICATE = /^(?:ERR_TLS|ERR_SSL|EPROTO$|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/;
const LOST =
  /connection terminated|connection error|timeout exceeded|timeout expired|read timeout|not queryable|server closed|closed the connection/i;

/** Whether the connection is to blame, and not what was asked on it. */
export function isConnectionLoss(error: unknown): boolean {
  const { code = "", message = "" } = rootOf(error);
  return UNREACHABLE.has(code) || /^(?:08|57P0)/.test(code) || LOST.test(message);
}

/** Whether the server refuses TLS, so that an address that only prefers it may go without. */
export function isWithoutTls(error: unknown): boolean {
  return NO_TLS.test(rootOf(error).message ?? "");
}

/** Puts what a driver threw into three parts. */
export function toDatabaseError(error: unknown, address: Pick<Address, "name" | "user" | "password">): DatabaseError {
  if (error instanceof DatabaseError) return error;
  const { code = "", message = "unknown" } = rootOf(error);
  const said = hidePassword(message, address.password);
  const at = address.name;
  const isTls = NO_TLS.test(message) || WANTS_TLS.test(message) || BAD_CERTIFICATE.test(code);
  if (isTls) return tlsError(said, at);
  if (NO_PASSWORD.test(message)) {
    const asks = `The server at ${at} refused: it asks for a password, and the address has no password.`;
    return new DatabaseError("database_refused", asks, {
      hint: `Put the password of ${address.user} into the address.`,
    });
  }
  const sqlState = /^[0-9A-Z]{5}$/.test(code) ? code : error instanceof RangeError ? TOO_LARGE : undefined;
  const more = (hint: string) => ({ hint, ...(sqlState !== undefined && { sqlState }) });
  const refused = refusal(sqlState, address);
  if (refused) return new DatabaseError("database_refused", `The server at ${at} refused: ${said}.`, more(refused));
  if (isConnectionLoss(error)) {
    const hint =
      "See that the server runs and that host and port are right; what is to be written waits on disk meanwhile.";
    return new DatabaseError("database_unreachable", `The database at ${at} cannot be reached: ${said}.`, more(hint));
  }
  return new DatabaseError(
    "database_failed",
    `The database at ${at} failed: ${said}.`,
    more("Read what it says, mend it there, and try again."),
  );
}

function tlsError(said: string, at: string): DatabaseError {
  const message = `No connection to ${at} with the TLS that was asked for: ${said}.`;
  const hint = NO_TLS.test(said)
    ? "Turn TLS on at the server, or write sslmode=disable at the end of the address if the network is safe."
    : "Write ?sslmode=require at the end of the address, or name the certificate to trust with sslrootcert=<file>.";
  return new DatabaseError("database_tls", message, { hint });
}

function refusal(sqlState: string | undefined, { user }: Pick<Address, "user">): string | undefined {
  if (sqlState === "28P01") return `Correct the password of ${user} in the address.`;
  if (sqlState === "28000") return `Use another role than ${user}, or let it in at the server (pg_hba.conf).`;
  if (sqlState === "3D000") return "Create that database, or name another one in the address.";
  if (sqlState === "42501") return `Give ${user} the right, or use a role that has it.`;
  return undefined;
}

/** One of several attempts at a name with more addresses than one says what all of them do. */
function rootOf(error: unknown): DriverError {
  const given = (error ?? {}) as DriverError;
  const inner = Array.isArray(given.errors) ? (given.errors[0] as DriverError) : undefined;
  return { code: given.code ?? inner?.code, message: given.message || inner?.message || given.code };
}

function hidePassword(text: string, password: string | undefined): string {
  const line = text.replace(/[.\s]+$/, "");
  if (!password) return line;
  return line.replaceAll(password, "***").replaceAll(encodeURIComponent(password), "***");
}
