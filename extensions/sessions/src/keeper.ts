/**
 * Keeps the session of one agent.
 *
 *   found ──► claimed ──► the current one ──► recorded in every store ──► left: closed, and given back
 *                └─ somebody else writes to it: copied, or only read, or refused
 *
 * 1. The store that the setting `session.store` names lists, reads and leases; a session that was named by its file, the
 *    store of files. All others receive what is appended.
 * 2. A new session is claimed with its first message, one that was there before the agent goes on with it.
 */
import { statSync } from "node:fs";
import type { Context, Entry, ExtensionAPI, HookPoints } from "@pi-agent/kernel";
import { Choices } from "./choices.ts";
import { Claims } from "./claims.ts";
import { FileStore } from "./file-store.ts";
import { settleInUse } from "./in-use.ts";
import type { SessionInfo } from "./list.ts";
import { isPath } from "./location.ts";
import { MemoryStore } from "./memory-store.ts";
import { describeProblems, sessionError } from "./problems.ts";
import { readSession } from "./read.ts";
import type { SessionHeader } from "./record.ts";
import { Recorder } from "./recorder.ts";
import { findFirstMessage, findName, isSaid } from "./said.ts";
import { choosePlace, type Flags, newSession, type Session, selectSession, textOf } from "./select.ts";
import { placeOf, readStored, selectStored } from "./select-stored.ts";
import type { SessionStore } from "./store.ts";
import { FILES, type NamedStore, type Stores, storesOf } from "./stores.ts";
import type { WriterOptions } from "./writer.ts";

/** The session that is going on. */
export interface CurrentSession {
  id: string;
  /** Left out for a session that is kept in memory only; it exists from the first message on. */
  file?: string;
  name?: string;
  header: SessionHeader;
  /** How the conversation began, in one line; looked for when asked. */
  readonly firstMessage?: string;
  /** When something was kept last, in ISO 8601; left out where nothing was. */
  readonly lastUsed?: string;
  /** Somebody else writes to it: nothing that is said here is kept. */
  isReadOnly?: boolean;
}

type Held = Session & { isReadOnly?: boolean };

export class SessionKeeper {
  readonly files: FileStore;
  readonly memory = new MemoryStore();
  private readonly choices: Choices;
  private readonly stores: Stores;
  private readonly claims: Claims;
  private session: Held | undefined;
  private recorder: Recorder | undefined;
  private name: string | undefined;
  /** Was read last; becomes the current one when the agent goes on with it. */
  private opened: Held | undefined;
  private context: Context | undefined;
  /** Sessions that were left, until all of them is written. */
  private leaving: Promise<void> = Promise.resolve();

  constructor(pi: ExtensionAPI) {
    this.stores = storesOf(pi);
    this.choices = new Choices(pi, this.stores);
    this.claims = new Claims(this.report);
    this.files = new FileStore({
      placeOf: (cwd) => choosePlace(this.choices.optionsFor(cwd ?? this.cwd)),
      durability: () => this.choices.durability,
      report: this.report,
    });
  }

  get current(): CurrentSession | undefined {
    if (!this.session) return undefined;
    const { recorder, name } = this;
    const { header, isReadOnly, entries } = this.session;
    const file = recorder?.file ?? this.session.file;
    return {
      id: header.id,
      file,
      name,
      header,
      isReadOnly,
      get firstMessage() {
        return findFirstMessage(recorder?.entries ?? entries);
      },
      get lastUsed() {
        return (recorder?.entries ?? entries).at(-1)?.timestamp;
      },
    };
  }

  /** Answers the hook `session_select`. Fails as `selectSession` does, and with `session_in_use`, `unknown_session_store`. */
  async select(flags: Flags, ctx: Context): Promise<HookPoints["session_select"]["result"]> {
    this.choices.flags = flags;
    this.context = ctx;
    const session = (await this.findAsked(ctx)) ?? (await this.secure(await this.find(ctx.cwd), ctx.cwd));
    this.opened = session;
    this.begin(session, ctx);
    return { id: session.header.id, cwd: this.placeFor(session) || ctx.cwd, entries: session.entries };
  }

