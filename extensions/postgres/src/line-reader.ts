import { type FileHandle, open } from "node:fs/promises";

/** A whole line of a file, and where the next one begins, in bytes. */
export interface TextLine {
  text: string;
  end: number;
}

const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 10;

/** Reads the whole lines of a file from a place on, as far as it is written; what has no end yet is left. */
export async function* readLines(path: string, from: number): AsyncGenerator<TextLine> {
  const file = await openIfThere(path);
  if (!file) return;
  try {
    let at = from;
    let parts: Buffer[] = [];
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, at);
      if (bytesRead === 0) return;
      let begin = 0;
      for (let end = buffer.indexOf(NEWLINE); end >= 0 && end < bytesRead; end = buffer.indexOf(NEWLINE, begin)) {
        parts.push(buffer.subarray(begin, end));
        begin = end + 1;
        yield { text: Buffer.concat(parts).toString("utf8"), end: at + begin };
        parts = [];
      }
      parts.push(buffer.subarray(begin, bytesRead));
      at += bytesRead;
    }
  } finally {
    await file.close();
  }
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
