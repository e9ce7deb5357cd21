/**
 * What happened: an append-only tree of entries, and the leaf where the conversation stands.
 * Appending and projecting the next turn cost the same at entry 10 and at entry 100,000.
 */
import type { Projector, Transcript } from "./contract.ts";
import { AgentError } from "./errors.ts";
import type { Draft, Entry, EntryType, Message, ToolCall } from "./messages.ts";
import { Projection, sinceCompaction } from "./projection.ts";
import { seal } from "./values.ts";

/** Entry types that say something about a session without being a place in it. */
const ASIDES = new Set(["label", "session_info", "usage"]);

/** The last three digits of an id, in an order in which neighbours look apart. */
const ID_TAILS = Array.from({ length: 4_096 }, (_, i) => hex((i * 2_531) % 4_096, 3));

export class TranscriptTree implements Transcript {
  leafId: string | null = null;
  /** The id of the newest entry. */
  private lastId: string | null = null;
  /** In the order in which they came. */
  private entries: Entry[] = [];
  /** Each entry's parent is the one before it, so that a path is a part of the list. */
  private isLine = true;
  /** Entries by id, by parent and by their message, made when somebody asks, up to the entry that was last then. */
  private readonly index = {
    byId: new Map<string, Entry>(),
    byParent: new Map<string | null, Entry[]>(),
    byMessage: new Map<object, string>(),
    upTo: 0,
  };
  private projection: Projection | undefined;
  private readonly projectors: (type: string) => Projector | undefined;
  private readonly clock = createClock();
  private idHead = "";
  private readonly idHeads = new Set<string>();
  private idCount = 0;
  /** So many of the entries were loaded: their ids are not given again. */
  private storedCount = 0;
  /** Those are not sealed yet: nobody but a provider has seen them, and most of a compacted session nobody. */
  private isUnsealed = false;
  /** The projection whose stored messages are sealed; what comes later is from the start. */
  private sealed: Projection | undefined;

  constructor(projectors: (type: string) => Projector | undefined) {
    this.projectors = projectors;
  }

  get size(): number {
    return this.entries.length;
  }

  /** The transcript as others see it: nothing that they get is the kernel's own. */
  readonly view: Transcript = viewOf(this);

  /** The calls at the end of the branch that were never answered. */
  get openCalls(): readonly ToolCall[] {
    this.project();
    return [...this.projection!.open.values()];
  }

  /** How many of the projected messages are older than a compaction or an edit: what was counted in them is not so any more. */
  get outdatedMessages(): number {
    this.project();
    return this.projection!.outdated;
  }

  /** Takes over stored entries; the leaf is the last one that is a place in the conversation. */
  load(entries: readonly Entry[]): void {
    this.entries = [...entries];
    this.index.byId.clear();
    this.index.byParent.clear();
    this.index.byMessage.clear();
    this.index.upTo = 0;
    this.storedCount = entries.length;
    this.isUnsealed = true;
    this.idCount = 0;
    this.isLine = entries.every(({ parentId }, i) => parentId === (entries[i - 1]?.id ?? null));
    this.lastId = entries.at(-1)?.id ?? null;
    this.leafId = entries.findLast((entry) => !ASIDES.has(entry.type))?.id ?? null;
    this.projection = undefined;
  }

  /** Appends a draft at the leaf. Fails with `invalid_entry` when it is not JSON. */
  append(draft: Draft): Entry {
    // The place comes first in a file, and last in what counts.
    const place = { type: draft.type, id: this.freshId(), parentId: this.leafId, timestamp: this.clock() };
    const entry = { ...place, ...draft, ...place } as Entry;
    const problem = seal(entry);
    if (problem) {
      throw new AgentError("invalid_entry", `The ${draft.type} entry cannot be stored: ${problem}.`, {
        hint: "Store plain JSON: no functions, no cycles, no class instances.",
      });
    }
    return this.add(entry);
  }

  /** Appends a message that is sealed already. */
  appendMessage(message: Message): Entry {
    return this.add(
      Object.freeze({
        type: "message",
        id: this.freshId(),
        parentId: this.leafId,
        timestamp: this.clock(),
        message,
      }),
    );
  }

  private add(entry: Entry): Entry {
    this.isLine &&= this.leafId === this.lastId;
    this.entries.push(entry);
    this.leafId = this.lastId = entry.id;
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
    if (this.isLine && leaf === this.lastId) return [...this.entries];
    const { byId } = this.indexed();
    const path: Entry[] = [];
    for (let id: string | null = leaf; id !== null; ) {
      const entry = byId.get(id);
      // Stored parents may lead in a circle.
      if (!entry || path.length === this.entries.length) break;
      path.push(entry);
      id = entry.parentId;
    }
    return path.reverse();
  }

