/**
 * What happened: an append-only tree of entries, and the leaf where the conversation stands.
 * Appending and projecting the next turn cost the same at entry 10 and at entry 100,000.
 */
import type { Projector, Transcript } from "./contract.ts";
import { AgentError } from "./errors.ts";
import type { Draft, Entry, Message } from "./messages.ts";
import { Projection } from "./projection.ts";
import { settle } from "./values.ts";

/** Entry types that say something about a session without being a place in it. */
const ASIDES = new Set(["label", "session_info", "usage"]);

/** Odd, so that every number comes before one comes again; near the golden ratio of 2^32, so that neighbours look apart. */
const ID_STEP = 0x9e3779b1;
/** A ninth digit in front keeps the zeros of the eight. */
const ID_MARK = 2 ** 32;

export class TranscriptTree implements Transcript {
  leafId: string | null = null;
  /** In the order in which they came. */
  private entries: Entry[] = [];
  /** Each entry's parent is the one before it, so that a path is a part of the list. */
  private isLine = true;
  /** Entries by id and by parent, made when somebody asks, up to the entry that was last then. */
  private readonly index = { byId: new Map<string, Entry>(), byParent: new Map<string | null, Entry[]>(), upTo: 0 };
  private projection: Projection | undefined;
  private sourceOf: { projection: Projection; ids: Map<Message, string>; upTo: number } | undefined;
  private readonly projectors: (type: string) => Projector | undefined;
  private readonly clock = createClock();
  private lastId = (Math.random() * 2 ** 32) >>> 0;
  private hasLoaded = false;

  constructor(projectors: (type: string) => Projector | undefined) {
    this.projectors = projectors;
  }

  get size(): number {
    return this.entries.length;
  }

  /** Takes over stored entries; the leaf is the last one that is a place in the conversation. */
  load(entries: readonly Entry[]): void {
    this.entries = [...entries];
    this.index.byId.clear();
    this.index.byParent.clear();
    this.index.upTo = 0;
    this.hasLoaded = true;
    for (const entry of entries) settle(entry);
    this.isLine = entries.every(({ parentId }, i) => parentId === (entries[i - 1]?.id ?? null));
    this.leafId = entries.findLast((entry) => !ASIDES.has(entry.type))?.id ?? null;
    this.projection = undefined;
  }

  /** Appends a draft at the leaf. Fails with `invalid_entry` when it is not JSON. */
  append(draft: Draft): Entry {
    const { leafId } = this;
    const place = { type: draft.type, id: this.freshId(), parentId: leafId, timestamp: this.clock() };
    const entry = { ...place, ...draft, ...place } as Entry;
    const problem = settle(entry);
    if (problem) {
      throw new AgentError("invalid_entry", `The ${draft.type} entry cannot be stored: ${problem}.`, {
        hint: "Store plain JSON: no functions, no cycles, no class instances.",
      });
    }
    this.isLine &&= leafId === (this.entries[this.entries.length - 1]?.id ?? null);
    this.entries.push(entry);
    this.leafId = entry.id;
    if (this.projection && !this.projection.grow(entry)) this.projection = undefined;
    return entry;
  }

  /** Moves the leaf; the next entry becomes a child of `id`, or a new root. Fails with `unknown_entry`. */
  moveTo(id: string | null): void {
    if (id !== null) this.known(id);
    if (id !== this.leafId) this.projection = undefined;
    this.leafId = id;
  }

  get(id: string): Entry | undefined {
    return this.indexed().byId.get(id);
  }

  path(leaf: string | null = this.leafId): readonly Entry[] {
    if (leaf === null) return [];
    if (this.isLine && leaf === this.entries[this.entries.length - 1]?.id) return [...this.entries];
    const { byId } = this.indexed();
    const path: Entry[] = [];
    for (let id: string | null = leaf; id !== null; ) {
      const entry = byId.get(id);
      if (!entry) break;
      path.push(entry);
      id = entry.parentId;
    }
    return path.reverse();
  }

  children(id: string | null): readonly Entry[] {
    return this.indexed().byParent.get(id) ?? [];
  }

  project(leaf?: string): readonly Message[] {
    if (leaf !== undefined && leaf !== this.leafId) {
      this.known(leaf);
      return new Projection(this.path(leaf), this.projectors).settled();
    }
    this.projection ??= new Projection(this.path(), this.projectors);
    return this.projection.settled();
  }

  source(message: Message): string | undefined {
    this.project();
    const projection = this.projection!;
    if (this.sourceOf?.projection !== projection) this.sourceOf = { projection, ids: new Map(), upTo: 0 };
    const index = this.sourceOf;
    for (; index.upTo < projection.messages.length; index.upTo++) {
      index.ids.set(projection.messages[index.upTo]!, projection.sources[index.upTo]!);
    }
    return index.ids.get(message);
  }

  private indexed() {
    const { index, entries } = this;
    for (; index.upTo < entries.length; index.upTo++) {
      const entry = entries[index.upTo]!;
      index.byId.set(entry.id, entry);
      const siblings = index.byParent.get(entry.parentId);
      if (siblings) siblings.push(entry);
      else index.byParent.set(entry.parentId, [entry]);
    }
    return index;
  }

  private known(id: string): void {
    if (this.get(id)) return;
    throw new AgentError("unknown_entry", `There is no entry ${id} in this session.`, {
      hint: "Look the ids up with transcript.path() or transcript.children().",
    });
  }

  /** Steps through all 32-bit numbers from a random one: none of its own comes twice, only a loaded one can be met. */
  private freshId(): string {
    for (;;) {
      this.lastId = (this.lastId + ID_STEP) >>> 0;
      const id = (ID_MARK + this.lastId).toString(16).slice(1);
      if (!this.hasLoaded || !this.get(id)) return id;
    }
  }
}

/** Formatting a date costs more than the rest of an append, so a millisecond is formatted once. */
function createClock(): () => string {
  let at = 0;
  let text = "";
  return () => {
    const now = Date.now();
    if (now !== at) {
      at = now;
      text = new Date(now).toISOString();
    }
    return text;
  };
}
