/**
 * Finds the session to go on with.
 *
 *   named ──► read, and claimed ──► opened: the next one ──► taken up, or given back
 *                └─ somebody else writes to it: copied, or only read, or refused
 */
import { statSync } from "node:fs";
import type { Context, Entry } from "@pi-agent/kernel";
import type { Choices } from "./choices.ts";
import type { Claims } from "./claims.ts";
import type { FileStore } from "./file-store.ts";
import { settleInUse } from "./in-use.ts";
import { isPath } from "./location.ts";
import { newSession, type Session, selectSession, textOf } from "./select.ts";
import { notFound, readNamedFile, readStored, selectStored } from "./select-stored.ts";
import type { SessionStore } from "./store.ts";
import { FILES } from "./stores.ts";

/** A session that is gone on with. `isReadOnly`: somebody else writes to it, and nothing is kept. */
export type Held = Session & { isReadOnly?: boolean };

/** Where the agent is, and who can be asked. */
export interface Standing {
  cwd: string;
  session?: Held;
  context?: Context;
}

export class Opening {
  private readonly choices: Choices;
  private readonly claims: Claims;
  private readonly files: FileStore;
  private readonly standing: () => Standing;
  private opened: Held | undefined;

  constructor(given: { choices: Choices; claims: Claims; files: FileStore; standing(): Standing }) {
    this.choices = given.choices;
    this.claims = given.claims;
    this.files = given.files;
    this.standing = () => given.standing();
  }

  /** Was opened last; becomes the current one when the agent goes on with it. */
  get next(): Held | undefined {
    return this.opened;
  }

  /** Opens `asked`, else what the flags name. Fails as `selectSession` does, and with `session_in_use`. */
  async select(asked: Session | undefined, cwd: string): Promise<Held> {
    return this.put(asked ?? (await this.secure(await this.find(cwd), cwd)));
  }

  /** Opens a session by its file or its id, and claims it. */
  async open(reference: string): Promise<Held> {
    const { name, store } = this.choices.home();
    const isOfFiles = isPath(reference) || name === FILES;
    const found = isOfFiles ? await this.read(reference) : await this.readClaimed(store, reference);
    return this.put(await this.secure(found ?? notFound(reference), this.standing().cwd));
  }

  /** Reads a session by its file or its id, and claims nothing. */
  async read(reference: string): Promise<Session> {
    if (isPath(reference)) return readNamedFile(reference);
    const { name, store } = this.choices.home();
    const found = name === FILES ? await this.files.read(reference) : await readStored(store, reference);
    return found ?? notFound(reference);
  }

  /** Opens a new session: empty, or with entries of another one. */
  create(given: { cwd: string; parentSession?: string; entries?: readonly Entry[] }): Held {
    const session = this.make(given);
    void this.letGo();
    this.opened = session;
    return session;
  }

  /** Gives back what was opened, where the agent did not go on with it; with an `id`, only that session. */
  async letGo(id?: string): Promise<void> {
    const { opened } = this;
    const { session } = this.standing();
    if (!opened || opened === session || (id !== undefined && opened.header.id !== id)) return;
    this.opened = undefined;
    if (opened.header.id !== session?.header.id) await this.claims.release(opened.header.id);
  }

  private async put(session: Held): Promise<Held> {
    if (this.opened?.header.id !== session.header.id) await this.letGo();
    this.opened = session;
    return session;
  }

  private async find(cwd: string): Promise<Session> {
    const { choices } = this;
    const options = choices.optionsFor(cwd);
    const { name, store } = choices.home();
    const reference = textOf(choices.flags, "session");
    const isOfFiles = name === FILES || choices.isPrivate || (reference !== undefined && isPath(reference));
    return isOfFiles ? selectSession(options) : selectStored(store, options, (id) => this.readClaimed(store, id));
  }

  /** Claims a session that was there before; where somebody else writes to it, makes of it what may be. */
  private async secure(found: Session, cwd: string): Promise<Held> {
    const session = found.sizeBytes ? await this.claimFile(found) : found;
    const { header, file, holder, entries } = session;
    if (!holder) return session;
    const choice = await settleInUse({ wanted: { id: header.id, file }, holder }, this.standing().context);
    if (choice === "read") return { ...session, isReadOnly: true };
    return this.make({ cwd: header.cwd || cwd, parentSession: file ?? header.id, entries });
  }

  /** What was written between reading and claiming is read too. */
  private async claimFile(session: Session): Promise<Session> {
    const { header, file = "", sizeBytes } = session;
    const { id } = header;
    if (this.claims.has(id)) return session;
    this.files.remember(id, { file });
    const claim = await this.claims.take(this.files, id);
    if ("holder" in claim) return { ...session, holder: claim.holder };
    if (statSync(file, { throwIfNoEntry: false })?.size === sizeBytes) return session;
    return this.keepClaimIf(id, async () => readNamedFile(file));
  }

  private async readClaimed(store: SessionStore, id: string): Promise<Session | undefined> {
    if (this.claims.has(id)) return readStored(store, id);
    const claim = await this.claims.take(store, id);
    const session = await this.keepClaimIf(id, () => readStored(store, id));
    return session && "holder" in claim ? { ...session, holder: claim.holder } : session;
  }

  /** Gives a claim back where there is no such session, or it cannot be read. */
  private async keepClaimIf<T extends Session | undefined>(id: string, read: () => Promise<T>): Promise<T> {
    let session: T | undefined;
    try {
      session = await read();
      return session;
    } finally {
      if (!session) await this.claims.release(id);
    }
  }

  private make(given: { cwd: string; parentSession?: string; entries?: readonly Entry[] }): Held {
    const { cwd, parentSession, entries = [] } = given;
    const session = newSession({ cwd, folder: this.choices.folderFor(cwd), parentSession });
    return { ...session, entries: [...entries], isUnsaved: entries.length > 0 };
  }
}
