/**
 * Who writes to which session: a row says so until a time by the database's own clock.
 *
 *   take ──► held, renewed ──► freed
 *     └─ somebody has it: told. On this machine he has it while his process lives, elsewhere while he renews it.
 */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Claim, Holder } from "@pi-agent/sessions";
import { freeSession } from "./apply.ts";
import { toKey } from "./clean.ts";
import { type Database, quoteName } from "./database.ts";
import type { Hub } from "./hub.ts";
import { lookAfter, ownProcessName } from "./process-name.ts";
import { within } from "./within.ts";

type Tx = Pick<Database, "query">;

interface HolderRow extends Holder {
  process: string;
  token: string;
}

const RENEW_MS = 20_000;
const LEASE = "interval '60 seconds'";
// Giving back must not hold up an exit; what is not done by then is left to the spool.
const FREE_MS = 500;

export class Leases {
  private readonly hub: () => Hub;
  /** What is held, by token. */
  private readonly held = new Map<string, { id: string; hub: Hub }>();
  private timer: NodeJS.Timeout | undefined;

  constructor(hub: () => Hub) {
    this.hub = hub;
  }

  /** Takes the one right to write to a session, or tells who has it. */
  async take(id: string): Promise<Claim> {
    const hub = this.hub();
    const s = quoteName(hub.settings.schema);
    const mine = { pid: process.pid, host: hostname(), since: new Date().toISOString() };
    const token = randomUUID();
    await hub.drain();
    const holder = await hub.client.transaction(async (tx) => {
      await tx.query(`insert into ${s}.sessions (id) values ($1) on conflict (id) do nothing`, [toKey(id)]);
      const found = await lockHolder(tx, s, id);
      if (found?.holder) return found.holder;
      const row: HolderRow = { ...mine, process: ownProcessName(), token };
      const set = `update ${s}.sessions set holder = $2, lease_until = now() + ${LEASE} where id = $1`;
      await tx.query(set, [toKey(id), row]);
      return undefined;
    });
    if (holder) return { holder };
    this.held.set(token, { id, hub });
    this.timer ??= setInterval(() => this.renew(), RENEW_MS).unref();
    return { release: () => this.free(token) };
  }

  /** Gives everything back. */
  async freeAll(): Promise<void> {
    await Promise.all([...this.held.keys()].map((token) => this.free(token)));
  }

  private async free(token: string): Promise<void> {
    const lease = this.held.get(token);
    if (!lease) return;
    this.held.delete(token);
    if (this.held.size === 0) {
      clearInterval(this.timer);
      this.timer = undefined;
    }
    const { id, hub } = lease;
    const s = quoteName(hub.settings.schema);
    const isOpen = hub.settings.address !== undefined || hub.client.isRunning;
    const freeing = () => hub.client.transaction((tx) => freeSession(tx, s, { key: toKey(id), token }));
    if (isOpen && (await within(FREE_MS, freeing()))) return;
    hub.spool.line({ t: "release", at: Date.now(), session: id, token });
    hub.spool.flush();
  }

  /** An embedded database is on this machine, where the processes tell who lives; it is not opened for this. */
  private renew(): void {
    for (const hub of new Set([...this.held.values()].map((lease) => lease.hub))) {
      if (hub.settings.address === undefined) continue;
      const s = quoteName(hub.settings.schema);
      const tokens = [...this.held].filter(([, lease]) => lease.hub === hub).map(([token]) => token);
      hub.client
        .query<{ token: string }>(
          `update ${s}.sessions set lease_until = now() + ${LEASE}
          where holder ->> 'token' in (select json_array_elements_text($1::json)) returning holder ->> 'token' as token`,
          [tokens],
        )
        .then(
          (rows) => this.tellLost(hub, tokens, new Set(rows.map(({ token }) => token))),
          // A database that is away takes no writes from others either; the next renewal tells.
          () => undefined,
        );
    }
  }

  private tellLost(hub: Hub, tokens: readonly string[], kept: ReadonlySet<string>): void {
    for (const token of tokens) {
      const lease = this.held.get(token);
      if (!lease || kept.has(token)) continue;
      this.held.delete(token);
      const message = `The session ${lease.id} was taken over from elsewhere while the database was away. What is said here becomes a branch of it. To keep apart, go on with a copy of it.`;
      hub.tell(message, "warning");
    }
  }
}

/** Locks a session's row, and tells who holds it; nothing where there is no such session. */
export async function lockHolder(
  tx: Tx,
  s: string,
  id: string,
): Promise<{ holder: Holder | undefined; isStored: boolean } | undefined> {
  const [row] = await tx.query<{ holder: HolderRow | null; is_fresh: boolean | null; is_stored: boolean }>(
    `select holder, lease_until > now() as is_fresh, header is not null as is_stored from ${s}.sessions
    where id = $1 for update`,
    [toKey(id)],
  );
  if (!row) return undefined;
  const { holder, is_fresh, is_stored: isStored } = row;
  const isHeld = holder !== null && isAlive(holder, is_fresh === true);
  const { pid = 0, host = "", since = "" } = holder ?? {};
  return { holder: isHeld ? { pid, host, since } : undefined, isStored };
}

function isAlive({ process }: HolderRow, isFresh: boolean): boolean {
  const state = lookAfter(process);
  return state === "elsewhere" ? isFresh : state === "alive";
}
