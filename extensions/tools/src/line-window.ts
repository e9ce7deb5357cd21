const LF = 10;

/**
 * Takes the bytes of a UTF-8 file in order and keeps whole lines, from line `first` (0-based) on, up to the limits.
 *
 *   skipped │ kept │ counted only
 *           first   isFull
 */
export class LineWindow {
  readonly #first: number;
  readonly #maxLines: number;
  readonly #maxBytes: number;
  readonly #parts: Buffer[] = [];
  /** Bytes in `#parts`, and those of them that belong to whole lines. */
  #heldBytes = 0;
  #wholeBytes = 0;
  /** Bytes of the line that is being scanned. */
  #lineBytes = 0;

  /** Lines seen, a last one without newline too once `end` was called. */
  totalLines = 0;
  totalBytes = 0;
  keptLines = 0;
  /** What the window ended at; `undefined` while it takes lines. */
  fullBy: "lines" | "bytes" | undefined;
  /** Size of the first line, when it alone is too long to be kept. */
  longLineBytes: number | undefined;

  constructor(limits: { first: number; maxLines: number; maxBytes: number }) {
    this.#first = limits.first;
    this.#maxLines = limits.maxLines;
    this.#maxBytes = limits.maxBytes;
    if (this.#maxLines === 0) this.fullBy = "lines";
  }

  push(chunk: Buffer): void {
    this.totalBytes += chunk.length;
    let keepFrom = this.#isKeeping() ? 0 : -1;
    let at = 0;
    while (at < chunk.length) {
      const newline = chunk.indexOf(LF, at);
      const end = newline === -1 ? chunk.length : newline + 1;
      this.#lineBytes += end - at;
      if (this.#isKeeping()) {
        if (keepFrom === -1) keepFrom = at;
        this.#heldBytes += end - at;
        this.#checkBytes(newline !== -1);
      }
      if (newline !== -1) this.#endLine();
      at = end;
      if (keepFrom !== -1 && (!this.#isKeeping() || at === chunk.length)) {
        this.#parts.push(chunk.subarray(keepFrom, at));
        keepFrom = -1;
      }
    }
  }

  end(): void {
    if (this.#lineBytes > 0) this.#endLine();
  }

  /** The kept lines, the newline of the last one too. */
  bytes(): Buffer {
    const held = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
    return held.subarray(0, this.#wholeBytes);
  }

  #isKeeping(): boolean {
    return this.fullBy === undefined && this.totalLines >= this.#first;
  }

  /** A line's own newline does not count against the limit. */
  #checkBytes(isWholeLine: boolean): void {
    if (this.#heldBytes - (isWholeLine ? 1 : 0) > this.#maxBytes) this.fullBy = "bytes";
  }

  #endLine(): void {
    if (this.fullBy === "bytes" && this.keptLines === 0 && this.totalLines === this.#first) {
      this.longLineBytes = this.#lineBytes;
    }
    if (this.#isKeeping()) {
      this.keptLines++;
      this.#wholeBytes = this.#heldBytes;
      if (this.keptLines === this.#maxLines) this.fullBy = "lines";
    }
    this.totalLines++;
    this.#lineBytes = 0;
  }
}
