/**
 * Keeps the session of one agent.
 *
 *   opened ──► the current one ──► recorded in every store ──► left: closed, and given back
 *
 * 1. The store that the setting `session.store` names lists, reads and leases; a session that was named by its file, the
 *    store of files. All others receive what is appended.
 * 2. A new session is claimed with its first message, one that was there before the agent goes on with it.
 */
import type { Context, Entry, ExtensionAPI, HookPoints } from "@pi-agent/kernel";
import { Choices } from "./choices.ts";
import { Claims } from "./claims.ts";
import { FileStore } from "./file-store.ts";
import type { SessionInfo } from "./list.ts";
import { MemoryStore } from "./memory-store.ts";
import { type Held, Opening } from "./opening.ts";
import { describeProblems } from "./problems.ts";
import type { SessionHeader } from "./record.ts";
import { Recorder } from "./recorder.ts";
import { findFirstMessage, findName, isSaid } from "./said.ts";
import { choosePlace, type Flags, newSession, type Session } from "./select.ts";
import { placeOf } from "./select-stored.ts";
import type { SessionStore } from "./store.ts";
import { type NamedStore, type Stores, storesOf } from "./stores.ts";
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
  /** Nobody else may write to it, as far as its store knows; not before something was said. */
  readonly isClaimed?: boolean;
}

