/**
 * From the spool into the database:
 *
 *   folders ─► files, oldest first ─► lines from the mark on ─► batches ─► one transaction each ─► mark, file removed
 *
 * 1. A file is removed only after its last line was committed, and only when nobody writes to it any more.
 * 2. Lines go in order; what is sent twice (killed between commit and mark) is stored once, by its id.
 * 3. A line that the database refuses for what it holds, or that cannot be read, is set aside, and the ones behind it go
 *    on. Only an end that was torn off goes with its file.
 * 4. Memory: one batch, which is at least one line.
 */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { applyBatch, prepare } from "./apply.ts";
import type { Database, DatabaseError } from "./database.ts";
import { readLines } from "./line-reader.ts";
import { type Line, readLine } from "./lines.ts";
import { toBatch } from "./rows.ts";
import {
  claimFolder,
  isLeft,
  listFiles,
  listFolders,
  readMark,
  removeFile,
  removeFolder,
  type SpoolFolder,
  writeMark,
} from "./spool-folder.ts";

export interface DrainOptions {
  schema: string;
  spool: string;
  target: string;
  /** Told after each commit. */
  onDrained?(place: DrainedPlace): void;
  /** Told of a folder that this process took over. */
  onClaimed?(folder: SpoolFolder): void;
  /** Told of what was set aside: the file that it is in now, and why. */
  onRefused?(file: string, reason: string): void;
}

export interface DrainedPlace {
  random: string;
  number: number;
  bytes: number;
}

/** What is drained, and how far. */
export interface DrainScope {
  /** Also what living processes wrote: for a reader, and for who alone can write to the database. */
  includesOthers: boolean;
  isStopped(): boolean;
}

const BATCH_CHARS = 1_000_000;
const BATCH_LINES = 500;
/** What the database says of a value: too long, not valid, too deep, against a rule of a table. */
const OF_ITS_VALUE = /^(?:21|22|23|54)/;

interface ReadLine {
  text: string;
  line: Line;
}

export class Drainer {
  private readonly options: DrainOptions;
  /** What this process writes to. */
  private own: string | undefined;
  private readonly claimed = new Set<string>();
  private readonly marks = new Map<string, number>();

  constructor(options: DrainOptions) {
    this.options = options;
  }

  /** Takes note of the folder that this process writes to: it is drained, and stays. */
  setOwn(random: string | undefined): void {
    this.own = random;
  }

  /** Drains what waits, until nothing does or it is stopped. Answers how many lines were read. Fails as the database does. */
  async drain(db: Database, scope: DrainScope): Promise<number> {
    let count = 0;
    for (const folder of listFolders(this.options.spool, this.options.target)) {
      if (scope.isStopped()) break;
      const taken = this.take(folder, scope);
      if (taken) count += await this.drainFolder(db, taken, scope);
    }
    return count;
  }

  private take(folder: SpoolFolder, scope: DrainScope): SpoolFolder | undefined {
    if (folder.random === this.own || this.claimed.has(folder.random)) return folder;
    if (!isLeft(folder)) return scope.includesOthers ? folder : undefined;
    const claimed = claimFolder(this.options.spool, folder);
    if (!claimed) return undefined;
    this.claimed.add(claimed.random);
    this.options.onClaimed?.(claimed);
    return claimed;
  }

  private async drainFolder(db: Database, folder: SpoolFolder, scope: DrainScope): Promise<number> {
    const isLeftOver = this.claimed.has(folder.random);
    const files = listFiles(folder.path);
    let count = 0;
    for (const [at, file] of files.entries()) {
      count += await this.drainFile(db, { ...file, random: folder.random }, scope);
      if (scope.isStopped()) return count;
      // Who writes is done with a file as soon as there is a later one.
      if (isLeftOver || at < files.length - 1) this.forget(file.path);
    }
    if (isLeftOver) {
      removeFolder(folder.path);
      this.claimed.delete(folder.random);
    }
    return count;
  }

  private async drainFile(
    db: Database,
    file: { path: string; number: number; random: string },
    scope: DrainScope,
  ): Promise<number> {
    let count = 0;
    let batch = newBatch();
    const send = async () => {
      await this.send(db, batch.lines);
      this.setUnreadableAside(batch.unreadable);
      count += batch.size;
      this.mark(file, batch.end);
      batch = newBatch();
    };
    for await (const { text, end } of readLines(file.path, this.placeIn(file.path))) {
      if (batch.chars > 0 && batch.chars + text.length > BATCH_CHARS) await send();
      if (scope.isStopped()) return count;
      const line = readLine(text);
      if (line) batch.lines.push({ text, line });
      else batch.unreadable.push(text);
      batch.chars += text.length;
      batch.end = end;
      if (++batch.size === BATCH_LINES) await send();
    }
    if (batch.size > 0) await send();
    return count;
  }

  /** Sends a piece as a whole; where a value of it is refused, line by line. */
  private async send(db: Database, lines: readonly ReadLine[]): Promise<void> {
    if (lines.length === 0) return;
    try {
      await applyBatch(db, this.options.schema, prepare(toBatch(lines.map(({ line }) => line))));
    } catch (error) {
      if (!isOfItsValue(error)) throw error;
      if (lines.length === 1) return this.setAside([lines[0]!.text], (error as Error).message);
      for (const line of lines) await this.send(db, [line]);
    }
  }

  private setUnreadableAside(texts: readonly string[]): void {
    if (texts.length === 0) return;
    const what = texts.length === 1 ? "A line" : `${texts.length} lines`;
    this.setAside(texts, `${what} cannot be read, after a fault of the disk or a change from elsewhere.`);
  }

  private setAside(texts: readonly string[], reason: string): void {
    const file = join(this.options.spool, `refused.${this.options.target}.jsonl`);
    appendFileSync(file, texts.map((text) => `${text}\n`).join(""), { mode: 0o600 });
    this.options.onRefused?.(file, reason);
  }

  private placeIn(path: string): number {
    return Math.max(this.marks.get(path) ?? 0, readMark(path));
  }

  private mark({ path, number, random }: { path: string; number: number; random: string }, bytes: number): void {
    this.marks.set(path, bytes);
    writeMark(path, bytes);
    this.options.onDrained?.({ random, number, bytes });
  }

  private forget(path: string): void {
    this.marks.delete(path);
    removeFile(path);
  }
}

function newBatch() {
  return { lines: [] as ReadLine[], unreadable: [] as string[], size: 0, chars: 0, end: 0 };
}

/** A driver that cannot even send a value says so in its own words, without a code of the server. */
function isOfItsValue(error: unknown): boolean {
  const { sqlState } = error as DatabaseError;
  if (sqlState !== undefined) return OF_ITS_VALUE.test(sqlState);
  return error instanceof RangeError || error instanceof SyntaxError;
}