  /** Takes up the agent's session when it is not the current one. `newest` was appended to it just now. */
  follow(ctx: Context, newest?: Entry): void {
    this.context = ctx;
    const id = ctx.sessionId;
    // A copy of the current session has its id.
    const isCopy = !newest && this.opened?.header.id === id && this.opened.file !== this.session?.file;
    if (this.session?.header.id === id && !isCopy) return;
    this.begin(this.opened?.header.id === id ? this.opened : this.ofTranscript(ctx, newest), ctx);
  }

  append(entry: Entry, ctx: Context): void {
    this.follow(ctx, entry);
    if (entry.type === "session_info") this.name = entry.name || undefined;
    if (!this.recorder) return;
    this.recorder.append(entry);
    if (isSaid(entry)) this.claimNew();
  }

  flush(): void | Promise<void> {
    return this.recorder?.flush();
  }

  /**
   * Reads a session for the agent to go on with, by its file or its id, and claims it. Fails with `session_unreadable`,
   * `session_invalid`, `session_not_found`, `session_in_use`, `unknown_session_store`.
   */
  async open(reference: string): Promise<Session> {
    const { name, store } = this.home();
    const isOfFiles = isPath(reference) || name === FILES;
    const found = isOfFiles ? await this.read(reference) : await this.readClaimed(store, reference);
    const session = await this.secure(found ?? missing(reference), this.cwd);
    this.opened = session;
    return session;
  }

  /** Reads a session and claims nothing. Fails as `open` does, but for `session_in_use`. */
  async read(reference: string): Promise<Session> {
    if (isPath(reference)) return readFile(reference);
    const { name, store } = this.home();
    const found = name === FILES ? await this.files.read(reference) : await readStored(store, reference);
    return found ?? missing(reference);
  }

  /** Begins a session for the agent to go on with: empty, or with entries of another one. */
  create(given: { cwd: string; parentSession?: string; entries?: readonly Entry[] }): Session {
    const { cwd, parentSession, entries = [] } = given;
    const session = { ...newSession({ cwd, folder: this.folderFor(cwd), parentSession }), entries: [...entries] };
    this.opened = { ...session, isUnsaved: entries.length > 0 };
    return this.opened;
  }

  /** Fails with `unknown_session_store`. */
  async list(cwd?: string): Promise<SessionInfo[]> {
    return this.home().store.list(cwd === undefined ? undefined : { cwd });
  }

  /** Fails with `unknown_session_store`, `session_in_use`. */
  async remove(id: string): Promise<boolean> {
    return this.home().store.remove(id);
  }

  dispose(): Promise<void> {
    return this.leave();
  }

  private readonly report: WriterOptions["report"] = (message, level) => this.context?.ui.notify(message, level);

  private get cwd(): string {
    return this.session?.header.cwd || this.context?.cwd || process.cwd();
  }

  /** Where a session goes on; empty where its file does not say. */
  placeFor(session: Session): string {
    return session.isStored ? placeOf(session, this.context?.cwd ?? process.cwd()) : session.header.cwd;
  }

  /** The store that lists, reads and leases. Fails with `unknown_session_store`. */
  home(): NamedStore {
    return this.choices.home();
  }

  /** Where the files of a working directory go; `undefined` where none are kept. */
  folderFor(cwd: string): string | undefined {
    return this.choices.folderFor(cwd);
  }

  /** What `--fork` and `--resume` name. */
  private async findAsked(ctx: Context): Promise<Session | undefined> {
    if (this.choices.flags.get("fork") === undefined && this.choices.flags.get("resume") !== true) return undefined;
    const { selectAsked } = await import("./commands/start.ts");
    return selectAsked(this, this.choices.flags, ctx);
  }