export class SessionKeeper {
  readonly files: FileStore;
  readonly memory = new MemoryStore();
  private readonly choices: Choices;
  private readonly stores: Stores;
  private readonly claims: Claims;
  private readonly opening: Opening;
  private session: Held | undefined;
  private recorder: Recorder | undefined;
  private name: string | undefined;
  /** Something was said in a session that nobody has claimed yet. */
  private isClaimDue = false;
  /** Somebody else writes to the session too, and that was told. */
  private isShared = false;
  private soon: NodeJS.Immediate | undefined;
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
    const { choices, claims, files } = this;
    const standing = () => ({ cwd: this.cwd, session: this.session, context: this.context });
    this.opening = new Opening({ choices, claims, files, standing });
  }

  get current(): CurrentSession | undefined {
    if (!this.session) return undefined;
    const { recorder, name, claims } = this;
    const { header, isReadOnly, entries } = this.session;
    const file = recorder?.file ?? this.session.file;
    return {
      id: header.id,
      file,
      name,
      header,
      isReadOnly,
      get isClaimed() {
        return claims.isHeld(header.id);
      },
      get firstMessage() {
        return findFirstMessage(recorder?.entries ?? entries);
      },
      get lastUsed() {
        return (recorder?.entries ?? entries).at(-1)?.timestamp;
      },
    };
  }

  /** Takes the flags of a start, which hold from then on. */
  prepare(flags: Flags, ctx: Context): void {
    this.choices.flags = flags;
    this.context = ctx;
  }

  /**
   * Begins with `asked`, else with what the flags name, which answers the hook `session_select`. Fails as `selectSession`
   * does, and with `session_in_use`, `unknown_session_store`.
   */
  async select(asked: Session | undefined, ctx: Context): Promise<HookPoints["session_select"]["result"]> {
    const session = await this.opening.select(asked, ctx.cwd);
    this.begin(session, ctx);
    return { id: session.header.id, cwd: this.placeFor(session) || ctx.cwd, entries: session.entries };
  }

  /** Takes up the agent's session when it is not the current one. `newest` was appended to it just now. */
  follow(ctx: Context, newest?: Entry): void {
    this.context = ctx;
    const id = ctx.sessionId;
    const { next } = this.opening;
    // A copy of the current session has its id.
    const isCopy = !newest && next?.header.id === id && next.file !== this.session?.file;
    if (this.session?.header.id !== id || isCopy) {
      this.begin(next?.header.id === id ? next : this.ofTranscript(ctx, newest), ctx);
    }
    if (!newest) void this.opening.letGo();
  }

  /** Gives back a session that was opened, when the agent goes on with the one that it has. */
  stay(ctx: Context): void {
    if (this.opening.next?.header.id !== ctx.sessionId) void this.opening.letGo();
  }

  append(entry: Entry, ctx: Context): void {
    this.follow(ctx, entry);
    if (entry.type === "session_info") this.name = entry.name || undefined;
    if (!this.recorder) return;
    this.recorder.append(entry);
    this.isClaimDue ||= isSaid(entry);
    this.flushSoon();
  }

  flush(): void | Promise<void> {
    clearImmediate(this.soon);
    this.soon = undefined;
    if (this.isClaimDue) this.claimNew();
    this.keepClaim();
    return this.recorder?.flush();
  }

  /**
   * Reads a session for the agent to go on with, by its file or its id, and claims it. Fails with `session_unreadable`,
   * `session_invalid`, `session_not_found`, `session_in_use`, `unknown_session_store`.
   */
  open(reference: string): Promise<Session> {
    return this.opening.open(reference);
  }

  /** Reads a session and claims nothing. Fails as `open` does, but for `session_in_use`. */
  read(reference: string): Promise<Session> {
    return this.opening.read(reference);
  }

  /** Begins a session for the agent to go on with: empty, or with entries of another one. */
  create(given: { cwd: string; parentSession?: string; entries?: readonly Entry[] }): Session {
    return this.opening.create(given);
  }

  /** Fails with `unknown_session_store`. */
  async list(cwd?: string): Promise<SessionInfo[]> {
    return this.home().store.list(cwd === undefined ? undefined : { cwd });
  }

  /** Fails with `unknown_session_store`, `session_in_use`. */
  async remove(id: string): Promise<boolean> {
    await this.opening.letGo(id);
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

  /** What is appended while nothing runs is written too, and an append waits for no disk. */
  private flushSoon(): void {
    this.soon ??= setImmediate(() => void this.flush());
  }

  private claimNew(): void {
    this.isClaimDue = false;
    const { session } = this;
    if (!session || session.isReadOnly || this.claims.has(session.header.id)) return;
    this.claim(session, "began the same session");
  }

  /** Takes a claim that was lost again. */
  private keepClaim(): void {
    const { session } = this;
    if (!session || !this.claims.isLost(session.header.id)) return;
    void this.claims.release(session.header.id);
    this.claim(session, "took over the session");
  }

  /** `did`: what somebody else did who has it, which is told once. */
  private claim(session: Held, did: string): void {
    const { id } = session.header;
    void this.claims.take(this.storeOf(session), id).then((claim) => {
      if (!("holder" in claim) || session !== this.session || this.isShared) return;
      this.isShared = true;
      const { pid, host } = claim.holder;
      const what = `Process ${pid} on ${host} ${did}, ${id}, and writes to it too.`;
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
    const { header, file, sizeBytes, isOutdated } = session;
    void this.leave(header.id);
    this.session = session;
    if (file !== undefined) this.files.remember(header.id, { file, sizeBytes, isOutdated });
    this.name = findName(session.entries);
    const { stores, report, choices } = this;
    const receives = (name: string) => choices.receives(name);
    this.recorder = session.isReadOnly ? undefined : new Recorder(session, { stores, receives, report });
    const damage = describeProblems(file ?? header.id, session.problems);
    if (damage) report(damage, "warning");
    this.isClaimDue = Boolean(session.isUnsaved);
    this.isShared = false;
    if (session.isUnsaved) this.flushSoon();
  }

  /** Writes what is left of the session, then gives claims back, but for one. */
  private leave(but?: string): Promise<void> {
    clearImmediate(this.soon);
    this.soon = undefined;
    const closed = this.recorder?.close();
    this.recorder = undefined;
    this.leaving = this.claims.releaseAll({ but, written: Promise.all([this.leaving, closed]) });
    return this.leaving;
  }
}
