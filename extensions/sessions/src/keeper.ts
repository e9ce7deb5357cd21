import type { Context, Entry, ExtensionAPI, HookPoints } from "@pi-agent/kernel";
import { environmentOf } from "./environment.ts";
import { listSessions, type SessionInfo } from "./list.ts";
import { describeProblems } from "./problems.ts";
import { readSession } from "./read.ts";
import type { SessionHeader } from "./record.ts";
import { choosePlace, type Flags, newSession, type SelectOptions, type Session, selectSession } from "./select.ts";
import { SessionWriter, type WriterOptions } from "./writer.ts";

/** The session that is going on. */
export interface CurrentSession {
  id: string;
  /** Left out for a session that is kept in memory only; it exists from the first message on. */
  file?: string;
  name?: string;
  header: SessionHeader;
}

/** Keeps the session of one agent: the one that was selected, or the one that the agent was opened with. */
export class SessionKeeper {
  private readonly pi: ExtensionAPI;
  private flags: Flags;
  private session: Session | undefined;
  private writer: SessionWriter | undefined;
  private name: string | undefined;
  /** Was read last; becomes the current one when the agent goes on with it. */
  private opened: Session | undefined;
  private context: Context | undefined;

  constructor(pi: ExtensionAPI) {
    this.pi = pi;
    this.flags = { get: (name) => pi.getFlag(name) };
  }

  get current(): CurrentSession | undefined {
    if (!this.session) return undefined;
    const { header, file } = this.session;
    return { id: header.id, file, name: this.name, header };
  }

  /** Answers the hook `session_select`. Fails as `selectSession` does. */
  select(flags: Flags, ctx: Context): HookPoints["session_select"]["result"] {
    this.flags = flags;
    const session = selectSession(this.optionsFor(ctx.cwd));
    this.opened = session;
    this.begin(session, ctx);
    return { id: session.header.id, cwd: session.header.cwd || ctx.cwd, entries: session.entries };
  }

  /** Takes up the agent's session when it is not the current one. `newest` was appended to it just now. */
  follow(ctx: Context, newest?: Entry): void {
    this.context = ctx;
    const id = ctx.sessionId;
    if (this.session?.header.id === id) return;
    this.begin(this.opened?.header.id === id ? this.opened : this.ofTranscript(ctx, newest), ctx);
  }

  append(entry: Entry, ctx: Context): void {
    this.follow(ctx, entry);
    if (entry.type === "session_info") this.name = entry.name || undefined;
    this.writer?.append(entry);
  }

  flush(): void | Promise<void> {
    return this.writer?.flush();
  }

  /** Reads a session for the agent to go on with. Fails with `session_unreadable`, `session_invalid`. */
  open(path: string): Session {
    const session = readSession(path) ?? { ...newSession({ cwd: "", file: path }), sizeBytes: 0 };
    this.opened = session;
    return session;
  }

  /** Begins a session for the agent to go on with: empty, or with entries of another one. */
  create(given: { cwd: string; parentSession?: string; entries?: readonly Entry[] }): Session {
    const { cwd, parentSession, entries = [] } = given;
    const session = { ...newSession({ cwd, folder: this.folderFor(cwd), parentSession }), entries: [...entries] };
    this.opened = { ...session, isUnsaved: entries.length > 0 };
    return this.opened;
  }

  list(cwd?: string): SessionInfo[] {
    const place = choosePlace(this.optionsFor(cwd ?? this.session?.header.cwd ?? process.cwd()));
    return listSessions(place, cwd);
  }

  async dispose(): Promise<void> {
    await this.writer?.close();
    this.writer = undefined;
  }

  /** A session that nobody selected here: what the agent holds so far is written with what comes. */
  private ofTranscript(ctx: Context, newest: Entry | undefined): Session {
    const { sessionId: id, cwd } = ctx;
    const entries = ctx.transcript.path().filter((entry) => entry !== newest);
    return { ...newSession({ id, cwd, folder: this.folderFor(cwd) }), entries };
  }

  private begin(session: Session, ctx: Context): void {
    void this.writer?.close();
    this.context = ctx;
    this.session = session;
    const named = session.entries.findLast((entry) => entry.type === "session_info");
    this.name = named?.name || undefined;
    const { file } = session;
    const durability = this.pi.service("settings")?.get("session.durability") === "fsync" ? "fsync" : "flush";
    const report: WriterOptions["report"] = (message, level) => this.context?.ui.notify(message, level);
    this.writer = file ? new SessionWriter({ ...session, file }, { durability, report }) : undefined;
    const damage = describeProblems(file ?? "", session.problems);
    if (damage) report(damage, "warning");
  }

  private folderFor(cwd: string): string | undefined {
    return this.flags.get("no-session") === true ? undefined : choosePlace(this.optionsFor(cwd)).folder;
  }

  private optionsFor(cwd: string): SelectOptions {
    const dir = this.pi.service("settings")?.get("sessionDir");
    const configuredDir = typeof dir === "string" ? dir : undefined;
    return { flags: this.flags, cwd, configuredDir, environment: environmentOf(this.pi) };
  }
}
