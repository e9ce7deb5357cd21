import { isUtf8 } from "node:buffer";
import type { Json, Model, ToolResult } from "@pi-agent/kernel";
import { createTranscoder, describeBadBytes, detectEncoding } from "./encoding.ts";
import { binaryFormat, imageType } from "./file-kind.ts";
import { MAX_COUNTED_BYTES, MAX_IMAGE_BYTES } from "./limits.ts";
import { LineWindow } from "./line-window.ts";
import { assertFile, type OpenFile, readWhole } from "./open-file.ts";
import { errorResult, textResult, throwIfAborted } from "./result.ts";
import { formatSize, type TruncationInfo } from "./truncate.ts";

const CHUNK_BYTES = 256 * 1_024;
const INLINE_IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

export interface ShowRequest {
  /** The path as the model gave it. */
  shown: string;
  /** 1-based; below 1 means the start. */
  offset?: number;
  limit?: number;
  maxLines: number;
  maxBytes: number;
  signal: AbortSignal | undefined;
  model?: Model;
}

/** Makes the result of reading an open file: an image block, the lines asked for, or what is in the way of both. */
export async function showFile(file: OpenFile, request: ShowRequest): Promise<ToolResult> {
  assertFile(file, request.shown);
  const head = await file.read(0, Math.min(file.sizeBytes || CHUNK_BYTES, CHUNK_BYTES));
  const mimeType = imageType(head);
  if (mimeType) return showImage(file, mimeType, request);
  if (detectEncoding(head).encoding === "utf-8" && head.includes(0)) return showBinary(file, head);

  const first = Math.max(0, Math.trunc(request.offset ?? 1) - 1);
  const limit = request.limit === undefined ? Infinity : Math.max(1, Math.trunc(request.limit));
  const maxLines = Math.min(limit, request.maxLines);
  const window = new LineWindow({ first, maxLines, maxBytes: request.maxBytes });
  const isCounted = await scan(file, head, window, request.signal);
  if (window.bytes().includes(0)) return showBinary(file, head);
  return showLines(window, { ...request, first, limit, isCounted, sizeBytes: file.sizeBytes });
}

/** Feeds the window; answers whether the file was read to its end, so that its lines are counted. */
async function scan(
  file: OpenFile,
  head: Buffer,
  window: LineWindow,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const { encoding, markBytes } = detectEncoding(head);
  const toUtf8 = createTranscoder(encoding);
  // A file that grows meanwhile is read as it was when it was opened.
  const end = file.sizeBytes || Infinity;
  let position = head.length;
  let counted = 0;
  window.push(toUtf8(markBytes > 0 ? head.subarray(markBytes) : head, false));
  while (position < end) {
    throwIfAborted(signal);
    if (window.fullBy && counted > MAX_COUNTED_BYTES) return false;
    const chunk = await file.read(position, Math.min(CHUNK_BYTES, end - position));
    if (chunk.length === 0) break;
    position += chunk.length;
    if (window.fullBy) counted += chunk.length;
    window.push(toUtf8(chunk, false));
  }
  if (encoding !== "utf-8") window.push(toUtf8(Buffer.alloc(0), true));
  window.end();
  return true;
}

interface Shown extends ShowRequest {
  first: number;
  limit: number;
  isCounted: boolean;
  sizeBytes: number;
}

function showLines(window: LineWindow, request: Shown): ToolResult {
  const { first, isCounted, shown, maxBytes } = request;
  if (isCounted && first > 0 && first >= window.totalLines) {
    const total = `${window.totalLines} line${window.totalLines === 1 ? "" : "s"} total`;
    return errorResult(`Offset ${first + 1} is beyond end of file (${total})`);
  }
  if (window.keptLines === 0 && window.fullBy === "bytes") {
    const size = window.longLineBytes === undefined ? "longer than can be shown" : formatSize(window.longLineBytes);
    const hint = `Use bash: sed -n '${first + 1}p' ${shown} | head -c ${maxBytes}`;
    const text = `[Line ${first + 1} is ${size}, exceeds ${formatSize(maxBytes)} limit. ${hint}]`;
    return textResult(text, { truncation: truncationOf(window, request) });
  }
  if (window.totalBytes === 0) return textResult("(empty file)");

  const bytes = window.bytes();
  const notices = [rest(window, request), isUtf8(bytes) ? undefined : badBytes(bytes, first + 1)].filter(Boolean);
  let text = bytes.toString("utf8");
  if (bytes.includes(13)) text = text.replaceAll("\r\n", "\n");
  if (notices.length > 0) text = `${text.replace(/\n$/, "")}\n\n[${notices.join(" ")}]`;
  return textResult(text, isCut(window, request) ? { truncation: truncationOf(window, request) } : undefined);
}