  findLast<T extends EntryType>(type: T, matches: (entry: Entry<T>) => boolean = () => true): Entry<T> | undefined {
    for (const entry of this.upwards()) {
      if (!isOfType(entry, type)) continue;
      if (this.isUnsealed) seal(entry);
      if (matches(entry)) return entry;
    }
    return undefined;
  }

  /** The way from the leaf to the root. */
  private *upwards(): Generator<Entry> {
    if (this.isLine && this.leafId === this.lastId) {
      for (let at = this.entries.length - 1; at >= 0; at--) yield this.entries[at]!;
      return;
    }
    yield* this.path().toReversed();
  }

  /** The session's name, wherever in the tree it was given last. */
  get name(): string | undefined {
    const named = this.entries.findLast((entry) => isOfType(entry, "session_info"));
    return named?.name || undefined;
  }

  children(id: string | null): readonly Entry[] {
    return [...(this.indexed().byParent.get(id) ?? [])];
  }

  project(leaf?: string): readonly Message[] {
    if (leaf !== undefined && leaf !== this.leafId) {
      this.known(leaf);
      return this.projectionOf(this.path(leaf)).settled();
    }
    this.projection ??= this.projectionOf(this.path());
    return this.projection.settled();
  }

  /** What would be projected if these drafts were appended. */
  preview(drafts: readonly Draft[]): readonly Message[] {
    if (drafts.length === 0) return this.project();
    const place = { id: "", parentId: this.leafId, timestamp: this.clock() };
    const entries = drafts.map((draft) => ({ ...draft, ...place }) as Entry);
    return this.projectionOf([...this.path(), ...entries]).settled();
  }

  private projectionOf(path: readonly Entry[]): Projection {
    const since = sinceCompaction(path);
    // Who converts messages tells by this which of them are to stay.
    if (this.isUnsealed) {
      for (const entry of since.visible) if (entry.type === "message") Object.preventExtensions(entry.message);
    }
    return new Projection(since, this.projectors);
  }

  /** Seals all that was stored, before it is given to somebody who may change it. */
  sealStored(): this {
    for (let at = 0; this.isUnsealed && at < this.storedCount; at++) seal(this.entries[at]!);
    this.isUnsealed = false;
    return this;
  }

  /** Seals what of it is projected. */
  sealProjected(): void {
    if (!this.isUnsealed) return;
    const messages = this.project();
    if (this.sealed === this.projection) return;
    for (const message of messages) seal(message);
    this.sealed = this.projection;
  }

  source(message: Message): string | undefined {
    this.project();
    return this.projection!.made.get(message) ?? this.indexed().byMessage.get(message);
  }

  private indexed() {
    const { index, entries } = this;
    for (; index.upTo < entries.length; index.upTo++) {
      const entry = entries[index.upTo]!;
      index.byId.set(entry.id, entry);
      if (entry.type === "message") index.byMessage.set(entry.message, entry.id);
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

  /** An id that no entry here has: a random head for every 4,096 of them. */
  private freshId(): string {
    const tail = this.idCount++ & 4_095;
    if (tail === 0) this.idHead = this.freshHead();
    return this.idHead + ID_TAILS[tail]!;
  }

  private isStoredHead(head: string): boolean {
    for (let at = 0; at < this.storedCount; at++) if (this.entries[at]!.id.startsWith(head)) return true;
    return false;
  }

  private freshHead(): string {
    for (;;) {
      const head = hex(Math.floor(Math.random() * 2 ** 20), 5);
      if (this.idHeads.has(head) || this.isStoredHead(head)) continue;
      this.idHeads.add(head);
      return head;
    }
  }
}

function isOfType<T extends EntryType>(entry: Entry, type: T): entry is Entry & Entry<T> {
  return entry.type === type;
}

function hex(number: number, digits: number): string {
  return number.toString(16).padStart(digits, "0");
}

function viewOf(tree: TranscriptTree): Transcript {
  return {
    get leafId() {
      return tree.leafId;
    },
    get size() {
      return tree.size;
    },
    get: (id) => tree.sealStored().get(id),
    path: (leaf) => tree.sealStored().path(leaf),
    children: (id) => tree.sealStored().children(id),
    findLast: (type, matches) => tree.findLast(type, matches),
    project: (leaf) => [...tree.sealStored().project(leaf)],
    source: (message) => tree.source(message),
  };
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
