/**
 * Keeps a session on disk.
 *
 *   append ──► queue ──► flush ──► one write ──► on disk
 *                          └─ fails: told once, kept, tried again at the next flush
 *
 * 1. There is no file before there is a user or assistant message.
 * 2. Nothing throws. A disk that is full, read-only or gone costs no run.
 * 3. What is not flushed by the time the process is idle is written then.
 */
import type { Entry } from "@pi-agent/kernel";
import { toLine } from "./format.ts";
import { reasonOf } from "./problems.ts";
import type { SessionHeader } from "./record.ts";
import { isSaid } from "./said.ts";
import { type FileState, SessionFile } from "./session-file.ts";
import type { SessionSink } from "./store.ts";

export interface WriterOptions {
  /** `flush` survives a killed process, `fsync` a power cut too. */
  durability: "flush" | "fsync";
  /** Tells the person. */
  report: (message: string, level: "info" | "warning" | "error") => void;
}

/** What there is of a session when it is first written to. */
export interface Kept {
  file: string;
  /** Whose file it must be, where another session may have the name. */
  id?: string;
  /** What the file measured when it was read; left out while there is none. */
  sizeBytes?: number;
  /** The file has other ids than `stored`: it is written anew before anything is appended. */
  isOutdated?: boolean;
  /** What the file holds. */
  stored: readonly Entry[];
  /** What is written with the first entry that is appended. */
  missing: readonly Entry[];
  /** The ids of both, where what is appended may be among them. */
  ids?: Set<string>;
}

export class SessionWriter implements SessionSink {
  private readonly header: SessionHeader;
  private readonly options: WriterOptions;
  private readonly locate: () => Kept;
  private onDisk: SessionFile | undefined;
  private entries: Entry[] = [];
  /** The ids of the entries, where something may come twice. */
  private ids: Set<string> | undefined;
  /** How many of the entries are on disk. */
  private written = 0;
  /** Something was appended that is not on disk: what was only read is not written. */
  private hasNews = false;
  private isOutdated = false;
  private isWorthKeeping = false;
  /** There is no file, and entries of another session go into it: as a whole or not at all. */
  private isCopy = false;
  private hasFailed = false;
  private isGrowthTold = false;
  private soon: NodeJS.Immediate | undefined;
  private syncing: Promise<void> | undefined;

  /** `locate` is asked when something is to be written; while it fails, that is told and tried again. */
  constructor(header: SessionHeader, options: WriterOptions & { locate(): Kept }) {
    this.header = header;
    this.options = options;
    this.locate = () => options.locate();
  }

  /** Where the session is; `undefined` until it is known. */
  get file(): string | undefined {
    return this.onDisk?.path;
  }

  append(entry: Entry): void {
    if (this.ids?.has(entry.id)) return;
    this.ids?.add(entry.id);
    this.entries.push(entry);
    this.isWorthKeeping ||= isSaid(entry);
    this.hasNews = true;
    this.soon ??= setImmediate(() => void this.flush());
  }

  /** Writes what is not on disk yet. */
  flush(): void | Promise<void> {
    clearImmediate(this.soon);
    this.soon = undefined;
    // What was written a moment ago may still be on its way to the disk.
    if (!this.hasNews) return this.syncing;
    try {
      this.onDisk ??= this.find();
      if (!this.isWorthKeeping) return;
      this.write(this.onDisk);
    } catch (error) {
      this.failed(error);
      return this.syncing;
    }
    if (this.options.durability === "fsync") return this.sync(this.onDisk);
  }

  async close(): Promise<void> {
    await this.flush();
    this.closeFile();
    const unsaved = this.entries.length - this.written;
    if (!this.hasFailed || unsaved === 0) return;
    const what = `${unsaved} entries of this session were never written${this.place}: the disk did not come back.`;
    this.options.report(`${what} The session can be continued, but without them.`, "error");
  }

  private find(): SessionFile {
    const { file, id, sizeBytes, isOutdated = false, stored, missing, ids } = this.locate();
    const isNew = (entry: Entry) => !ids?.has(entry.id);
    const queued = ids ? this.entries.filter(isNew) : this.entries;
    for (const entry of queued) ids?.add(entry.id);
    this.ids = ids;
    this.entries = [...stored, ...missing, ...queued];
    this.written = stored.length;
    this.isOutdated = isOutdated;
    this.isWorthKeeping ||= sizeBytes !== undefined || missing.some(isSaid);
    this.isCopy = sizeBytes === undefined && missing.length > 0;
    return new SessionFile({ path: file, id, sizeBytes });
  }

  private write(file: SessionFile): void {
    if (this.isCopy) {
      file.begin(this.whole());
      this.isCopy = false;
      if (this.hasFailed) this.recovered();
    } else this.add(file);
    this.written = this.entries.length;
    this.hasNews = false;
  }

  private add(file: SessionFile): void {
    const state = file.check();
    if (state === "lost" || this.isOutdated) this.replace(file, state);
    else file.append(this.news(file, state));
    if (this.hasFailed) this.recovered();
    else if (state === "grown") this.tellGrowth();
  }

  private *news(file: SessionFile, state: FileState): Generator<string> {
    const first = state === "new" ? 0 : this.written;
    // Another program may have begun the session: its header holds.
    if (first === 0 && (state === "new" || !file.hasHeader())) yield toLine(this.header);
    yield* this.linesFrom(first);
  }

  private *whole(): Generator<string> {
    yield toLine(this.header);
    yield* this.linesFrom(0);
  }

  private replace(file: SessionFile, state: FileState): void {
    const copy = file.replace(this.whole());
    const isLost = state === "lost";
    const what = isLost ? "was removed or cut by another program and was written again" : "has the present format now";
    const kept = copy ? ` What was there is kept as ${copy}.` : "";
    this.options.report(`The session file ${file.path} ${what}.${kept}`, isLost ? "warning" : "info");
    this.isOutdated = false;
  }

  private *linesFrom(first: number): Generator<string> {
    for (let i = first; i < this.entries.length; i++) yield toLine(this.entries[i]!);
  }

  /** One after the other, so that none is under way when the file is closed. */
  private sync(file: SessionFile): Promise<void> {
    const done = (this.syncing ?? Promise.resolve())
      .then(() => file.sync())
      .catch((error: unknown) => this.failed(error))
      .finally(() => {
        if (this.syncing === done) this.syncing = undefined;
      });
    this.syncing = done;
    return done;
  }

  /** Tells the first failure, and lets the next flush open the file anew. */
  private failed(error: unknown): void {
    this.closeFile();
    if (this.hasFailed) return;
    this.hasFailed = true;
    const what = `The session could not be written${this.place}: ${reasonOf(error)}.`;
    const todo =
      "Free or mount the disk, or make the folder writable; everything is kept and written as soon as that works.";
    this.options.report(`${what} The run goes on. ${todo}`, "error");
  }

  private closeFile(): void {
    try {
      this.onDisk?.close();
    } catch (error) {
      this.failed(error);
    }
  }

  private recovered(): void {
    this.hasFailed = false;
    const count = this.entries.length - this.written;
    this.options.report(`The session is written again: ${count} entries were added${this.place}.`, "info");
  }

  private tellGrowth(): void {
    if (this.isGrowthTold) return;
    this.isGrowthTold = true;
    const what = `Another program is writing to this session too: ${this.file}.`;
    this.options.report(
      `${what} Nothing is lost, but the conversation now has two branches; close one of them.`,
      "warning",
    );
  }

  private get place(): string {
    return this.file === undefined ? "" : ` to ${this.file}`;
  }
}
