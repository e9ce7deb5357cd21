import { hostname } from "node:os";
import type { Entry } from "@pi-agent/kernel";
import { inUse } from "./in-use.ts";
import type { SessionInfo } from "./list.ts";
import type { SessionHeader } from "./record.ts";
import { findFirstMessage, findName, isSaid } from "./said.ts";
import type { Claim, Holder, SessionSink, SessionStore, StoredSession } from "./store.ts";

interface Kept {
  header: SessionHeader;
  entries: Entry[];
  ids: Set<string>;
  modifiedMs: number;
}

/** Keeps sessions as long as it lives itself. */
export class MemoryStore implements SessionStore {
  private readonly sessions = new Map<string, Kept>();
  private readonly holders = new Map<string, Holder>();

  async list({ cwd }: { cwd?: string } = {}): Promise<SessionInfo[]> {
    const kept = [...this.sessions.values()].filter(({ header }) => cwd === undefined || header.cwd === cwd);
    return kept.sort((one, other) => other.modifiedMs - one.modifiedMs).map(toInfo);
  }

  async read(id: string): Promise<StoredSession | undefined> {
    const kept = this.sessions.get(id);
    return kept && { header: kept.header, entries: [...kept.entries], problems: [] };
  }

  async claim(id: string): Promise<Claim> {
    const known = this.holders.get(id);
    if (known) return { holder: known };
    const holder = { pid: process.pid, host: hostname(), since: new Date().toISOString() };
    this.holders.set(id, holder);
    const isHeld = () => this.holders.get(id) === holder;
    return {
      isHeld,
      release: async () => {
        if (isHeld()) this.holders.delete(id);
      },
    };
  }

  open({ header, entries }: { header: SessionHeader; entries: readonly Entry[] }): SessionSink {
    let waiting: Entry[] = [];
    let isFirst = true;
    const flush = (): void => {
      if (waiting.length === 0) return;
      const news = isFirst ? [...entries, ...waiting] : waiting;
      if (!this.sessions.has(header.id) && !news.some(isSaid)) return;
      this.add(header, news);
      isFirst = false;
      waiting = [];
    };
    return {
      append: (entry) => void waiting.push(entry),
      flush,
      close: async () => flush(),
    };
  }

  async remove(id: string): Promise<boolean> {
    const holder = this.holders.get(id);
    if (holder) throw inUse({ id }, holder);
    return this.sessions.delete(id);
  }

  private add(header: SessionHeader, news: readonly Entry[]): void {
    const kept = this.sessions.get(header.id) ?? { header, entries: [], ids: new Set<string>(), modifiedMs: 0 };
    this.sessions.set(header.id, kept);
    kept.modifiedMs = Date.now();
    for (const entry of news) {
      if (kept.ids.has(entry.id)) continue;
      kept.ids.add(entry.id);
      kept.entries.push(entry);
    }
  }
}

function toInfo({ header, entries, modifiedMs }: Kept): SessionInfo {
  const { id, cwd, parentSession, timestamp: created } = header;
  const messageCount = entries.filter(({ type }) => type === "message").length;
  const told = { name: findName(entries), firstMessage: findFirstMessage(entries), messageCount };
  return { id, cwd, parentSession, created, modifiedMs, ...told };
}
