/** What an agent consists of: the tables, the transcript, and the few values that change. The loop works on it. */

import type { Account } from "./account.ts";
import { Bus } from "./bus.ts";
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
  Registered,
  ServiceName,
  Services,
} from "./contract.ts";
import { AgentError, toAgentError } from "./errors.ts";
import { currentFrame, currentOwner, enclose, offTheClock, runAs } from "./frames.ts";
import type { HookEvent, HookName } from "./hook-points.ts";
import { type HookFault, HookTable, heard } from "./hooks.ts";
import { completeHost } from "./host.ts";
import type { Draft, Entry, Message, Model, ThinkingLevel, ToolSchema } from "./messages.ts";
import type { Recorded } from "./prompt.ts";
import { MessageQueue } from "./queue.ts";
import { Registries } from "./registries.ts";
import { DEFAULT_GRACE_MS, type Run } from "./run.ts";
import { assertModel, assertProjection, assertThinkingLevel, draftProblem, shapeProblem } from "./shapes.ts";
import { TranscriptTree } from "./transcript.ts";
import { copyPlain, seal, toJson, uuidv7 } from "./values.ts";

export const HOST_OWNER: Owner = { name: "host", scope: "host" };

/** The tools of a turn, and what the model is told of them. One object as long as nothing changes. */
export interface Loadout {
  tools: ReadonlyMap<string, Registered<"tool">>;
  schemas: readonly ToolSchema[];
}

