/**
 * One spool and one thread for all agents of a process that write to the same database.
 *
 *   agents ─► spool ─(written)─► poke, a moment later ─► client ─► worker
 */
import type { ExtensionAPI } from "@pi-agent/kernel";
import { Client, closedError } from "./client.ts";
import type { DatabaseError } from "./database.ts";
import type { WorkerSettings } from "./messages.ts";
import { type PostgresSettings, spoolOf, toWorkerSettings } from "./settings.ts";
import { Spool } from "./spool.ts";
import { leaveFolder, listFolders } from "./spool-folder.ts";
import { within } from "./within.ts";

export type Tell = (message: string, level: "info" | "warning" | "error") => void;

export interface Hub {
  readonly settings: PostgresSettings;
  readonly spool: Spool;
  readonly client: Client;
  /** Has everything that waits written. Fails as the database does. */
  drain(): Promise<void>;
  tell: Tell;
  /** The last one to leave closes it. */
  leave(): Promise<void>;
}

// The first time a thread is started, and a database opened: a short run is over before. Later, only batches are made.
const FIRST_POKE_MS = { server: 200, embedded: 2_000 } as const;
const POKE_MS = 1_000;

const hubs = new Map<string, SharedHub>();

/** Joins the hub of a database. `tell` hears what a person should know. */
export function joinHub(settings: PostgresSettings, pi: ExtensionAPI, tell: Tell): Hub {
  const key = `${settings.agentDir}\n${settings.targetId}`;
  const hub = hubs.get(key) ?? new SharedHub(settings, () => hubs.delete(key));
  hubs.set(key, hub);
  return hub.join({ pi, tell });
}

/** An agent; what its host gives is gone when it leaves. */
interface Member {
  pi: ExtensionAPI;
  tell: Tell;
}

class SharedHub {
  private readonly settings: PostgresSettings;
  private readonly onClosed: () => void;
  private readonly spool: Spool;
  private readonly client: Client;
  /** The last one stays until everything is closed. */
  private readonly members = new Set<Member>();
  private timer: NodeJS.Timeout | undefined;
  private closing: Promise<void> | undefined;

  constructor(settings: PostgresSettings, onClosed: () => void) {
    this.settings = settings;
    this.onClosed = onClosed;
    const spool = spoolOf(settings.agentDir);
    this.spool = new Spool({
      spool,
      target: settings.targetId,
      isDurable: settings.isDurable,
      onWritten: () => this.pokeLater(),
      onTrouble: (error, lost) => this.tellSpool(error, lost),
    });
    this.client = new Client({
      settings: () => this.workerSettings(),
      own: () => this.spool.random,
      onDrained: ({ random, number, bytes }) => random === this.spool.random && this.spool.drained(number, bytes),
      onTrouble: (error) => this.tellDatabase(error),
      onRefused: (file, reason) => this.tell(refused(file, reason), "error"),
    });
  }

  join(member: Member): Hub {
    const { settings, spool, client } = this;
    this.members.add(member);
    if (this.hasWaiting()) this.pokeLater();
    return {
      settings,
      spool,
      client,
      drain: () => {
        spool.flush();
        return client.drain();
      },
      tell: member.tell,
      leave: () => this.leave(member),
    };
  }

  private async leave(member: Member): Promise<void> {
    if (!this.members.has(member)) return;
    if (this.members.size === 1) await (this.closing ??= this.close());
    this.members.delete(member);
  }

  private async workerSettings(): Promise<WorkerSettings> {
    const [member] = this.members;
    if (!member) throw closedError();
    return toWorkerSettings(this.settings, member.pi);
  }

  private hasWaiting(): boolean {
    return listFolders(spoolOf(this.settings.agentDir), this.settings.targetId).length > 0;
  }

  private async close(): Promise<void> {
    this.onClosed();
    clearTimeout(this.timer);
    const { settings, spool, client } = this;
    spool.flush();
    if (settings.exitWaitMs > 0 && this.hasWaiting()) await within(settings.exitWaitMs, client.drain());
    spool.close();
    await client.close();
    for (const folder of client.claimed.values()) leaveFolder(spoolOf(settings.agentDir), folder);
  }

  private pokeLater(): void {
    if (this.timer) return;
    const first = FIRST_POKE_MS[this.settings.address ? "server" : "embedded"];
    const delayMs = this.client.isRunning ? POKE_MS : first;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.client.poke();
    }, delayMs).unref();
  }

  private tellSpool(error: Error | undefined, lost: number): void {
    const where = spoolOf(this.settings.agentDir);
    if (!error) {
      const gap = lost > 0 ? ` ${lost} lines found no place meanwhile.` : "";
      return this.tell(`Runs are written to ${where} again.${gap}`, lost > 0 ? "warning" : "info");
    }
    const message = `Runs cannot be written to ${where}: ${error.message}. They are kept in memory, and the run goes on. Make room there, or make it writable.`;
    this.tell(message, "error");
  }

  private tellDatabase(error: DatabaseError | undefined): void {
    if (!error) return this.tell("The database takes what is written again.", "info");
    const waits = `What is written waits in ${spoolOf(this.settings.agentDir)} and goes in when it can.`;
    this.tell(`${error.message} ${waits} ${error.hint}`, "warning");
  }

  /** One person has many agents: one of them speaks. */
  private tell(...what: Parameters<Tell>): void {
    const [first] = this.members;
    first?.tell(...what);
  }
}

function refused(file: string, reason: string): string {
  return `What cannot go into the database was set aside in ${file}. ${reason} The lines behind it go on. Look at it there, and remove the file when it is of no use.`;
}
