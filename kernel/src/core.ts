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
import { offTheClock, runAs } from "./frames.ts";
import type { HookEvent, HookName } from "./hook-points.ts";
import { type HookFault, HookTable, heard } from "./hooks.ts";
import { completeHost } from "./host.ts";
import type { Draft, Entry, Message, Model, ThinkingLevel, ToolSchema } from "./messages.ts";
import type { Recorded } from "./prompt.ts";
import { MessageQueue } from "./queue.ts";
import { Registries } from "./registries.ts";
import type { Run } from "./run.ts";
import { draftProblem, shapeProblem } from "./shapes.ts";
import { TranscriptTree } from "./transcript.ts";
import { seal, uuidv7 } from "./values.ts";

export const HOST_OWNER: Owner = { name: "host", scope: "host" };

/** The tools of a turn, and what the model is told of them. One object as long as nothing changes. */
export interface Loadout {
  tools: ReadonlyMap<string, Registered<"tool">>;
  schemas: readonly ToolSchema[];
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
  run: Run | undefined;
  private activeNames: readonly string[] | undefined;
  private kept: { loadout: Loadout; version: number; names: readonly string[] | undefined } | undefined;

  /** What each extension costs, while it is loaded. */
  readonly accounts = new Map<Owner, Account>();
  /** How many questions to a person are open. */
  openQuestions = 0;
  private shown: { of: Model; copy: Model } | undefined;
  private readonly contexts = new Map<Owner, Context>();
  private readonly parent: Core | undefined;
  /** Makes an agent under this one. */
  readonly spawn: (options: AgentOptions) => Agent;
  private readonly wake: () => void;
  private exclusiveTail: Promise<unknown> = Promise.resolve();

  constructor(
    options: AgentOptions,
    links: { parent?: Core; spawn(parent: Core, options: AgentOptions): Agent; wake(): void; settled(): Promise<void> },
  ) {
    this.options = options;
    this.parent = links.parent;
    this.spawn = (childOptions) => links.spawn(this, childOptions);
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
    return this.hooks.notify(this.hooks.at[event.type], event);
  }

  /** Appends entries, all or none, and tells the stores. Fails with `invalid_entry`. */
  append(drafts: readonly Draft[]): Entry[] {
    this.assertDrafts(drafts);
    return drafts.map((draft) => this.appendOne(draft));
  }

  /** Holds what a hook drafts to what it may add: messages come by prompts, tools and providers only. */
  assertProposed(drafts: unknown): asserts drafts is readonly Draft[] | undefined {
    this.assertDrafts(drafts);
    if (drafts?.some(({ type }) => type === "message")) throw invalidEntry("a hook may not add a message entry");
  }

  /** Holds drafts to what a transcript can take: JSON, and targets that exist. Fails with `invalid_entry`. */
  assertDrafts(drafts: unknown): asserts drafts is readonly Draft[] | undefined {
    if (drafts === undefined) return;
    if (!Array.isArray(drafts)) throw invalidEntry("the entries are not a list");
    for (const draft of drafts as Draft[]) {
      const problem = seal(draft) ?? draftProblem(draft);
      if (problem) throw invalidEntry(problem);
      const target = draft.type === "context_edit" || draft.type === "label" ? draft.targetId : undefined;
      if (target !== undefined && !this.transcript.get(target)) throw invalidEntry(`there is no entry ${target}`);
    }
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
  abortRun(): void {
    if (!this.run) return;
    this.queue.hold();
    this.run.abort();
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

  /** Lets go of what is kept for an owner, and ends what it is doing. */
  forget(owner: Owner): void {
    this.contexts.delete(owner);
    this.accounts.delete(owner);
    this.run?.drop(owner);
    this.hooks.deadlines.expire(owner);
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
    if (this.host.models && !this.host.models.hasCredentials(model.provider)) return false;
    const previousModel = this.model;
    this.model = model;
    if (previousModel !== model) await this.tell({ type: "model_select", model, previousModel, source });
    return true;
  }

  /** The model as handlers may see it: what they do to it does not reach the provider. */
  modelCopy(): Model {
    if (this.shown?.of !== this.model) {
      const copy = structuredClone(this.model!);
      seal(copy);
      this.shown = { of: this.model!, copy };
    }
    return this.shown!.copy;
  }

  setThinkingLevel(level: ThinkingLevel): void {
    const previousLevel = this.thinkingLevel;
    this.thinkingLevel = level;
    if (level !== previousLevel) void this.tell({ type: "thinking_level_select", level, previousLevel });
  }

  /** Runs `fn` when nothing else is exclusive; what is prompted meanwhile waits, and wakes the agent afterwards. */
  exclusive<T>(activity: Activity, fn: () => Promise<T>): Promise<T> {
    const perform = async () => {
      this.exclusiveActivity = activity;
      try {
        return await fn();
      } finally {
        this.exclusiveActivity = undefined;
        this.wake();
      }
    };
    const turn = this.exclusiveActivity ? this.exclusiveTail.then(perform) : perform();
    this.exclusiveTail = turn.catch(() => {});
    return offTheClock(() => turn);
  }

  /** Tells what an extension did wrong, or, when that very hook is at fault, leaves it to `fault` and the console. */
  report({ owner, event, error }: HookFault): void {
    if (event === "extension_error" || event === "fault") {
      this.host.ui.notify(`${owner.name} failed in its handler for ${event}: ${error.message}`, "error");
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
  }

  /** A message fit to be stored. Fails with `invalid_entry`. */
  toMessage(given: string | Message): Message {
    const message: Message =
      typeof given === "string" ? { role: "user", content: given, timestamp: Date.now() } : given;
    const problem = seal(message) ?? shapeProblem(message);
    if (problem) throw invalidEntry(problem);
    return message;
  }

  /** A projector that throws is reported, and its entry left out. */
  private projector(type: string): Projector | undefined {
    const registered = this.registries.of("projector").get(type);
    if (!registered) return undefined;
    const { owner, value } = registered;
    return (entry) => {
      try {
        return runAs(owner, () => value(entry));
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
