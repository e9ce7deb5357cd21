import { existsSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Entry } from "@pi-agent/kernel";
import { inUse } from "./in-use.ts";
import { findHolder, leasePath, takeLease } from "./lease.ts";
import { findById, listSessions, readFolder, type SessionInfo } from "./list.ts";
import { fileName, isNameable, type SessionPlace } from "./location.ts";
import { peekHeader } from "./peek.ts";
import { readSession, type SessionFileContent } from "./read.ts";
import type { Claim, Holder, SessionStore } from "./store.ts";
import { type Kept, SessionWriter, type WriterOptions } from "./writer.ts";

export interface FileStoreOptions extends Pick<WriterOptions, "report"> {
  /** Where the sessions of a working directory are; without one, of the one where the person is. */
  placeOf(cwd?: string): SessionPlace;
  durability(): WriterOptions["durability"];
}

/** What is known of a session's file, which spares looking for it. */
export interface KnownFile {
  file: string;
  /** What it measured when all entries that the session is opened with were read from it; left out while there is none. */
  sizeBytes?: number;
  /** It has other ids than those entries. */
  isOutdated?: boolean;
}

type Written = Parameters<SessionStore["open"]>[0];

/** Keeps each session in a file of JSON lines. */
export class FileStore implements SessionStore {
  private readonly options: FileStoreOptions;
  /** Files that are not where one would look for them, by id. */
  private readonly places = new Map<string, string>();
  /** What holds for the session that is opened next, by id. */
  private readonly known = new Map<string, KnownFile>();

  constructor(options: FileStoreOptions) {
    this.options = options;
  }

  async list({ cwd }: { cwd?: string } = {}): Promise<SessionInfo[]> {
    return listSessions(this.options.placeOf(cwd), cwd);
  }

  async read(id: string): Promise<SessionFileContent | undefined> {
    const file = this.find(id);
    return file === undefined ? undefined : readSession(file);
  }

  async claim(id: string): Promise<Claim> {
    const taken = takeLease(this.leaseOf(id));
    return "holder" in taken ? taken : { isHeld: () => taken.isHeld, release: async () => taken.release() };
  }

  open(session: Written): SessionWriter {
    const { options } = this;
    const { header } = session;
    const known = this.known.get(header.id);
    this.known.delete(header.id);
    const locate = () => (known ? keptIn(known, session.entries) : this.locate(session));
    return new SessionWriter(header, { report: options.report, durability: options.durability(), locate });
  }

  async remove(id: string): Promise<boolean> {
    const file = this.find(id);
    if (file === undefined) return false;
    const claim = await this.claim(id);
    if ("holder" in claim) throw inUse({ id, file }, claim.holder);
    for (const each of [file, ...copiesOf(file)]) rmSync(each, { force: true });
    this.places.delete(id);
    this.known.delete(id);
    await claim.release();
    return true;
  }

  /** Tells who writes to a session, without claiming it. */
  holderOf(id: string): Holder | undefined {
    return findHolder(this.leaseOf(id));
  }

  /** Makes known where a session is, and what holds for its file when it is opened next. */
  remember(id: string, known: KnownFile): void {
    this.places.set(id, known.file);
    this.known.set(id, known);
  }

  /** Beside the file, also while there is none yet. */
  private leaseOf(id: string): string {
    const file = this.places.get(id) ?? this.find(id);
    return leasePath(file === undefined ? this.options.placeOf().folder : dirname(file), id);
  }

  private find(id: string): string | undefined {
    const place = this.options.placeOf();
    const found = this.findNear(id, place.folder) ?? findById(place, id).find(({ header }) => header.id === id)?.path;
    if (found !== undefined) this.places.set(id, found);
    return found;
  }

  /** Finds a file where it was last, or by its name: without a look into others. */
  private findNear(id: string, folder: string): string | undefined {
    const known = this.places.get(id);
    if (known !== undefined && existsSync(known)) return known;
    if (!isNameable(id)) return undefined;
    const names = readFolder(folder).filter((name) => name.endsWith(`_${id}.jsonl`));
    return names.map((name) => join(folder, name)).find((path) => peekHeader(path)?.id === id);
  }

  /** Finds what there is of a session already, else a place for it. Fails with `session_unreadable`, `session_invalid`. */
  private locate({ header, entries }: Written): Kept {
    const { folder } = this.options.placeOf(header.cwd);
    // An id that is in no file's name is looked for in all of them.
    const found = isNameable(header.id) ? this.findNear(header.id, folder) : this.find(header.id);
    const stored = found === undefined ? undefined : readSession(found);
    if (stored) return { ...stored, stored: stored.entries, ...lackingIn(stored.entries, entries) };
    const file = found ?? join(folder, fileName(header.id, header.timestamp));
    this.places.set(header.id, file);
    return { file, id: header.id, stored: [], ...lackingIn([], entries) };
  }
}

function keptIn(known: KnownFile, entries: readonly Entry[]): Kept {
  const isRead = known.sizeBytes !== undefined;
  return { ...known, stored: isRead ? entries : [], missing: isRead ? [] : entries };
}

/** What is not stored of the entries, each once, and the ids of all. */
function lackingIn(stored: readonly Entry[], entries: readonly Entry[]): Pick<Kept, "missing" | "ids"> {
  const ids = new Set(stored.map(({ id }) => id));
  const missing = entries.filter(({ id }) => !ids.has(id) && ids.add(id));
  return { missing, ids };
}

/** The copies that were kept when the file was written anew. */
function copiesOf(file: string): string[] {
  const folder = dirname(file);
  const start = `${basename(file)}.bak`;
  return readFolder(folder).flatMap((name) => (name.startsWith(start) ? join(folder, name) : []));
}
