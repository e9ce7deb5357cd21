/**
 * One session file: takes whole lines, and sees what others did to it in between.
 *
 * 1. A new file is made exclusively, or joined where another program was quicker; an old one is opened once, for appending only.
 * 2. A write is whole or not at all: what a failed one left is cut off again. Where even that fails, the next write
 *    begins with a line feed.
 * 3. Replacing goes by a file beside it and a rename, after a copy was made of what is there. The folder may be a
 *    stranger's: what is made has a name that nobody had, and no link is followed.
 * 4. A file is still the one that was written to when it has the same name and ends, where it ended, the same way.
 */
import { randomUUID } from "node:crypto";
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fdatasync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname } from "node:path";
import { peekHeader } from "./peek.ts";
import { ENDING_BYTES, type Written, withLineFeed, writeLines } from "./write-lines.ts";

/** `new`: empty, it wants its header. `grown`: another program appended. `lost`: removed, replaced or cut. */
export type FileState = "new" | "same" | "grown" | "lost";

const LINE_FEED = 10;
// Sessions hold what a person and their tools said: nobody else reads them.
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

export class SessionFile {
  readonly path: string;
  private readonly id: string | undefined;
  private fd: number | undefined;
  private sizeBytes: number | undefined;
  /** What stands before `sizeBytes`, as far as it is known. */
  private ending: Uint8Array | undefined;
  private isMidLine = false;
  private isNameOnDisk = true;

  /** `id`: whose file it must be, where another session may have the name. `sizeBytes`: what it measured when it was read; `undefined` when there is no file. */
  constructor({ path, id, sizeBytes }: { path: string; id?: string; sizeBytes?: number }) {
    this.path = path;
    this.id = id;
    this.sizeBytes = sizeBytes;
  }

  /** Opens the file at the first call, and tells what became of it. Throws what the file system says. */
  check(): FileState {
    const isOpen = this.fd !== undefined;
    this.fd ??= this.sizeBytes === undefined ? this.create() : this.open();
    if (this.fd === undefined) return "lost";
    const { size, nlink } = fstatSync(this.fd);
    const expected = this.sizeBytes!;
    const isSuspect = size !== expected || !isOpen;
    if (size < expected || !this.isStillThere(nlink) || (isSuspect && !this.endsAsKnown(expected))) {
      this.close();
      return "lost";
    }
    if (isSuspect) {
      this.ending = this.readBefore(size, Math.min(size, ENDING_BYTES));
      this.isMidLine = size > 0 && this.ending.at(-1) !== LINE_FEED;
    }
    this.sizeBytes = size;
    if (size === 0) return "new";
    return size > expected ? "grown" : "same";
  }

  /** Appends lines, as few writes as there can be, after `check`. Throws what the file system says. */
  append(lines: Iterable<string>): void {
    const fd = this.fd!;
    const from = this.sizeBytes!;
    const written: Written = { bytes: 0 };
    try {
      writeLines(fd, this.isMidLine ? withLineFeed(lines) : lines, written);
    } catch (error) {
      if (written.bytes > 0 && fstatSync(fd).size === from + written.bytes) ftruncateSync(fd, from);
      throw error;
    }
    this.sizeBytes = from + written.bytes;
    // Where another program wrote between the check and this, nobody knows what stands before there.
    this.ending = fstatSync(fd).size === this.sizeBytes ? (written.ending ?? this.ending) : undefined;
    this.isMidLine = false;
  }

  /** Makes the file with all that is in it: nobody sees a half of it. Fails where there is one already. */
  begin(lines: Iterable<string>): void {
    this.put(this.draft(lines), (draft) => claimName(draft, this.path));
  }

  /** Writes the whole file anew; answers where a copy of what was there is. Throws what the file system says. */
  replace(lines: Iterable<string>): string | undefined {
    return this.put(this.draft(lines), (draft) => {
      const copy = this.copyAside();
      renameSync(draft, this.path);
      return copy;
    });
  }

