/**
 * Random tree operations, the same for the same seed, on a store and on a naive model of it: a list of entries for each
 * session. After each `reopen` the store must hold what the model holds.
 */
import assert from "node:assert/strict";
import type { Entry } from "@pi-agent/kernel";
import type { SessionHeader } from "../record.ts";
import type { SessionSink, SessionStore } from "../store.ts";
import { assertSameEntries, assertTree, type OpenedStore, readSound } from "./play.ts";
import { answered, resulted, SAMPLES, said, sampleHeader } from "./samples.ts";

export type Operation =
  | { do: "append"; type: string; pick: number }
  | { do: "branch" | "label" | "compaction" | "fork" | "switch"; pick: number }
  | { do: "name" | "begin" | "remove" | "reopen" };

const WEIGHTS: Readonly<Record<Operation["do"], number>> = {
  append: 60,
  branch: 10,
  label: 6,
  compaction: 4,
  name: 4,
  fork: 3,
  begin: 2,
  switch: 5,
  remove: 1,
  reopen: 5,
};
const TYPES = ["user", "user", "answer", "answer", ...Object.keys(SAMPLES)];
// Enough to be told apart, few enough to be compared often.
const MAX_SESSIONS = 12;

/** Makes operations, each from what the generator comes to next. */
export function* randomOperations(seed: number, count: number): Generator<Operation> {
  const next = createRandom(seed);
  const kinds = Object.entries(WEIGHTS).flatMap(([kind, weight]) => Array<string>(weight).fill(kind));
  for (let n = 0; n < count; n++) {
    const kind = kinds[Math.floor(next() * kinds.length)] as Operation["do"];
    const type = TYPES[Math.floor(next() * TYPES.length)]!;
    yield { do: kind, type, pick: next() } as Operation;
  }
  yield { do: "reopen" };
}

/** What the model knows of a session. */
interface Known {
  header: SessionHeader;
  entries: Entry[];
  leaf: string | null;
  sink: SessionSink | undefined;
}

/** Plays operations on a store and on the model; fails where they come apart. Answers the store that was opened last. */
export async function playOperations(opened: OpenedStore, operations: Iterable<Operation>): Promise<SessionStore> {
  const played = new Play(opened);
  let at = 0;
  for (const operation of operations) {
    try {
      await played.step(operation);
    } catch (error) {
      throw new Error(`Operation ${at}, ${JSON.stringify(operation)}, came out otherwise.`, { cause: error });
    }
    at++;
  }
  return played.store;
}

class Play {
  store: SessionStore;
  private readonly opened: OpenedStore;
  private readonly sessions: Known[] = [];
  private current: Known;
  private count = 0;
  private begun = 0;

  constructor(opened: OpenedStore) {
    this.opened = opened;
    this.store = opened.store;
    this.current = this.begin();
  }

  async step(operation: Operation): Promise<void> {
    const { current } = this;
    switch (operation.do) {
      case "append":
        return this.append(operation);
      case "label":
      case "compaction":
        return this.add(SAMPLES[operation.do](this.place(), this.pick(operation.pick)?.id ?? "nobody"));
      case "name":
        return this.add(SAMPLES.session_info(this.place(), "nobody"));
      case "branch":
        current.leaf = this.pick(operation.pick)?.id ?? null;
        return;
      case "begin":
        this.current = this.begin();
        return;
      case "switch":
        this.current = this.sessions[Math.floor(operation.pick * this.sessions.length)]!;
        return;
      case "fork":
        return this.fork(operation.pick);
      case "remove":
        return this.remove();
      case "reopen":
        return this.reopen();
    }
  }

  private append({ type, pick }: { type: string; pick: number }): void {
    if (type === "user") return this.add(said(this.place(), "said ".repeat(1 + Math.floor(pick * 20))));
    if (type !== "answer") {
      return this.add(SAMPLES[type as keyof typeof SAMPLES](this.place(), this.pick(pick)?.id ?? "nobody"));
    }
    const callId = `call_${this.count}`;
    this.add(answered(this.place(), callId));
    this.add(resulted(this.place(), callId));
  }

  /** The way to an entry as a session of its own. */
  private async fork(pick: number): Promise<void> {
    const source = this.current;
    const way: Entry[] = [];
    for (let at = this.pick(pick); at; at = source.entries.find(({ id }) => id === at!.parentId)) way.unshift(at);
    const last = way.pop();
    if (!last) return;
    const copy = this.begin({ parentSession: source.header.id, entries: way });
    this.current = copy;
    copy.entries = [...way];
    this.add(last);
  }

  private async remove(): Promise<void> {
    const { current } = this;
    if (this.sessions.length < 2) return;
    await current.sink?.close();
    assert.equal(await this.store.remove(current.header.id), isKept(current));
    this.sessions.splice(this.sessions.indexOf(current), 1);
    this.current = this.sessions[0]!;
  }

  private async reopen(): Promise<void> {
    for (const each of this.sessions) await each.sink?.close();
    this.store = await this.opened.reopen();
    await this.compare();
    while (this.sessions.length > MAX_SESSIONS) {
      const [oldest] = this.sessions.splice(0, 1);
      if (isKept(oldest!)) assert.equal(await this.store.remove(oldest!.header.id), true);
    }
    if (!this.sessions.includes(this.current)) this.current = this.sessions.at(-1)!;
    for (const each of this.sessions) each.sink = undefined;
  }

  private async compare(): Promise<void> {
    const kept = this.sessions.filter(isKept);
    const listed = await this.store.list();
    assert.deepEqual(listed.map(({ id }) => id).sort(), kept.map(({ header }) => header.id).sort());
    for (const { header, entries } of kept) {
      const found = await readSound(this.store, header.id);
      assert.equal(JSON.stringify(found.header), JSON.stringify(header));
      assertSameEntries(found.entries, entries);
      assertTree(found.entries);
      const info = listed.find(({ id }) => id === header.id)!;
      assert.equal(info.parentSession, header.parentSession);
    }
  }

  private begin({ parentSession, entries = [] }: { parentSession?: string; entries?: Entry[] } = {}): Known {
    const header = sampleHeader(`play-${this.begun++}`, parentSession === undefined ? {} : { parentSession });
    const sink = this.store.open({ header, entries });
    const session: Known = { header, entries: [], leaf: null, sink };
    this.sessions.push(session);
    return session;
  }

  private add(entry: Entry): void {
    const { current } = this;
    // After a reopening it goes on with what the model knows: the store must find out what it has.
    current.sink ??= this.store.open({ header: current.header, entries: [...current.entries] });
    current.sink.append(entry);
    current.entries.push(entry);
    current.leaf = entry.id;
  }

  private place(): { id: string; parentId: string | null; timestamp: string } {
    const timestamp = new Date(1_767_323_045_000 + this.count * 10).toISOString();
    const id = (this.count++ + 0x10_00_00_00).toString(16);
    return { id, parentId: this.current.leaf, timestamp };
  }

  private pick(fraction: number): Entry | undefined {
    const { entries } = this.current;
    return entries[Math.floor(fraction * entries.length)];
  }
}

function isKept({ entries }: Known): boolean {
  return entries.some(
    (entry) => entry.type === "message" && (entry.message.role === "user" || entry.message.role === "assistant"),
  );
}

/** Numbers from 0 to 1, the same for the same seed: a linear congruential generator, its upper bits mixed. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const mixed = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) >>> 0;
    return ((mixed ^ (mixed >>> 12)) >>> 0) / 2 ** 32;
  };
}
