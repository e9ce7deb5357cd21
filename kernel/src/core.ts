/** What an agent consists of: the tables, the transcript, and the few values that change. The loop works on it. */

import type { Account } from "./account.ts";
import { Bus } from "./bus.ts";
import { Children } from "./children.ts";
import { createContext } from "./context.ts";
import type {
  Activity,
  Agent,
  AgentOptions,
  Context,
  Host,
  Limit,
  MaybePromise,
  Owner,
  Projector,
  ServiceName,
  Services,
} from "./contract.ts";
import { toDrafts, toMessage, toProposed } from "./drafts.ts";
import { toAgentError } from "./errors.ts";
import { Exclusives } from "./exclusives.ts";
import { runAs } from "./frames.ts";
import type { HookEvent, HookName } from "./hook-points.ts";
import { HookTable } from "./hooks.ts";
import { completeHost } from "./host.ts";
import { type Loadout, Loadouts } from "./loadout.ts";
import type { Draft, Entry, Message, Model, ThinkingLevel } from "./messages.ts";
import { type HookFault, heard } from "./points.ts";
import type { Recorded } from "./prompt.ts";
import { MessageQueue } from "./queue.ts";
import { Registries } from "./registries.ts";
import type { Run } from "./run.ts";
import { assertModel, assertProjection, assertThinkingLevel } from "./shapes.ts";
import { TranscriptTree } from "./transcript.ts";
import { seal, toJson, uuidv7 } from "./values.ts";

export const HOST_OWNER: Owner = { name: "host", scope: "host" };

export class Core {
  readonly options: AgentOptions;
  readonly hooks: HookTable;
  readonly registries = new Registries();
  readonly transcript: TranscriptTree;
  readonly queue: MessageQueue;
  readonly bus = new Bus((fault) => this.report(fault));
  readonly host: Host;
  /** What extensions of this agent limit; what those of its parents do, holds too. */
  ownLimits: readonly Limit[] = [];
  sessionId: string;
  model: Model | undefined;
  thinkingLevel: ThinkingLevel;
  systemPrompt = "";
  /** What the branch says the model was told last; made anew when the branch changes. */
  recorded: Recorded | undefined;
  /** What the agent does of itself; `activity` tells what it does altogether. */
  ownActivity: Activity = "starting";
  readonly exclusives: Exclusives;
  run: Run | undefined;
  private readonly loadouts = new Loadouts();

  /** Owners that were here before: what is kept for an owner goes by the object. */
  private readonly forgotten = new WeakSet<Owner>();
  readonly children: Children;
  /** What each extension costs, while it is loaded. */
  readonly accounts = new Map<Owner, Account>();
  /** How many questions to a person are open. */
  openQuestions = 0;
  private shown: { of: Model; copy: Model } | undefined;
  private readonly contexts = new Map<Owner, Context>();
  readonly parent: Core | undefined;

  constructor(
    options: AgentOptions,
    links: { parent?: Core; spawn(parent: Core, options: AgentOptions): Agent; wake(): void; settled(): Promise<void> },
  ) {
    this.options = options;
    this.parent = links.parent;
    this.children = new Children((childOptions) => links.spawn(this, childOptions));
    this.exclusives = new Exclusives(options.graceMs, () => links.wake());
    this.hooks = new HookTable((fault) => this.report(fault));
    this.transcript = new TranscriptTree((type) => this.projector(type));
    this.queue = new MessageQueue(options, () => {
      const { steering, followUp } = this.queue.peek();
      void this.tell({ type: "queue_update", steering: Object.freeze(steering), followUp: Object.freeze(followUp) });
    });
    this.host = completeHost(options.host ?? {}, {
      providers: () => this.registries.of("provider"),
      moveTo: async (entryId) => {
        await links.settled();
        this.moveTo(entryId);
      },
    });
    this.sessionId = options.sessionId ?? uuidv7();
    this.thinkingLevel = options.thinkingLevel ?? "medium";
    this.loadouts.activeNames = options.activeTools;
    if (options.entries) this.transcript.load(options.entries);
  }

  get activity(): Activity {
    return this.exclusives.activity ?? this.ownActivity;
  }

  get limits(): readonly Limit[] {
    return this.parent ? [...this.parent.limits, ...this.ownLimits] : this.ownLimits;
  }

  /** Tells the listeners of a notify point, in order. */
  tell<N extends HookName>(event: HookEvent<N> & { type: N }): MaybePromise<void> {
    const point = this.hooks.at[event.type];
    return heard(point) ? this.hooks.notify(point, Object.freeze(event)) : undefined;
  }

  /** Appends entries, all or none, and tells the stores. Fails with `invalid_entry`. */
  append(drafts: readonly Draft[]): Entry[] {
    return this.appendWhole(toDrafts(drafts, this.transcript));
  }

  /** Appends drafts that were held to their shape already. */
  appendWhole(drafts: readonly Draft[]): Entry[] {
    return drafts.map((draft) => this.appendOne(draft));
  }

  /** What a hook drafts, as far as it may: messages come by prompts, tools and providers only. Fails with `invalid_entry`. */
  toProposed(given: unknown): Draft[] {
    return toProposed(given, this.transcript);
  }

