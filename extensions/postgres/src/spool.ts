/**
 * What is to be written to the database, on disk first:
 *
 *   line, entry ─► pending ─(flush, or a moment later)─► one write to the file ─► the worker drains it
 *                     │ the disk is full                                                  │
 *                     └─► kept in memory, tried again                                     └─► file removed
 *
 * 1. Whatever was flushed outlasts the process.
 * 2. A file that a write failed on is not written to again: its torn end is the end.
 * 3. A number is given to one file only, so that a place in it means one thing.
 */
import { randomUUID } from "node:crypto";
import { closeSync, fdatasyncSync, openSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Entry } from "@pi-agent/kernel";
import { type EntryLine, type Head, toLine } from "./lines.ts";
import { ownProcessName } from "./process-name.ts";
import { folderName, leaveFolder, makeFolder, removeFile, removeFolder, type SpoolFolder } from "./spool-folder.ts";

export interface SpoolOptions {
  /** The folder of all spools of an agent directory. */
  spool: string;
  target: string;
  /** Whether what was flushed outlasts the machine too. */
  isDurable?: boolean;
  /** How much is kept in memory while nothing can be written, in UTF-16 units; what comes then is lost. 256 Mi by default. */
  maxKeptChars?: number;
  /** Told when something was written. */
  onWritten?(): void;
  /** Told once that nothing can be written, and once that it can again, and how many lines were lost in between. */
  onTrouble?(error: Error | undefined, lostLines: number): void;
}

interface Pending {
  head: Head;
  entry?: Entry;
  payload?: string;
}
interface File {
  fd: number;
  path: string;
  number: number;
  sizeBytes: number;
}

const MAX_FILE_BYTES = 8 * 1024 * 1024;
const MAX_KEPT_CHARS = 256 * 1024 * 1024;
const RETRY_MS = 5_000;
// A turn's own flush comes first where tools are quick; what waits for a slow one is written meanwhile.
const WRITE_MS = 50;
// An idle spool leaves no file behind; a busy one does not make a new one for each drain.
const TIDY_MS = 2_000;
const TIDY_BYTES = 1024 * 1024;
// Who has been silent for longer may have been taken for dead by another host.
const SILENT_MS = 120_000;

export class Spool {
  private readonly options: SpoolOptions;
  private folder: SpoolFolder | undefined;
  private file: File | undefined;
  private lastNumber = 0;
  private lastWriteMs = 0;
  private pending: Pending[] = [];
  private isScheduled = false;
  private readonly kept: string[] = [];
  private keptChars = 0;
  private lostLines = 0;
  private isTroubled = false;
  private isClosed = false;
  private timer: NodeJS.Timeout | undefined;
  private drainedBytes = 0;

  constructor(options: SpoolOptions) {
    this.options = options;
  }

  /** Names the folder that is written to, once there is one. */
  get random(): string | undefined {
    return this.folder?.random;
  }

  line(head: Head, payload?: string): void {
    this.push(payload === undefined ? { head } : { head, payload });
  }

  /** Keeps an entry. A run and a store that keep the same one, one after the other, share its line. */
  entry(entry: Entry, what: Pick<EntryLine, "step" | "session">): void {
    const last = this.pending.at(-1);
    const head = last?.head;
    const isShared =
      last?.entry === entry && head?.t === "entry" && !(head.step && what.step) && !(head.session && what.session);
    if (isShared) Object.assign(head, what);
    else this.push({ head: { t: "entry", at: Date.now(), ...what }, entry });
  }

  /** Writes what is pending; never fails. */
  flush(): void {
    this.writePending(this.options.isDurable === true);
  }

  private writePending(durably: boolean): void {
    const { pending } = this;
    if (pending.length > 0) {
      this.pending = [];
      let text = "";
      for (const { head, entry, payload } of pending) text += toLine(head, entry ? JSON.stringify(entry) : payload);
      this.keep(text);
    }
    if (this.kept.length > 0) this.write(durably);
    if (this.isClosed && this.folder) this.leave();
  }

