import { DEFAULT_MAX_BYTES, DEFAULT_MAX_LINES } from "./limits.ts";

export interface TextLimits {
  maxLines?: number;
  /** Of UTF-8. */
  maxBytes?: number;
}

/** What was cut from a text. Lines and bytes count a final newline as part of its line. */
export type Truncation = {
  content: string;
  truncated: boolean;
  truncatedBy: "lines" | "bytes" | null;
  totalLines: number;
  totalBytes: number;
  outputLines: number;
  outputBytes: number;
  /** The only line shown is the end of a longer one. */
  lastLinePartial: boolean;
  /** The first line alone is too long; nothing is shown. */
  firstLineExceedsLimit: boolean;
  maxLines: number;
  maxBytes: number;
};

/** What a result's `details` keep of a truncation: all but the text, which is the result itself. */
export type TruncationInfo = Omit<Truncation, "content">;

export function truncationInfo(truncation: Truncation): TruncationInfo {
  const { content: _content, ...info } = truncation;
  return info;
}

/** Keeps whole lines from the start of a text. */
export function truncateHead(text: string, limits: TextLimits = {}): Truncation {
  const whole = measure(text, limits);
  if (whole.totalLines <= whole.maxLines && whole.totalBytes <= whole.maxBytes) return whole;
  const lines = splitLines(text);
  let bytes = 0;
  let count = 0;
  for (const line of lines) {
    const cost = Buffer.byteLength(line) + (count > 0 ? 1 : 0);
    if (count === whole.maxLines || bytes + cost > whole.maxBytes) break;
    bytes += cost;
    count++;
  }
  const content = lines.slice(0, count).join("\n");
  if (count === lines.length) return { ...whole, content, outputBytes: bytes };
  return {
    ...whole,
    content,
    truncated: true,
    truncatedBy: count === whole.maxLines ? "lines" : "bytes",
    outputLines: count,
    outputBytes: bytes,
    firstLineExceedsLimit: count === 0,
  };
}

/** Keeps whole lines from the end of a text; of a last line that is too long, its end. */
export function truncateTail(text: string, limits: TextLimits = {}): Truncation {
  const whole = measure(text, limits);
  if (whole.totalLines <= whole.maxLines && whole.totalBytes <= whole.maxBytes) return whole;
  const lines = splitLines(text);
  let bytes = 0;
  let first = lines.length;
  while (first > 0 && lines.length - first < whole.maxLines) {
    const cost = Buffer.byteLength(lines[first - 1]!) + (first < lines.length ? 1 : 0);
    if (bytes + cost > whole.maxBytes) break;
    bytes += cost;
    first--;
  }
  if (first === 0) return { ...whole, content: lines.join("\n"), outputBytes: bytes };
  const isPartial = first === lines.length;
  const content = isPartial ? lastBytes(lines.at(-1)!, whole.maxBytes) : lines.slice(first).join("\n");
  return {
    ...whole,
    content,
    truncated: true,
    truncatedBy: !isPartial && lines.length - first === whole.maxLines ? "lines" : "bytes",
    outputLines: isPartial ? 1 : lines.length - first,
    outputBytes: Buffer.byteLength(content),
    lastLinePartial: isPartial,
  };
}

/** Writes a size as people read it: `512B`, `1.5KB`, `2.0MB`, `10.0GB`. */
export function formatSize(bytes: number): string {
  if (bytes < 1_024) return `${bytes}B`;
  if (bytes < 1_024 ** 2) return `${(bytes / 1_024).toFixed(1)}KB`;
  if (bytes < 1_024 ** 3) return `${(bytes / 1_024 ** 2).toFixed(1)}MB`;
  return `${(bytes / 1_024 ** 3).toFixed(1)}GB`;
}

/** Cuts a text to at most `maxLength` UTF-16 units and never through a character. */
export function cutText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  return text.slice(0, isHighSurrogate(text.charCodeAt(maxLength - 1)) ? maxLength - 1 : maxLength);
}

/** Splits at LF; a final newline starts no further line. */
export function splitLines(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function measure(text: string, limits: TextLimits): Truncation {
  const bytes = Buffer.byteLength(text);
  const lines = countLines(text);
  return {
    content: text,
    truncated: false,
    truncatedBy: null,
    totalLines: lines,
    totalBytes: bytes,
    outputLines: lines,
    outputBytes: bytes,
    lastLinePartial: false,
    firstLineExceedsLimit: false,
    maxLines: limits.maxLines ?? DEFAULT_MAX_LINES,
    maxBytes: limits.maxBytes ?? DEFAULT_MAX_BYTES,
  };
}

function countLines(text: string): number {
  let lines = text.length > 0 && !text.endsWith("\n") ? 1 : 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}

/** The end of a text in at most `maxBytes` of UTF-8, starting with a whole character. */
function lastBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text.slice(-maxBytes));
  let start = Math.max(0, bytes.length - maxBytes);
  // Continuation bytes are 10xxxxxx.
  while (start < bytes.length && (bytes[start]! & 0xc0) === 0x80) start++;
  return bytes.toString("utf8", start);
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