  appendOne(draft: Draft): Entry {
    const entry = this.transcript.append(draft);
    void this.tell({ type: "transcript_append", entry });
    if (entry.type === "session_info") void this.tell({ type: "session_info_changed", name: entry.name || undefined });
    return entry;
  }

  /** Appends a message that is sealed already. */
  appendMessage(message: Message): Entry {
    const entry = this.transcript.appendMessage(message);
    if (heard(this.hooks.at.transcript_append)) void this.tell({ type: "transcript_append", entry });
    return entry;
  }

  /** Ends the run; what is queued stays, and starts nothing. */
  abortRun(reason?: string): void {
    this.exclusives.abort(reason);
    if (!this.run) return;
    this.queue.hold();
    this.run.abort(reason);
    this.children.abort(reason);
  }

  moveTo(entryId: string | null): void {
    this.transcript.moveTo(entryId);
    this.recorded = undefined;
  }

  /** Resolves when the stores have what was appended. */
  flush(reason: "turn" | "settled" | "dispose"): MaybePromise<void> {
    return this.tell({ type: "transcript_flush", reason });
  }

  /** The context that an owner's handlers and tools get. `live` fails once the owner is gone. */
  contextOf(owner: Owner, live?: () => void): Context {
    let context = this.contexts.get(owner);
    if (!context) {
      context = createContext(this, owner, live);
      this.contexts.set(owner, context);
    }
    return context;
  }

  /** An owner whose object nothing is kept for yet. */
  freshOwner(owner: Owner): Owner {
    return this.accounts.has(owner) || this.forgotten.has(owner) ? { ...owner } : owner;
  }

  /** Lets go of what is kept for an owner, and ends what it is doing. */
  forget(owner: Owner): void {
    this.contexts.delete(owner);
    this.accounts.delete(owner);
    this.forgotten.add(owner);
    this.run?.drop(owner);
    this.hooks.deadlines.drop(owner);
    void this.children.dispose(owner);
    this.exclusives.drop(owner);
  }

  service<N extends ServiceName>(name: N): Services[N] | undefined {
    const registered = this.registries.of("service").get(name)?.value;
    return (registered ?? (this.host as Partial<Services>)[name]) as Services[N] | undefined;
  }

  /** The tools that are on. */
  loadout(): Loadout {
    return this.loadouts.current(this.registries);
  }

  setActiveTools(names: readonly string[]): void {
    this.loadouts.activeNames = [...new Set(names)];
  }

  async setModel(model: Model, source: "set" | "cycle" = "set"): Promise<boolean> {
    assertModel(model);
    if (this.host.models && !this.host.models.hasCredentials(model.provider)) return false;
    const previousModel = this.model;
    this.model = model;
    if (previousModel !== model) await this.tell({ type: "model_select", model, previousModel, source });
    return true;
  }

  /** The model as handlers may see it: what they do to it does not reach the provider. */
  modelCopy(): Model {
    if (this.shown?.of !== this.model) {
      const copy = toJson(this.model) as unknown as Model;
      seal(copy);
      this.shown = { of: this.model!, copy };
    }
    return this.shown!.copy;
  }

  setThinkingLevel(level: ThinkingLevel): void {
    assertThinkingLevel(level);
    const previousLevel = this.thinkingLevel;
    this.thinkingLevel = level;
    if (level !== previousLevel) void this.tell({ type: "thinking_level_select", level, previousLevel });
  }

  /** Runs `fn` when nothing else is exclusive; what is prompted meanwhile waits, and wakes the agent afterwards. */
  async exclusive<T>(activity: Activity, fn: (signal: AbortSignal) => Promise<T>, owner?: Owner): Promise<T> {
    return this.exclusives.perform(activity, fn, { owner, running: this.run?.signal });
  }

  /** Tells what an extension did wrong, or, when that very hook is at fault, leaves it to `fault` and the console. */
  report({ owner, event, error }: HookFault): void {
    if (event === "extension_error" || event === "fault") {
      this.tellPerson(`${owner.name} failed in its handler for ${event}: ${error.message}`);
      return;
    }
    const { code, message } = error;
    const account = this.accounts.get(owner);
    if (account && code !== "hook_slow") account.errors++;
    void this.tell({
      type: "extension_error",
      owner: owner.name,
      extensionPath: owner.path,
      event,
      error: message,
      code,
    });
    void this.tell({ type: "fault", owner: owner.name, error });
    // Mostly nobody listens to a child.
    this.parent?.report({ owner, event, error });
  }

  private tellPerson(text: string): void {
    try {
      this.host.ui.notify(text, "error");
    } catch {
      // Whose own way of telling fails is told on the last one there is.
      globalThis.console.error(text);
    }
  }

  /** A message fit to be stored. Fails with `invalid_entry`. */
  toMessage(given: string | Message): Message {
    return toMessage(given);
  }

  /** A projector that throws, or answers what cannot be sent, is reported, and its entry left out. */
  private projector(type: string): Projector | undefined {
    const registered = this.registries.of("projector").get(type);
    if (!registered) return undefined;
    const { owner, value } = registered;
    return (entry) => {
      seal(entry);
      try {
        const answer = runAs(owner, () => value(entry));
        assertProjection(type, answer);
        return answer ?? [];
      } catch (thrown) {
        this.report({ owner, event: `projector:${type}`, error: toAgentError(thrown, owner.name) });
        return [];
      }
    };
  }
}