/** Tells what follows the shown lines and how to go on; `undefined` at the end of the file. */
function rest(window: LineWindow, request: Shown): string | undefined {
  const next = request.first + window.keptLines + 1;
  const left = window.totalLines - next + 1;
  if (request.isCounted && left === 0) return undefined;
  const goOn = `Use offset=${next} to continue.`;
  if (isCut(window, request)) {
    const limit = window.fullBy === "bytes" ? ` (${formatSize(request.maxBytes)} limit)` : "";
    const total = request.isCounted ? window.totalLines : `a ${formatSize(request.sizeBytes)} file`;
    return `Showing lines ${request.first + 1}-${next - 1} of ${total}${limit}. ${goOn}`;
  }
  return request.isCounted ? `${left} more lines in file. ${goOn}` : `More lines in file. ${goOn}`;
}

/** Whether less was shown than was asked for. */
function isCut(window: LineWindow, request: Shown): boolean {
  if (window.fullBy === "bytes") return true;
  const isMore = !request.isCounted || request.first + window.keptLines < window.totalLines;
  return isMore && window.keptLines < request.limit;
}

function truncationOf(window: LineWindow, { maxLines, maxBytes }: Shown): TruncationInfo {
  return {
    truncated: true,
    truncatedBy: window.fullBy ?? null,
    totalLines: window.totalLines,
    totalBytes: window.totalBytes,
    outputLines: window.keptLines,
    outputBytes: window.bytes().length,
    lastLinePartial: false,
    firstLineExceedsLimit: window.keptLines === 0,
    maxLines,
    maxBytes,
  };
}

function badBytes(bytes: Buffer, firstLine: number): string {
  return `Encoding problem: ${describeBadBytes(bytes, firstLine)}; such bytes are shown as \ufffd. The file may be Latin-1 or another encoding: bash with file and iconv tells more; edit will not change it.`;
}

function showBinary(file: OpenFile, head: Buffer): ToolResult {
  const size = file.sizeBytes > 0 ? `, ${formatSize(file.sizeBytes)}` : "";
  const hint = "Its bytes are not shown. Use bash (file, strings, xxd, or a program for the format) to look into it.";
  return textResult(`[Binary file: ${binaryFormat(head)}${size}. ${hint}]`);
}

async function showImage(file: OpenFile, mimeType: string, request: ShowRequest): Promise<ToolResult> {
  const note = `Read image file [${mimeType}]`;
  if (!INLINE_IMAGES.includes(mimeType)) {
    return textResult(
      `${note}\n[Image omitted: no provider takes ${mimeType}. Convert it to PNG in bash and read that.]`,
    );
  }
  if (file.sizeBytes > MAX_IMAGE_BYTES) {
    const sizes = `${formatSize(file.sizeBytes)} is over the limit of ${formatSize(MAX_IMAGE_BYTES)}`;
    const hint = "Make a smaller copy in bash (for example with ImageMagick: -resize 2000x2000) and read that.";
    return textResult(`${note}\n[Image omitted: ${sizes}. ${hint}]`);
  }
  const bytes = await readWhole(file, request.shown, MAX_IMAGE_BYTES);
  const { model } = request;
  const details: Json | undefined =
    model && !model.input.includes("image") ? { imageUnsupportedByModel: model.id } : undefined;
  return {
    content: [
      { type: "text", text: note },
      { type: "image", data: bytes.toString("base64"), mimeType },
    ],
    details,
  };
}
