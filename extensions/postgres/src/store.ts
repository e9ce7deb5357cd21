/**
 * Sessions in the database:
 *
 *   append ─► spool ─(drain)─► entries          read, list, claim, remove: the spool is drained first
 *
 * An entry is told by its id: what a session was opened with may be written again, and is there once.
 */
import type { Entry } from "@pi-agent/kernel";
import type { Claim, SessionHeader, SessionInfo, SessionSink, SessionStore, StoredSession } from "@pi-agent/sessions";
import { cleanText, fromKey, toKey } from "./clean.ts";
import { quoteName } from "./database.ts";
import type { Hub } from "./hub.ts";
import { Leases, lockHolder } from "./leases.ts";
import { Sink } from "./sink.ts";
import { mendTree } from "./tree.ts";

interface SessionRow {
  id: string;
  header: string;
  name: string | null;
  modified_at: Date;
  message_count: number;
  first_message: string | null;
}

export class PostgresStore implements SessionStore {
  private readonly hub: () => Hub;
  private readonly leases: Leases;
  /** The session that was read last, which is the one to go on with: what is stored of it is not sent again. */
  private lastRead: { id: string; stored: ReadonlySet<string> } | undefined;

  /** `hub` is joined at the first use. */
  constructor(hub: () => Hub) {
    this.hub = hub;
    this.leases = new Leases(hub);
  }

  async list({ cwd }: { cwd?: string } = {}): Promise<SessionInfo[]> {
    const { client, s } = await this.drained();
    const rows = await client.query<SessionRow>(
      `select id, header, name, modified_at, message_count, first_message from ${s}.sessions
      where header is not null and ($1::text is null or cwd = $1) order by modified_at desc, id`,
      [cwd === undefined ? null : cleanText(cwd)],
    );
    const infos = rows.map(toInfo);
    return cwd === undefined ? infos : infos.filter((info) => info.cwd === cwd);
  }

  async read(id: string): Promise<StoredSession | undefined> {
    const { client, s } = await this.drained();
    const [row] = await client.query<{ header: string }>(
      `select header from ${s}.sessions where id = $1 and header is not null`,
      [toKey(id)],
    );
    if (!row) return undefined;
    const rows = await client.query<{ payload: string }>(
      `select payload from ${s}.entries where session_id = $1 order by seq`,
      [toKey(id)],
    );
    const entries = rows.map(({ payload }) => JSON.parse(payload) as Entry);
    this.lastRead = { id, stored: new Set(entries.map((entry) => entry.id)) };
    return { header: JSON.parse(row.header) as SessionHeader, ...mendTree(entries) };
  }

  claim(id: string): Promise<Claim> {
    return this.leases.take(id);
  }

  open({ header, entries }: { header: SessionHeader; entries: readonly Entry[] }): SessionSink {
    const { lastRead } = this;
    const isRead = lastRead?.id === header.id;
    if (isRead) this.lastRead = undefined;
    const stored = isRead ? lastRead.stored : new Set<string>();
    return new Sink({ spool: this.hub().spool, header, entries, stored });
  }

  async remove(id: string): Promise<boolean> {
    const { client, s } = await this.drained();
    this.lastRead = undefined;
    return client.transaction(async (tx) => {
      const found = await lockHolder(tx, s, id);
      if (!found?.isStored) return false;
      if (found.holder) throw inUse(id, found.holder);
      await tx.query(`delete from ${s}.sessions where id = $1`, [toKey(id)]);
      // What another process wrote before, and sends again after it was killed, does not bring it back.
      await tx.query(
        `insert into ${s}.removed_sessions (session_id, removed_at) values ($1, clock_timestamp())
        on conflict (session_id) do update set removed_at = excluded.removed_at`,
        [toKey(id)],
      );
      return true;
    });
  }

  /** Gives back what is claimed. */
  close(): Promise<void> {
    return this.leases.freeAll();
  }

  private async drained(): Promise<{ client: Hub["client"]; s: string }> {
    const hub = this.hub();
    await hub.drain();
    return { client: hub.client, s: quoteName(hub.settings.schema) };
  }
}

function toInfo(row: SessionRow): SessionInfo {
  const { cwd, timestamp: created, parentSession } = JSON.parse(row.header) as SessionHeader;
  return {
    id: fromKey(row.id),
    cwd,
    ...(row.name && { name: row.name }),
    ...(parentSession !== undefined && { parentSession }),
    created,
    modifiedMs: row.modified_at.getTime(),
    messageCount: row.message_count,
    ...(row.first_message !== null && { firstMessage: row.first_message }),
  };
}

function inUse(id: string, { pid, host, since }: { pid: number; host: string; since: string }): Error {
  const error = new Error(`The session ${id} is in use: process ${pid} on ${host} writes to it since ${since}.`);
  const hint = "End that process first, or leave the session to it; a process that is gone holds nothing.";
  return Object.assign(error, { code: "session_in_use", hint });
}
