import { closeSync, openSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MAX_OUTPUT_FILE_BYTES } from "./limits.ts";
import { formatSize, type TruncationInfo, truncateTail, truncationInfo } from "./truncate.ts";

/** What of a command's output is shown, and what to say about the rest. */
export interface ShownOutput {
  text: string;
  truncation?: TruncationInfo;
  notice?: string;
}

/** Keeps the end of a command's output, and the whole in a file as soon as the end is not all. */
export class OutputTail {
  readonly #maxLines: number;
  readonly #maxBytes: number;
  readonly #directory: string;
  #tail = "";
  #totalBytes = 0;
  #breaks = 0;
  /** Bytes since the last newline, and of the line before it. */
  #lineBytes = 0;
  #endedLineBytes = 0;
  /** The bytes so far, until they go into the file. */
  #raw: Uint8Array[] = [];
  #rawBytes = 0;
  #fd: number | undefined;
  #writtenBytes = 0;
  #path: string | undefined;
  #fileFault: string | undefined;

  constructor(limits: { maxLines: number; maxBytes: number; directory?: string }) {
    this.#maxLines = limits.maxLines;
    this.#maxBytes = limits.maxBytes;
    this.#directory = limits.directory ?? tmpdir();
  }

  get path(): string | undefined {
    return this.#path;
  }

  /** Takes what arrived: the text as it may be shown, and the bytes as they came. */
  push(text: string, bytes: Uint8Array): void {
    this.#count(text);
    this.#tail += text;
    // Twice as much as is shown, so that cutting is rare. A UTF-16 unit is at least one byte of UTF-8; with two more
    // than are shown, a final newline among them, the line that is cut here is never shown as whole.
    if (this.#tail.length > 2 * this.#maxBytes) this.#tail = this.#tail.slice(-this.#maxBytes - 2);
    this.#keep(bytes);
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  show(): ShownOutput {
    const limits = { maxLines: this.#maxLines, maxBytes: this.#maxBytes };
    const shown = truncateTail(this.#tail, limits);
    const totalLines = this.#totalLines();
    if (!shown.truncated && this.#totalBytes === shown.totalBytes) return { text: shown.content };
    const truncation = { ...truncationInfo(shown), truncated: true, totalLines, totalBytes: this.#totalBytes };
    return { text: shown.content, truncation, notice: this.#notice(truncation) };
  }

  #notice({ lastLinePartial, outputLines, outputBytes, totalLines, truncatedBy }: TruncationInfo): string {
    const fault = this.#fileFault;
    const where = fault ? `The full output could not be kept: ${fault}` : `Full output: ${this.#path}`;
    const cut = this.#writtenBytes >= MAX_OUTPUT_FILE_BYTES ? ` (its first ${formatSize(this.#writtenBytes)})` : "";
    if (lastLinePartial) {
      const size = formatSize(this.#lineBytes || this.#endedLineBytes);
      return `[Showing last ${formatSize(outputBytes)} of line ${totalLines} (line is ${size}). ${where}${cut}]`;
    }
    const limit = truncatedBy === "bytes" ? ` (${formatSize(this.#maxBytes)} limit)` : "";
    return `[Showing lines ${totalLines - outputLines + 1}-${totalLines} of ${totalLines}${limit}. ${where}${cut}]`;
  }

  #totalLines(): number {
    return this.#breaks + (this.#lineBytes > 0 ? 1 : 0);
  }

  #count(text: string): void {
    this.#totalBytes += Buffer.byteLength(text);
    let after = 0;
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", after)) {
      this.#endedLineBytes = this.#lineBytes + Buffer.byteLength(text.slice(after, at));
      this.#lineBytes = 0;
      this.#breaks++;
      after = at + 1;
    }
    this.#lineBytes += Buffer.byteLength(text.slice(after));
  }

  #keep(bytes: Uint8Array): void {
    if (this.#fileFault !== undefined) return;
    if (this.#fd === undefined) {
      this.#raw.push(bytes);
      this.#rawBytes += bytes.length;
      const isWithin = this.#totalLines() <= this.#maxLines;
      if (isWithin && Math.max(this.#rawBytes, this.#totalBytes) <= this.#maxBytes) return;
    }
    try {
      this.#fd ??= this.#open();
      for (const part of this.#raw.length > 0 ? this.#raw : [bytes]) this.#write(this.#fd, part);
    } catch (cause) {
      this.#fileFault = (cause as Error).message;
    }
    this.#raw = [];
  }

  #open(): number {
    const random = crypto.getRandomValues(Buffer.alloc(8)).toString("hex");
    const path = join(this.#directory, `pi-bash-${random}.log`);
    const fd = openSync(path, "wx", 0o600);
    this.#path = path;
    return fd;
  }

  #write(fd: number, bytes: Uint8Array): void {
    const end = Math.min(bytes.length, MAX_OUTPUT_FILE_BYTES - this.#writtenBytes);
    for (let at = 0; at < end; ) at += writeSync(fd, bytes, at, end - at);
    this.#writtenBytes += end;
  }
}
