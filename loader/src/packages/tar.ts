/** Reads tar archives as data: every entry as it is written there, judged by others. Nothing is put anywhere. */

export interface TarEntry {
  /** As it is written in the archive. */
  path: string;
  kind: "file" | "folder" | "link" | "other";
  isExecutable: boolean;
  /** Where a link leads, as it is written; `isHard`: from the archive's root. */
  target?: string;
  isHard?: boolean;
  content: Buffer;
}

/** An archive that is damaged; the message is a reason, worded to follow the archive's name. */
export class TarFault extends Error {
  override readonly name = "TarFault";
}

const BLOCK = 512;
// Bytes of a header, POSIX.1-1988.
const FIELDS = {
  name: [0, 100],
  mode: [100, 8],
  size: [124, 12],
  checksum: [148, 8],
  type: [156, 1],
  target: [157, 100],
  prefix: [345, 155],
} as const;
const KINDS: Record<string, TarEntry["kind"]> = {
  "0": "file",
  "\0": "file",
  "7": "file",
  "5": "folder",
  "1": "link",
  "2": "link",
};
// Extended headers hold paths; more is no path.
const MAX_HEADER_BYTES = 1 << 20;
const EXECUTABLE = 0o111;

interface Extended {
  path?: string;
  target?: string;
  size?: number;
}

/** Reads all entries, in their order. Contents are parts of `bytes`. Fails with a `TarFault`. */
export function readTar(bytes: Buffer): TarEntry[] {
  const entries: TarEntry[] = [];
  let extended: Extended = {};
  for (let at = 0; at + BLOCK <= bytes.length; ) {
    const header = bytes.subarray(at, at + BLOCK);
    if (isZero(header)) return entries;
    assertChecksum(header);
    const type = header.toString("latin1", FIELDS.type[0], FIELDS.type[0] + 1);
    const size = extended.size ?? readNumber(header, "size");
    const start = at + BLOCK;
    if (start + size > bytes.length) throw new TarFault("it is cut off");
    const content = bytes.subarray(start, start + size);
    at = start + Math.ceil(size / BLOCK) * BLOCK;
    if (type === "x" || type === "L" || type === "K") extended = { ...extended, ...readExtended(type, content) };
    else if (type !== "g") {
      entries.push(toEntry(header, { type, content, extended }));
      extended = {};
    }
  }
  throw new TarFault("it has no end");
}

function toEntry(
  header: Buffer,
  { type, content, extended }: { type: string; content: Buffer; extended: Extended },
): TarEntry {
  const path = extended.path ?? readPath(header);
  const kind = KINDS[type] ?? "other";
  // Before folders had a type of their own, a name that ends in a slash was one.
  const isFolder = kind === "file" && path.endsWith("/") && content.length === 0;
  const entry: TarEntry = {
    path,
    kind: isFolder ? "folder" : kind,
    isExecutable: (readNumber(header, "mode") & EXECUTABLE) !== 0,
    content,
  };
  if (kind !== "link") return entry;
  return { ...entry, target: extended.target ?? readText(header, "target"), isHard: type === "1" };
}

function readPath(header: Buffer): string {
  const name = readText(header, "name");
  const isPosix = header.toString("latin1", 257, 262) === "ustar";
  // GNU tar writes other things where the prefix is.
  const prefix = isPosix && header[263] === 0x30 ? readText(header, "prefix") : "";
  return prefix === "" ? name : `${prefix}/${name}`;
}

function readExtended(type: string, content: Buffer): Extended {
  if (content.length > MAX_HEADER_BYTES) throw new TarFault("it has a header without measure");
  if (type === "L") return { path: cutAtNull(content.toString("utf8")) };
  if (type === "K") return { target: cutAtNull(content.toString("utf8")) };
  const extended: Extended = {};
  // `<length> <key>=<value>\n`, where the length, in bytes, counts all of it.
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at);
    const length = Number(content.toString("latin1", at, space));
    if (space === -1 || !Number.isInteger(length) || length <= space - at + 1)
      throw new TarFault("it has a damaged header");
    const record = content.toString("utf8", space + 1, at + length - 1);
    at += length;
    const equals = record.indexOf("=");
    const [key, value] = [record.slice(0, equals), record.slice(equals + 1)];
    if (key === "path") extended.path = value;
    if (key === "linkpath") extended.target = value;
    if (key === "size") extended.size = toSize(Number(value));
  }
  return extended;
}

function readText(header: Buffer, field: keyof typeof FIELDS): string {
  const [start, length] = FIELDS[field];
  return cutAtNull(header.toString("utf8", start, start + length));
}

function readNumber(header: Buffer, field: "size" | "mode" | "checksum"): number {
  const [start, length] = FIELDS[field];
  // A set first bit means a binary number, for sizes beyond what any package may have.
  if ((header[start] ?? 0) & 0x80) throw new TarFault("it has a file without measure");
  const text = header
    .toString("latin1", start, start + length)
    .replace(/[\0 ]+$/, "")
    .trim();
  if (text === "") return 0;
  if (!/^[0-7]+$/.test(text)) throw new TarFault("it has a damaged header");
  return toSize(Number.parseInt(text, 8));
}

function toSize(value: number): number {
  if (!Number.isSafeInteger(value) || value < 0) throw new TarFault("it has a damaged header");
  return value;
}

function assertChecksum(header: Buffer): void {
  const [start, length] = FIELDS.checksum;
  let sum = 0;
  for (let at = 0; at < BLOCK; at++) sum += at >= start && at < start + length ? 0x20 : (header[at] ?? 0);
  if (sum !== readNumber(header, "checksum")) throw new TarFault("it is no tar archive, or is damaged");
}

function isZero(header: Buffer): boolean {
  return header.every((byte) => byte === 0);
}

function cutAtNull(text: string): string {
  const end = text.indexOf("\0");
  return end === -1 ? text : text.slice(0, end);
}
