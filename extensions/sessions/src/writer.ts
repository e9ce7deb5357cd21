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
import type { Session } from "./select.ts";
import { type FileState, SessionFile } from "./session-file.ts";

export interface WriterOptions {
  /** `flush` survives a killed process, `fsync` a power cut too. */
  durability: "flush" | "fsync";
  /** Tells the person. */
  report(message: string, level: "info" | "warning" | "error"): void;
}

export class SessionWriter {
  private readonly session: Session;
  private readonly file: SessionFile;
  private readonly options: WriterOptions;
  private readonly entries: Entry[];
  /** How many of the entries are on disk. */
  private written: number;
  /** Something was appended that is not on disk: what was only read is not written. */
  private hasNews = false;
  private isOutdated: boolean;
  private isWorthKeeping: boolean;
  private hasFailed = false;
  private isGrowthTold = false;
  private soon: NodeJS.Immediate | undefined;
  private syncing: Promise<void> | undefined;

  constructor(session: Session & { file: string }, options: WriterOptions) {
    this.session = session;
    this.options = options;
    this.file = new SessionFile(session.file, session.sizeBytes);
    this.entries = [...session.entries];
    this.written = session.sizeBytes ? session.entries.length : 0;
    this.isOutdated = session.isOutdated;
    this.isWorthKeeping = Boolean(session.sizeBytes) || this.entries.some(isSaid);
    if (session.isUnsaved) this.writeSoon();
  }

  append(entry: Entry): void {
    this.entries.push(entry);
    this.isWorthKeeping ||= isSaid(entry);
    this.writeSoon();
  }

  /** Writes what is not on disk yet. */
  flush(): void | Promise<void> {
    clearImmediate(this.soon);
    this.soon = undefined;
    // What was written a moment ago may still be on its way to the disk.
    if (!this.hasNews || !this.isWorthKeeping) return this.syncing;
    try {
      this.write();
    } catch (error) {
      this.failed(error);
      return this.syncing;
    }
    if (this.options.durability === "fsync") return this.sync();
  }

  async close(): Promise<void> {
    await this.flush();
    this.closeFile();
    const unsaved = this.entries.length - this.written;
    if (!this.hasFailed || unsaved === 0) return;
    const what = `${unsaved} entries of this session were never written to ${this.file.path}: the disk did not come back.`;
    this.options.report(`${what} The session can be continued, but without them.`, "error");
  }

  private writeSoon(): void {
    this.hasNews = true;
    this.soon ??= setImmediate(() => void this.flush());
  }

  private write(): void {
    const state = this.file.check();
    if (state === "lost" || this.isOutdated) this.replace(state);
    else this.file.append([...this.news(state)].join(""));
    if (this.hasFailed) this.recovered();
    else if (state === "grown") this.tellGrowth();
    this.written = this.entries.length;
    this.hasNews = false;
  }

  private *news(state: FileState): Generator<string> {
    const first = state === "new" ? 0 : this.written;
    // Another program may have begun the session: its header holds.
    if (first === 0 && (state === "new" || !this.file.hasHeader())) yield toLine(this.session.header);
    yield* this.linesFrom(first);
  }

  private *whole(): Generator<string> {
    yield toLine(this.session.header);
    yield* this.linesFrom(0);
  }

  private replace(state: FileState): void {
    const copy = this.file.replace(this.whole());
    const isLost = state === "lost";
    const what = isLost ? "was removed or cut by another program and was written again" : "has the present format now";
    const kept = copy ? ` What was there is kept as ${copy}.` : "";
    this.options.report(`The session file ${this.file.path} ${what}.${kept}`, isLost ? "warning" : "info");
    this.isOutdated = false;
  }

  private *linesFrom(first: number): Generator<string> {
    for (let i = first; i < this.entries.length; i++) yield toLine(this.entries[i]!);
  }

  /** One after the other, so that none is under way when the file is closed. */
  private sync(): Promise<void> {
    const done = (this.syncing ?? Promise.resolve())
      .then(() => this.file.sync())
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
    const what = `The session could not be written to ${this.file.path}: ${reasonOf(error)}.`;
    const todo =
      "Free or mount the disk, or make the folder writable; everything is kept and written as soon as that works.";
    this.options.report(`${what} The run goes on. ${todo}`, "error");
  }

  private closeFile(): void {
    try {
      this.file.close();
    } catch (error) {
      this.failed(error);
    }
  }

  private recovered(): void {
    this.hasFailed = false;
    const count = this.entries.length - this.written;
    this.options.report(`The session is written again: ${count} entries were added to ${this.file.path}.`, "info");
  }

  private tellGrowth(): void {
    if (this.isGrowthTold) return;
    this.isGrowthTold = true;
    const what = `Another program is writing to this session too: ${this.file.path}.`;
    this.options.report(
      `${what} Nothing is lost, but the conversation now has two branches; close one of them.`,
      "warning",
    );
  }
}

function isSaid(entry: Entry): boolean {
  return entry.type === "message" && (entry.message.role === "user" || entry.message.role === "assistant");
}