  /** Hears how much of a file is in the database, and removes it when that is all. */
  drained(number: number, bytes: number): void {
    if (number !== this.file?.number) return;
    this.drainedBytes = bytes;
    if (this.file.sizeBytes > TIDY_BYTES) this.tidy();
    else this.later(TIDY_MS);
  }

  /** Writes what is left, and leaves it to whoever drains it; so is what comes even later. */
  close(): void {
    this.isClosed = true;
    this.flush();
    this.leave();
  }

  private leave(): void {
    this.tidy();
    this.closeFile();
    clearTimeout(this.timer);
    if (!this.folder) return;
    removeFolder(this.folder.path);
    leaveFolder(this.options.spool, this.folder);
    this.folder = undefined;
    this.lastNumber = 0;
  }

  private push(pending: Pending): void {
    this.pending.push(pending);
    if (this.isScheduled) return;
    this.isScheduled = true;
    setTimeout(() => {
      this.isScheduled = false;
      this.writePending(false);
    }, WRITE_MS).unref();
  }

  private keep(text: string): void {
    if (this.keptChars + text.length > (this.options.maxKeptChars ?? MAX_KEPT_CHARS)) {
      this.lostLines += text.split("\n").length - 1;
      return;
    }
    this.kept.push(text);
    this.keptChars += text.length;
  }

  private write(durably: boolean): void {
    try {
      while (this.kept.length > 0) {
        this.append(this.kept[0] ?? "");
        this.keptChars -= this.kept.shift()?.length ?? 0;
      }
      if (durably && this.file) fdatasyncSync(this.file.fd);
      this.tell(undefined);
      this.options.onWritten?.();
    } catch (error) {
      this.closeFile();
      this.later(RETRY_MS);
      this.tell(error as Error);
    }
  }

  private append(text: string): void {
    const file = this.openFile();
    const bytes = Buffer.from(text);
    let written = writeSync(file.fd, bytes);
    while (written < bytes.length) written += writeSync(file.fd, bytes, written);
    file.sizeBytes += bytes.length;
    this.lastWriteMs = Date.now();
    if (file.sizeBytes > MAX_FILE_BYTES) this.closeFile();
  }

  private openFile(): File {
    if (this.file && Date.now() - this.lastWriteMs > SILENT_MS) this.assertOwn(this.file);
    if (this.file) return this.file;
    this.folder ??= this.newFolder();
    makeFolder(this.folder.path);
    const number = ++this.lastNumber;
    const path = join(this.folder.path, `${number}.jsonl`);
    this.drainedBytes = 0;
    this.file = { fd: openSync(path, "ax", 0o600), path, number, sizeBytes: 0 };
    return this.file;
  }

  /** Begins anew where the folder was taken over. */
  private assertOwn(file: File): void {
    if (statSync(file.path, { throwIfNoEntry: false })) return;
    this.closeFile();
    this.folder = undefined;
  }

  private newFolder(): SpoolFolder {
    const { spool, target } = this.options;
    // The time first: folders are drained in the order in which they were begun.
    const random = `${Date.now().toString(36).padStart(9, "0")}-${randomUUID().slice(0, 4)}`;
    const name = { owner: ownProcessName(), random, target };
    return { ...name, path: join(spool, folderName(name)) };
  }

  private tidy(): void {
    const { file } = this;
    if (!file || this.drainedBytes < file.sizeBytes) return;
    this.closeFile();
    removeFile(file.path);
  }

  private closeFile(): void {
    if (this.file) closeSync(this.file.fd);
    this.file = undefined;
  }

  private later(delayMs: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (this.kept.length > 0) this.flush();
      else this.tidy();
    }, delayMs).unref();
  }

  private tell(error: Error | undefined): void {
    const isNews = this.isTroubled !== (error !== undefined);
    this.isTroubled = error !== undefined;
    if (!isNews) return;
    this.options.onTrouble?.(error, this.lostLines);
    this.lostLines = 0;
  }
}
