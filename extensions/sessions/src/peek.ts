import { readSync } from "node:fs";
import { parseHeader } from "./format.ts";
import { withFile } from "./read.ts";
import { isRaw, parseJson, type SessionHeader } from "./record.ts";

/** What the beginning of a session file tells. */
export interface Head {
  header: SessionHeader;
  /** Its lines as far as they were read; the last one may be cut. */
  text: string;
}

const PEEK_BYTES = 64 * 1024;
// A header of an old version may hold a whole system prompt; Pi gives up at the same length.
const MAX_HEADER_BYTES = 1024 * 1024;
const FIRST_MESSAGE_CHARS = 200;

/** Reads the head of a file; answers `undefined` when it is not that of a session, or cannot be read. */
export function peekHead(path: string): Head | undefined {
  try {
    return withFile(path, (fd) => {
      const first = readAt(fd, 0, PEEK_BYTES);
      const text = first.includes("\n") ? first : readAt(fd, 0, MAX_HEADER_BYTES);
      for (const line of text.split("\n")) {
        const header = parseHeader(line);
        if (header) return { header, text };
      }
      return undefined;
    });
  } catch {
    // A list shows what can be read; why a file cannot be is told when it is opened.
    return undefined;
  }
}

/** Finds the name that a session was given last, as far as the tail of its file or its head tells. */
export function peekName(path: string, sizeBytes: number, head: string): string | undefined {
  return lastName(peekTail(path, sizeBytes)) ?? lastName(head);
}

/** Finds how the conversation began, in one line. */
export function firstMessage(head: string): string | undefined {
  for (const line of head.split("\n")) {
    if (!line.includes('"role":"user"')) continue;
    const entry = parseJson(line);
    const message = isRaw(entry) && (entry.message as { role?: unknown; content?: unknown } | null | undefined);
    if (message && message.role === "user") return oneLine(message.content);
  }
  return undefined;
}

/** An empty name takes the one before it away. */
function lastName(text: string): string | undefined {
  if (!text.includes('"session_info"')) return undefined;
  for (const line of text.split("\n").reverse()) {
    const entry = line.includes('"session_info"') ? parseJson(line) : undefined;
    if (isRaw(entry) && entry.type === "session_info") return typeof entry.name === "string" ? entry.name : "";
  }
  return undefined;
}

function oneLine(content: unknown): string {
  const blocks: unknown[] = Array.isArray(content) ? content : [{ type: "text", text: content }];
  const texts = blocks.flatMap((block) => (isRaw(block) && typeof block.text === "string" ? block.text : []));
  return texts.join(" ").replaceAll(/\s+/g, " ").trim().slice(0, FIRST_MESSAGE_CHARS);
}

function peekTail(path: string, sizeBytes: number): string {
  try {
    return withFile(path, (fd) => readAt(fd, Math.max(0, sizeBytes - PEEK_BYTES), PEEK_BYTES));
  } catch {
    // It was removed just now: the list shows it without a name.
    return "";
  }
}

// One for all: a new one for each file would cost more than reading it.
let scratch: Buffer | undefined;

function readAt(fd: number, position: number, length: number): string {
  if (!scratch || scratch.length < length) scratch = Buffer.allocUnsafe(length);
  const count = readSync(fd, scratch, 0, length, position);
  return scratch.toString("utf8", 0, count);
}