  /** Resolves when what was written outlasts a power cut. */
  sync(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.fd === undefined) return resolve();
      fdatasync(this.fd, (error) => {
        if (error) return reject(error);
        try {
          this.syncName();
          resolve();
        } catch (failure) {
          reject(failure as Error);
        }
      });
    });
  }

  close(): void {
    const { fd } = this;
    this.fd = undefined;
    if (fd !== undefined) closeSync(fd);
  }

  /** Tells whether the file is a session, and the right one: by its header. */
  hasHeader(): boolean {
    const header = peekHeader(this.path);
    return header !== undefined && (this.id === undefined || header.id === this.id);
  }

  /** Writes a file beside it, down to the disk. */
  private draft(lines: Iterable<string>): Draft {
    this.close();
    mkdirSync(dirname(this.path), { recursive: true, mode: FOLDER_MODE });
    const draft = `${this.path}.${randomUUID().slice(0, 8)}.tmp`;
    const fd = openSync(draft, "ax+", FILE_MODE);
    const written: Written = { bytes: 0 };
    try {
      writeLines(fd, lines, written);
      fsyncSync(fd);
    } catch (error) {
      closeSync(fd);
      rmSync(draft, { force: true });
      throw error;
    }
    return { fd, draft, written };
  }

  /** Gives a draft its name; where that fails, nothing of it stays. */
  private put<T>({ fd, draft, written: { bytes, ending } }: Draft, name: (draft: string) => T): T {
    let named: T;
    try {
      named = name(draft);
    } catch (error) {
      closeSync(fd);
      rmSync(draft, { force: true });
      throw error;
    }
    this.fd = fd;
    this.sizeBytes = bytes;
    this.ending = ending;
    this.isMidLine = false;
    this.isNameOnDisk = false;
    return named;
  }

  /** Where another program has begun this session meanwhile, its file is joined. */
  private create(): number {
    mkdirSync(dirname(this.path), { recursive: true, mode: FOLDER_MODE });
    let fd: number | undefined;
    try {
      fd = openSync(this.path, "ax+", FILE_MODE);
      this.isNameOnDisk = false;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") fd = this.join();
      if (fd === undefined) throw error;
    }
    this.sizeBytes = 0;
    this.ending = undefined;
    return fd;
  }

  /** An empty file may get two headers, from us and its maker: readers leave the second out. */
  private join(): number | undefined {
    const isSession = statSync(this.path, { throwIfNoEntry: false })?.size === 0 || this.hasHeader();
    return isSession ? this.open() : undefined;
  }

  private open(): number | undefined {
    try {
      return openSync(this.path, constants.O_RDWR | constants.O_APPEND);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw error;
    }
  }

  /** A file that was moved with its folder is; one that another has the name of is not. Some file systems count no links. */
  private isStillThere(nlink: number): boolean {
    const there = statSync(this.path, { throwIfNoEntry: false });
    if (!there) return nlink > 0;
    const here = fstatSync(this.fd!);
    return there.ino === here.ino && there.dev === here.dev;
  }

  private endsAsKnown(sizeBytes: number): boolean {
    const { ending } = this;
    return ending === undefined || this.readBefore(sizeBytes, ending.length).equals(ending);
  }

  private readBefore(end: number, length: number): Buffer {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(this.fd!, bytes, 0, length, end - length));
  }

  private copyAside(): string | undefined {
    const there = lstatSync(this.path, { throwIfNoEntry: false });
    if (!there) return undefined;
    // A link would be followed, and a pipe waited for.
    if (!there.isFile()) throw new Error(`${this.path} is not a regular file any more`);
    for (let n = 1; ; n++) {
      const copy = `${this.path}.bak${n === 1 ? "" : n}`;
      try {
        copyFileSync(this.path, copy, constants.COPYFILE_EXCL);
        return copy;
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === "ENOENT") return undefined;
        if (code !== "EEXIST") throw error;
      }
    }
  }

  /** A new file's name is safe when its folder is. */
  private syncName(): void {
    if (this.isNameOnDisk) return;
    const folder = openSync(dirname(this.path), "r");
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
    this.isNameOnDisk = true;
  }
}

/** A file that has no name of its own yet. */
interface Draft {
  fd: number;
  draft: string;
  written: Written;
}

/** Gives a finished file its name, where nobody has it. Not every file system can link. */
function claimName(draft: string, path: string): void {
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST" || existsSync(path)) throw error;
    return renameSync(draft, path);
  }
  rmSync(draft, { force: true });
}
