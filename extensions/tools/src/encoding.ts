import { isUtf8 } from "node:buffer";

export type Encoding = "utf-8" | "utf-16le" | "utf-16be";

/** A file's text with what it takes to write it back byte for byte. The byte order mark is not part of `text`. */
export interface Source {
  text: string;
  encoding: Encoding;
  mark: Buffer;
}

const NO_MARK = Buffer.alloc(0);

/** Tells the encoding by the byte order mark; without one it is UTF-8. */
export function detectEncoding(head: Buffer): { encoding: Encoding; markBytes: number } {
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return { encoding: "utf-8", markBytes: 3 };
  // FF FE 00 00 would be UTF-32, which is left to be seen as binary.
  if (head[0] === 0xff && head[1] === 0xfe && (head[2] !== 0 || head[3] !== 0)) {
    return { encoding: "utf-16le", markBytes: 2 };
  }
  if (head[0] === 0xfe && head[1] === 0xff) return { encoding: "utf-16be", markBytes: 2 };
  return { encoding: "utf-8", markBytes: 0 };
}

/** Decodes a file so that `encodeText` gives the same bytes again; else answers what is in the way. */
export function decodeText(bytes: Buffer): Source | { problem: string } {
  const { encoding, markBytes } = detectEncoding(bytes);
  const mark = markBytes === 0 ? NO_MARK : bytes.subarray(0, markBytes);
  const body = bytes.subarray(markBytes);
  if (encoding === "utf-8") {
    return isUtf8(body) ? { text: body.toString("utf8"), encoding, mark } : { problem: describeBadBytes(body) };
  }
  if (body.length % 2 === 1) return { problem: "it starts as UTF-16 but has an odd number of bytes" };
  const units = encoding === "utf-16le" ? body : Buffer.from(body).swap16();
  return { text: units.toString("utf16le"), encoding, mark };
}

export function encodeText({ text, encoding, mark }: Source): Buffer {
  if (encoding === "utf-8") return mark.length === 0 ? Buffer.from(text) : Buffer.concat([mark, Buffer.from(text)]);
  const units = Buffer.from(text, "utf16le");
  return Buffer.concat([mark, encoding === "utf-16le" ? units : units.swap16()]);
}

/** Names the first byte that is not UTF-8, and its line. `firstLine` is the number of the first line in `bytes`. */
export function describeBadBytes(bytes: Buffer, firstLine = 1): string {
  let at = 0;
  let end = 0;
  let line = firstLine;
  for (; at < bytes.length; at = end, line++) {
    const newline = bytes.indexOf(10, at);
    end = newline === -1 ? bytes.length : newline + 1;
    if (!isUtf8(bytes.subarray(at, end))) break;
  }
  const good = bytes.toString("utf8", at, end).split("\ufffd", 1)[0]!;
  const bad = bytes[at + Buffer.byteLength(good)] ?? 0;
  return `line ${line} holds bytes that are not UTF-8, the first 0x${bad.toString(16).toUpperCase().padStart(2, "0")}`;
}

/** Makes UTF-8 of the chunks of a UTF-16 file; characters may be cut between chunks. */
export function createTranscoder(encoding: Encoding): (chunk: Buffer, isLast: boolean) => Buffer {
  if (encoding === "utf-8") return (chunk) => chunk;
  const decoder = new TextDecoder(encoding);
  return (chunk, isLast) => Buffer.from(decoder.decode(chunk, { stream: !isLast }));
}
