/** The messages of PostgreSQL's protocol 3: a type byte (none on the first of a client), a length that counts itself, a body. */

export interface PgMessage {
  /** Empty for a client's first message. */
  type: string;
  /** With type and length. */
  bytes: Buffer;
}

const STARTUP_VERSION = 196_608;
const LENGTH_BYTES = 4;

/** Makes a function that takes chunks of one direction and answers the whole messages in them. */
export function createSplitter(options: { fromClient: boolean }): (chunk: Buffer) => PgMessage[] {
  let isStarting = options.fromClient;
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const messages: PgMessage[] = [];
    for (;;) {
      const head = isStarting ? 0 : 1;
      if (rest.length < head + LENGTH_BYTES) return messages;
      const size = head + rest.readInt32BE(head);
      if (rest.length < size) return messages;
      const bytes = rest.subarray(0, size);
      rest = rest.subarray(size);
      messages.push({ type: isStarting ? "" : String.fromCharCode(bytes[0] ?? 0), bytes });
      if (isStarting) isStarting = bytes.readInt32BE(LENGTH_BYTES) !== STARTUP_VERSION;
    }
  };
}

/** The text of a statement that a client sends to be run or prepared. */
export function statementOf({ type, bytes }: PgMessage): string | undefined {
  if (type === "Q") return bytes.toString("utf8", 5, bytes.length - 1);
  if (type !== "P") return undefined;
  const from = bytes.indexOf(0, 5) + 1;
  return bytes.toString("utf8", from, bytes.indexOf(0, from));
}

/** The parameters of a client's first message; `undefined` for a request for TLS or a cancellation. */
export function startupParameters({ bytes }: PgMessage): Record<string, string> | undefined {
  if (bytes.readInt32BE(LENGTH_BYTES) !== STARTUP_VERSION) return undefined;
  const words = bytes.toString("utf8", 8).split("\0");
  const pairs = words.flatMap((word, at) => (at % 2 === 0 && word !== "" ? [[word, words[at + 1] ?? ""]] : []));
  return Object.fromEntries(pairs) as Record<string, string>;
}

export function createMessage(type: string, body: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(type.length + LENGTH_BYTES);
  head.write(type);
  head.writeInt32BE(body.length + LENGTH_BYTES, type.length);
  return Buffer.concat([head, body]);
}

/** A client's first message. */
export function createStartup(parameters: Record<string, string>): Buffer {
  const version = Buffer.alloc(LENGTH_BYTES);
  version.writeInt32BE(STARTUP_VERSION);
  const words = Object.entries(parameters)
    .flat()
    .map((word) => `${word}\0`);
  return createMessage("", Buffer.concat([version, Buffer.from(`${words.join("")}\0`)]));
}

export function createQuery(sql: string): Buffer {
  return createMessage("Q", Buffer.from(`${sql}\0`));
}

/** What a server answers when a statement fails. */
export function createError(sqlState: string, text: string): Buffer {
  return createMessage("E", Buffer.from(`SERROR\0VERROR\0C${sqlState}\0M${text}\0\0`));
}

/** `I` idle, `T` in a transaction, `E` in one that has failed. */
export type TransactionStatus = "I" | "T" | "E";

export function createReady(status: TransactionStatus): Buffer {
  return createMessage("Z", Buffer.from(status));
}

export function statusOf({ bytes }: PgMessage): TransactionStatus {
  return String.fromCharCode(bytes[5] ?? 0) as TransactionStatus;
}