interface ExclusiveWork {
  owner: Owner | undefined;
  giveUp(error: AgentError): void;
  grace?: ReturnType<typeof setTimeout>;
}

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
  private exclusiveActivity: Activity | undefined;
  /** How many exclusive works are under way or wait for their turn. */
  private exclusives = 0;
  /** The exclusive work that is under way, and how it is given up, whatever it waits for. */
  private exclusiveWork: ExclusiveWork | undefined;
  run: Run | undefined;
  private activeNames: readonly string[] | undefined;
  private kept: { loadout: Loadout; version: number; names: readonly string[] | undefined } | undefined;

  /** Owners that were here before: what is kept for an owner goes by the object. */
  private readonly forgotten = new WeakSet<Owner>();
  /** Agents under this one that are running. */
  readonly runningChildren = new Set<Agent>();
  /** All agents under this one, as long as somebody holds them, with who made them. */
  private children: { agent: WeakRef<Agent>; maker: Owner | undefined }[] = [];
  /** What each extension costs, while it is loaded. */
  readonly accounts = new Map<Owner, Account>();
  /** How many questions to a person are open. */
  openQuestions = 0;
  private shown: { of: Model; copy: Model } | undefined;
  private readonly contexts = new Map<Owner, Context>();
  readonly parent: Core | undefined;
  private readonly makeChild: (options: AgentOptions) => Agent;
  private readonly wake: () => void;
  private exclusiveTail: Promise<unknown> = Promise.resolve();

  constructor(
    options: AgentOptions,
    links: { parent?: Core; spawn(parent: Core, options: AgentOptions): Agent; wake(): void; settled(): Promise<void> },
  ) {
    this.options = options;
    this.parent = links.parent;
    this.makeChild = (childOptions) => links.spawn(this, childOptions);
    this.wake = () => links.wake();
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
    this.activeNames = options.activeTools;
    if (options.entries) this.transcript.load(options.entries);
  }

  get activity(): Activity {
    return this.exclusiveActivity ?? this.ownActivity;
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
    return this.appendWhole(this.toDrafts(drafts));
  }

  /** Appends drafts that were held to their shape already. */
  appendWhole(drafts: readonly Draft[]): Entry[] {
    return drafts.map((draft) => this.appendOne(draft));
  }

  /** What a hook drafts, as far as it may: messages come by prompts, tools and providers only. Fails with `invalid_entry`. */
  toProposed(given: unknown): Draft[] {
    const drafts = this.toDrafts(given);
    if (drafts.some(({ type }) => type === "message")) throw invalidEntry("a hook may not add a message entry");
    return drafts;
  }

  /** Copies of drafts that a transcript can take: JSON, with targets that exist. Fails with `invalid_entry`. */
  toDrafts(given: unknown): Draft[] {
    if (given === undefined) return [];
    if (!Array.isArray(given)) throw invalidEntry("the entries are not a list");
    return given.map((each: unknown) => {
      const draft = copyPlain(each) as Draft;
      const problem = seal(draft) ?? draftProblem(draft);
      if (problem) throw invalidEntry(problem);
      const target = draft.type === "context_edit" || draft.type === "label" ? draft.targetId : undefined;
      if (target !== undefined && !this.transcript.get(target)) throw invalidEntry(`there is no entry ${target}`);
      return draft;
    });
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
    if (!this.run) return;
    this.queue.hold();
    this.run.abort(reason);
    this.abortChildren(reason);
  }

  abortChildren(reason?: string): void {
    for (const child of this.runningChildren) void child.abort(reason);
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
      context = createContext(this, live);
      this.contexts.set(owner, context);
    }
    return context;
  }

  /** An owner whose object nothing is kept for yet. */
  freshOwner(owner: Owner): Owner {
    return this.accounts.has(owner) || this.forgotten.has(owner) ? { ...owner } : owner;
  }

  /** Makes an agent under this one, which ends with its maker. */
  spawn(options: AgentOptions): Agent {
    const agent = this.makeChild(options);
    this.children = this.children.filter((child) => child.agent.deref());
    this.children.push({ agent: new WeakRef(agent), maker: currentOwner() });
    return agent;
  }

  /** Ends the agents that an owner made, or all. */
  async disposeChildren(maker?: Owner): Promise<void> {
    const ending = this.children.filter((child) => maker === undefined || child.maker === maker);
    this.children = this.children.filter((child) => !ending.includes(child));
    await Promise.all(ending.map(async ({ agent }) => agent.deref()?.dispose()));
  }

  /** Lets go of what is kept for an owner, and ends what it is doing. */
  forget(owner: Owner): void {
    this.contexts.delete(owner);
    this.accounts.delete(owner);
    this.forgotten.add(owner);
    this.run?.drop(owner);
    this.hooks.deadlines.drop(owner);
    void this.disposeChildren(owner);
    const { exclusiveWork } = this;
    if (exclusiveWork?.owner !== owner) return;
    exclusiveWork.giveUp(new AgentError("abandoned", `${owner.name} was unloaded.`, { owner: owner.name }));
  }

  service<N extends ServiceName>(name: N): Services[N] | undefined {
    const registered = this.registries.of("service").get(name)?.value;
    return (registered ?? (this.host as Partial<Services>)[name]) as Services[N] | undefined;
  }

  loadout(): Loadout {
    const { kept } = this;
    if (kept && kept.version === this.registries.version && kept.names === this.activeNames) return kept.loadout;
    const tools = new Map<string, Registered<"tool">>();
    for (const [name, registered] of this.registries.of("tool"))
      if (this.isActive(registered)) tools.set(name, registered);
    const schemas = Array.from(tools.values(), ({ name, value }) => ({
      name,
      description: value.description,
      parameters: value.parameters as ToolSchema["parameters"],
    }));
    this.kept = { loadout: { tools, schemas }, version: this.registries.version, names: this.activeNames };
    return this.kept.loadout;
  }

  setActiveTools(names: readonly string[]): void {
    this.activeNames = [...new Set(names)];
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

  /**
   * Runs `fn` when nothing else is exclusive; what is prompted meanwhile waits, and wakes the agent afterwards. Within
   * exclusive work it runs at once. Fails with `abandoned` when its owner is unloaded, or does not obey an abort.
   */
  async exclusive<T>(activity: Activity, fn: () => Promise<T>): Promise<T> {
    const within = currentFrame()?.exclusiveOf;
    if (within && within === this.exclusiveWork) return fn();
    const before = this.exclusiveTail;
    const { promise: through, resolve } = Promise.withResolvers<void>();
    this.exclusiveTail = through;
    if (this.exclusives++ === 0) this.exclusiveActivity = activity;
    else await before;
    this.exclusiveActivity = activity;
    try {
      return await offTheClock(() => this.whileOwned(fn));
    } finally {
      clearTimeout(this.exclusiveWork?.grace);
      this.exclusiveWork = undefined;
      if (--this.exclusives === 0) this.exclusiveActivity = undefined;
      resolve();
      this.wake();
    }
  }

  private whileOwned<T>(fn: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.exclusiveWork = { owner: currentOwner(), giveUp: reject };
      enclose(fn, this.exclusiveWork).then(resolve, reject);
    });
  }

  /** Gives an extension's exclusive work the grace period to end. */
  abortExclusive(): void {
    const work = this.exclusiveWork;
    if (!work?.owner || work.owner.scope === "host" || work.grace) return;
    const { name: owner } = work.owner;
    const error = new AgentError("abandoned", `Exclusive work of ${owner} did not end when it was aborted.`, {
      hint: "Obey ctx.signal, or pass it on to whatever it waits for.",
      owner,
    });
    work.grace = setTimeout(() => work.giveUp(error), this.options.graceMs ?? DEFAULT_GRACE_MS);
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
    const message: Message =
      typeof given === "string"
        ? { role: "user", content: given, timestamp: Date.now() }
        : (copyPlain(given) as Message);
    const problem = seal(message) ?? shapeProblem(message);
    if (problem) throw invalidEntry(problem);
    return message;
  }

  /** A projector that throws, or answers what cannot be sent, is reported, and its entry left out. */
  private projector(type: string): Projector | undefined {
    const registered = this.registries.of("projector").get(type);
    if (!registered) return undefined;
    const { owner, value } = registered;
    return (entry) => {
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

  private isActive({ name, value }: Registered<"tool">): boolean {
    return this.activeNames ? this.activeNames.includes(name) : value.defaultActive !== false;
  }
}

function invalidEntry(problem: string): AgentError {
  return new AgentError("invalid_entry", `This cannot be stored in a transcript: ${problem}.`, {
    hint: "Store plain JSON: no functions, no cycles, no class instances.",
  });
}