  private async find(cwd: string): Promise<Session> {
    const options = this.choices.optionsFor(cwd);
    const { name, store } = this.home();
    const reference = textOf(this.choices.flags, "session");
    const isOfFiles = name === FILES || this.choices.isPrivate || (reference !== undefined && isPath(reference));
    return isOfFiles ? selectSession(options) : selectStored(store, options, (id) => this.readClaimed(store, id));
  }

  /** Claims a session that was there before; where somebody else writes to it, makes of it what may be. */
  private async secure(found: Session, cwd: string): Promise<Held> {
    const session = found.sizeBytes ? await this.claimFile(found) : found;
    const { header, file, holder, entries } = session;
    if (!holder) return session;
    const choice = await settleInUse({ wanted: { id: header.id, file }, holder }, this.context);
    if (choice === "read") return { ...session, isReadOnly: true };
    return this.create({ cwd: header.cwd || cwd, parentSession: file ?? header.id, entries });
  }

  /** What was written between reading and claiming is read too. */
  private async claimFile(session: Session): Promise<Session> {
    const { header, file = "", sizeBytes } = session;
    if (this.claims.has(header.id)) return session;
    this.files.remember(header.id, file);
    const claim = await this.claims.take(this.files, header.id);
    if ("holder" in claim) return { ...session, holder: claim.holder };
    return statSync(file, { throwIfNoEntry: false })?.size === sizeBytes ? session : readFile(file);
  }

  private async readClaimed(store: SessionStore, id: string): Promise<Session | undefined> {
    const claim = this.claims.has(id) ? undefined : await this.claims.take(store, id);
    const session = await readStored(store, id);
    return session && claim && "holder" in claim ? { ...session, holder: claim.holder } : session;
  }

  private claimNew(): void {
    const { session } = this;
    if (!session || session.isReadOnly || this.claims.has(session.header.id)) return;
    const { id } = session.header;
    if (session.file !== undefined) this.files.remember(id, session.file);
    void this.claims.take(this.storeOf(session), id).then((claim) => {
      if (!("holder" in claim)) return;
      const { pid, host } = claim.holder;
      const what = `Process ${pid} on ${host} began the same session, ${id}, and writes to it too.`;
      this.report(`${what} Nothing is lost, but the conversation has two branches; close one of them.`, "warning");
    });
  }

  private storeOf(session: Session): SessionStore {
    if (this.choices.isPrivate) return this.memory;
    const home = this.choices.homeOrNone();
    return session.sizeBytes !== undefined || !home ? this.files : home;
  }

  /** A session that nobody selected here: what the agent holds so far is written with what comes. */
  private ofTranscript(ctx: Context, newest: Entry | undefined): Session {
    const { sessionId: id, cwd } = ctx;
    const entries = ctx.transcript.path().filter((entry) => entry !== newest);
    return { ...newSession({ id, cwd }), entries };
  }

  private begin(session: Held, ctx: Context): void {
    this.context = ctx;
    void this.leave(session.header.id);
    this.session = session;
    this.name = findName(session.entries);
    const { stores, report, choices } = this;
    const receives = (name: string) => choices.receives(name);
    this.recorder = session.isReadOnly ? undefined : new Recorder(session, { stores, receives, report });
    const damage = describeProblems(session.file ?? session.header.id, session.problems);
    if (damage) report(damage, "warning");
    if (session.isUnsaved) this.claimNew();
  }

  /** Writes what is left of the session, then gives claims back, but for one. */
  private leave(but?: string): Promise<void> {
    const closed = this.recorder?.close();
    this.recorder = undefined;
    this.leaving = this.claims.giveBack({ but, written: Promise.all([this.leaving, closed]) });
    return this.leaving;
  }
}

function readFile(path: string): Session {
  return readSession(path) ?? { ...newSession({ cwd: "", file: path }), sizeBytes: 0 };
}

function missing(id: string): never {
  throw sessionError(
    "session_not_found",
    `There is no session with the id ${id}.`,
    "Give the whole id, or the path of its file.",
  );
}
