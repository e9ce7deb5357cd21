/**
 * What the two ends of a session file tell, without reading what is between.
 *
 *   head: header, how the conversation began, a name ─ … ─ tail: the name that was given last
 */
import { readSync, type Stats } from "node:fs";
import { parseHeader } from "./format.ts";
import { withFile } from "./read.ts";
import { isRaw, parseJson, type RawRecord, type SessionHeader } from "./record.ts";

export interface Peek {
  header: SessionHeader;
  modifiedMs: number;
  sizeBytes: number;
  name?: string;
  firstMessage?: string;
}

// How a conversation began is in the first few kilobytes, nearly always.
const HEAD_BYTES = 16 * 1024;
const PEEK_BYTES = 64 * 1024;
const TAIL_BYTES = 32 * 1024;
// Holds nearly every header.
const HEADER_BYTES = 4 * 1024;
// A header of an old version may hold a whole system prompt; Pi gives up at the same length.
const MAX_HEADER_BYTES = 1024 * 1024;
const FIRST_MESSAGE_CHARS = 200;
const LINE_FEED = 10;
const USER = Buffer.from('"role":"user"');
// Of `"session_info"`, from its rarest character on: the search goes by the first one.
const NAME = Buffer.from('_info"');

/** Reads the header of a file; answers `undefined` when it is not that of a session, or cannot be read. */
export function peekHeader(path: string): SessionHeader | undefined {
  return peek(path, (fd) => findHeader(fd, readAt(fd, { from: 0, length: HEADER_BYTES })));
}

/** Reads both ends of a file; answers `undefined` when it is no session, or cannot be read. */
export function peekSession(path: string): Peek | undefined {
  return peek(path, (fd, { size: sizeBytes, mtimeMs: modifiedMs }) => {
    const head = readAt(fd, { from: 0, length: HEAD_BYTES });
    const header = findHeader(fd, head);
    if (!header) return undefined;
    const nameInHead = findName(head);
    const begun = findFirst(head);
    const isCut = begun === undefined && sizeBytes > HEAD_BYTES;
    const firstMessage = isCut ? findFirst(readAt(fd, { from: 0, length: PEEK_BYTES })) : begun;
    const from = Math.max(0, sizeBytes - TAIL_BYTES);
    const nameInTail = sizeBytes > HEAD_BYTES ? findName(readAt(fd, { from, length: TAIL_BYTES })) : undefined;
    const name = nameInTail ?? nameInHead;
    return { header, modifiedMs, sizeBytes, name: name || undefined, firstMessage };
  });
}

/** Puts what was said into one line of 200 characters at most. */
export function inOneLine(content: unknown): string {
  const blocks: unknown[] = Array.isArray(content) ? content : [{ type: "text", text: content }];
  const texts = blocks.flatMap((block) => (isRaw(block) && typeof block.text === "string" ? block.text : []));
  return texts.join(" ").replaceAll(/\s+/g, " ").trim().slice(0, FIRST_MESSAGE_CHARS);
}

function peek<T>(path: string, look: (fd: number, stats: Stats) => T | undefined): T | undefined {
  try {
    return withFile(path, look);
  } catch {
    // A list shows what can be read; why a file cannot be is told when it is opened.
    return undefined;
  }
}

/** The first line is the header, nearly always; else the first one that can be. */
function findHeader(fd: number, head: Buffer): SessionHeader | undefined {
  const end = head.indexOf(LINE_FEED);
  const first = end < 0 ? undefined : parseHeader(head.toString("utf8", 0, end));
  if (first) return first;
  const more = Buffer.alloc(MAX_HEADER_BYTES);
  const text = more.toString("utf8", 0, readSync(fd, more, 0, MAX_HEADER_BYTES, 0));
  for (const line of text.split("\n")) {
    const header = parseHeader(line);
    if (header) return header;
  }
  return undefined;
}

function findFirst(head: Buffer): string | undefined {
  for (let at = head.indexOf(USER); at >= 0; at = head.indexOf(USER, at + 1)) {
    const message = lineAround(head, at)?.message as { role?: unknown; content?: unknown } | null | undefined;
    if (message && message.role === "user") return inOneLine(message.content);
  }
  return undefined;
}

/** The last name; an empty one takes the one before it away. */
function findName(part: Buffer): string | undefined {
  for (let at = part.lastIndexOf(NAME); at >= 0; at = part.subarray(0, at).lastIndexOf(NAME)) {
    const entry = lineAround(part, at);
    if (entry?.type === "session_info") return typeof entry.name === "string" ? entry.name : "";
  }
  return undefined;
}

function lineAround(part: Buffer, at: number): RawRecord | undefined {
  const from = part.lastIndexOf(LINE_FEED, at) + 1;
  const end = part.indexOf(LINE_FEED, at);
  const value = parseJson(part.toString("utf8", from, end < 0 ? part.length : end));
  return isRaw(value) ? value : undefined;
}

// One for all, until the next call: a new one for each file would cost more than reading it.
let scratch: Buffer | undefined;

function readAt(fd: number, { from, length }: { from: number; length: number }): Buffer {
  scratch ??= Buffer.allocUnsafeSlow(PEEK_BYTES);
  return scratch.subarray(0, readSync(fd, scratch, 0, length, from));
}
