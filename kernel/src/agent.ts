/**
 * The agent: extensions, a transcript, and runs over it, one at a time.
 *
 *   idle ── input, run, continue ──► starting ──► running ──► settled ──► idle
 *                                                   ▲  └─ what was queued meanwhile starts the next run
 *                                  steer, followUp ─┘
 */
import { activateAll, type ScopeKeeper } from "./activation.ts";
import type {
  Activity,
  Agent,
  AgentEvent,
  AgentOptions,
  AgentState,
  ExtensionEntry,
  ExtensionReport,
  Host,
  Kind,
  LeakReport,
  MaybePromise,
  Outcome,
  PromptSection,
  Queue,
  Registered,
  ServiceName,
  Undo,
} from "./contract.ts";
import { Core, HOST_OWNER } from "./core.ts";
import { AgentError, toAgentError } from "./errors.ts";
import { enclose, offTheClock } from "./frames.ts";
import type { Handler, HookName, HookPoints, Way } from "./hook-points.ts";
import { type InputOptions, runCommand, toPrompt } from "./input.ts";
import { runLoop } from "./loop.ts";
import type { Draft, Entry, Image, Message, Model, ThinkingLevel } from "./messages.ts";
import { recordChoice, requireModel, restoreChoice } from "./model-choice.ts";
import { interruptedResult, messagesOf } from "./projection.ts";
import { preparePrompt, registerPreamble, renderSections } from "./prompt.ts";
import { ABANDONED, DEFAULT_GRACE_MS, Run } from "./run.ts";
import type { Scope } from "./scope.ts";
import { addUsage, emptyUsage } from "./tokens.ts";

/**
 * Makes an agent. Its extensions' factories start at once; `input` and `run` wait until they are done.
 * Owns nothing of the process: no signal handlers, no files.
 */
export function createAgent(options: AgentOptions = {}): Agent {
  return new LoopAgent(options);
}

/** A child's grace period, as a part of its parent's. */
const CHILD_GRACE = 0.8;

/** A prompt as the hooks before a run see it. */
interface Asked {
  text: string;
  images?: Image[];
}
interface Started {
  began: Promise<void>;
  outcome: Promise<Outcome>;
}

class LoopAgent implements Agent {
  private readonly core: Core;
  private scopes: readonly Scope[] = [];
  private readonly started: Promise<void>;
  private current: Promise<Outcome> | undefined;
  /** Prompts are taken one after the other, so that two never start a run together. */
  private intake: Promise<unknown> = Promise.resolve();
  private aborts = 0;
  /** Ends what waits to become a prompt. */
  private readonly door = new Set<() => void>();
  /** Extensions come and go one change after the other. */
  private changes: Promise<unknown> = Promise.resolve();
  private disposal: Promise<LeakReport> | undefined;
  private readonly onHostAbort = () => void this.abort("The host aborted.");

  constructor(options: AgentOptions, parent?: Core) {
    this.core = new Core(options, {
      parent,
      spawn: LoopAgent.spawn,
      wake: () => this.wake(),
      settled: () => this.settled(),
    });
    if (options.systemPrompt !== undefined) registerPreamble(this.core, options.systemPrompt);
    options.signal?.addEventListener("abort", this.onHostAbort, { once: true });
    this.started = this.extend((options.extensions ?? []).map(toEntry)).then(() => {
      restoreChoice(this.core);
      this.core.ownActivity = "idle";
    });
  }

  // ---------------------------------------------------------------- prompts

  async input(text: string, options: InputOptions = {}): Promise<"started" | "queued" | "handled"> {
    const { aborts } = this;
    await this.ready();
    if (await runCommand(this.core, text, () => this.settled())) return "handled";
    if (aborts !== this.aborts) throw this.disposal ? disposed() : abortedEarly();
    const accepted = this.atTheDoor(this.intake).then(() => this.accept(text, options));
    this.intake = accepted.catch(() => {});
    return accepted;
  }

  async run(text: string) {
    await this.ready();
    if (this.disposal) throw disposed();
    if (!this.isFree()) throw busy("run", this.core.activity);
    this.core.moveTo(null);
    const outcome = await this.start(() => [this.core.toMessage(text)], { text }).outcome;
    const messages = messagesOf(this.core.transcript.path());
    const answers = messages.filter((message) => message.role === "assistant");
    const last = answers.at(-1)?.content ?? [];
    const answer = last.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
    return {
      answer,
      outcome,
      usage: answers.map((each) => each.usage).reduce(addUsage, emptyUsage()),
      messages,
    };
  }

  async continue(): Promise<Outcome> {
    await this.ready();
    if (this.disposal) throw disposed();
    if (!this.isFree()) throw busy("continue", this.core.activity);
    const { transcript } = this.core;
    for (const call of transcript.openCalls) this.core.appendOne({ type: "message", message: interruptedResult(call) });
    const last = transcript.project().at(-1);
    if (!last || last.role === "assistant") {
      const why = last ? "the last message is the assistant's" : "there are no messages";
      throw new AgentError("cannot_continue", `There is nothing to continue from: ${why}.`, {
        hint: "Send a prompt instead.",
      });
    }
    return this.start(() => [], { text: "" }).outcome;
  }

  steer(message: string | Message): void {
    this.enqueue("steer", message);
  }

  followUp(message: string | Message): void {
    this.enqueue("followUp", message);
  }

  async abort(reason?: string): Promise<Queue> {
    const { core } = this;
    const queued = core.queue.clear();
    for (const giveUp of this.door) giveUp();
    this.aborts++;
    core.abortExclusive();
    core.abortChildren(reason);
    core.abortRun(reason);
    await this.current?.catch(() => {});
    // What came while it was aborting comes back as well.
    const late = core.queue.clear();
    return { steering: [...queued.steering, ...late.steering], followUp: [...queued.followUp, ...late.followUp] };
  }

  async settled(): Promise<void> {
    await this.ready();
    // What waits at the door may start a run yet.
    await this.intake.catch(() => {});
    while (this.current) {
      await this.current.catch(() => {});
      await this.intake.catch(() => {});
    }
  }

  get queue(): Queue {
    return this.core.queue.peek();
  }

  clearQueue(): Queue {
    return this.core.queue.clear();
  }

  // ---------------------------------------------------------------- hooks, registries, state

  on<N extends HookName>(event: N, listener: Handler<N>): Undo {
    return this.core.hooks.on(event, this.hostHandler(listener as never));
  }

  onWire(listener: (event: AgentEvent) => MaybePromise<void>): Undo {
    return this.core.hooks.onWire(this.hostHandler(listener as never));
  }

  async dispatch<N extends HookName>(
    name: N,
    event: HookPoints[N]["event"],
  ): Promise<HookPoints[N]["result"] | undefined> {
    return (await this.core.hooks.dispatch(this.core.hooks.point(name), event as object)) as HookPoints[N]["result"];
  }

  declareHook(name: string, options: { way: Way; wire?: boolean; onFault?: "refuse" | "continue" }): Undo {
    return this.core.hooks.declare(name, options);
  }

  get state(): AgentState {
    const { activity, run, model, thinkingLevel, limits, systemPrompt } = this.core;
    const activeTools = [...this.core.loadout().tools.keys()];
    return {
      activity,
      runId: run?.id,
      turnIndex: run?.turnIndex,
      model,
      thinkingLevel,
      limits,
      systemPrompt,
      activeTools,
    };
  }

  get sessionId(): string {
    return this.core.sessionId;
  }

  get transcript() {
    return this.core.transcript.view;
  }

  registry<K extends Kind>(kind: K): ReadonlyMap<string, Registered<K>> {
    return this.core.registries.of(kind);
  }

  service<N extends ServiceName>(name: N) {
    return this.core.service(name);
  }

  append(drafts: readonly Draft[]): readonly Entry[] {
    return this.core.append(drafts);
  }

  setModel(model: Model, source?: "set" | "cycle"): Promise<boolean> {
    return this.core.setModel(model, source);
  }

  setThinkingLevel(level: ThinkingLevel): void {
    this.core.setThinkingLevel(level);
  }

  setActiveTools(names: string[]): void {
    this.core.setActiveTools(names);
  }

  promptSections(): Promise<PromptSection[]> {
    return renderSections(this.core);
  }

  open(session: { id: string; entries: readonly Entry[] }): void {
    if (this.current) throw busy("open", this.core.activity);
    this.core.sessionId = session.id;
    this.core.transcript.load(session.entries);
    restoreChoice(this.core);
  }

  exclusive<T>(activity: Activity, fn: () => Promise<T>): Promise<T> {
    return this.core.exclusive(activity, fn);
  }

  moveTo(entryId: string | null): void {
    if (this.current) throw busy("move to another entry", this.core.activity);
    this.core.moveTo(entryId);
  }

  // ---------------------------------------------------------------- extensions

  get extensions(): readonly ExtensionReport[] {
    return this.scopes.map(({ account }) => account);
  }

  ready(): Promise<void> {
    return this.started;
  }

  extend(entries: readonly ExtensionEntry[], options: { replace?: boolean } = {}): Promise<ExtensionReport[]> {
    const { replace = false } = options;
    if (this.disposal) return Promise.reject(disposed());
    const change = this.changes.then(() =>
      activateAll(this.core, entries, { agent: this, scopes: this.keeper, replace }),
    );
    this.changes = change.catch(() => {});
    return change;
  }

  async unload(ownerName: string): Promise<LeakReport> {
    return this.endScopes(this.scopes.filter(({ owner }) => owner.name === ownerName));
  }

  dispose(): Promise<LeakReport> {
    this.disposal ??= (async () => {
      await this.started;
      this.core.options.signal?.removeEventListener("abort", this.onHostAbort);
      await this.abort("The agent is being disposed of.");
      await this.changes;
      await this.core.disposeChildren();
      await this.core.tell({ type: "session_shutdown", reason: "quit" });
      await this.core.flush("dispose");
      return this.endScopes(this.scopes);
    })();
    return this.disposal;
  }

  // ---------------------------------------------------------------- inside

  /** Makes a child: its parent's limits and signal, and its parent's providers where it brings none (E8). */
  private static spawn(this: void, parent: Core, options: AgentOptions): Agent {
    const signals = [parent.run?.signal, options.signal].filter((signal) => signal !== undefined);
    const child = new LoopAgent(
      {
        model: parent.model,
        // It gives up first, so that who waits for it is not given up with it.
        graceMs: CHILD_GRACE * (parent.options.graceMs ?? DEFAULT_GRACE_MS),
        ...options,
        signal: signals.length > 0 ? AbortSignal.any(signals) : undefined,
        host: Object.assign(Object.create(parent.host) as Partial<Host>, options.host),
      },
      parent,
    );
    for (const kind of ["api", "provider"] as const) {
      for (const { name, value, owner } of parent.registries.of(kind).values()) {
        child.core.registries.add(kind, name, { value, owner: { ...owner, scope: "inherited" }, order: 0 });
      }
    }
    return child;
  }

  private async accept(text: string, options: InputOptions): Promise<"started" | "queued" | "handled"> {
    const prompt = await this.atTheDoor(toPrompt(this.core, text, options));
    if (!prompt) return "handled";
    // Nothing enters a run that is being aborted.
    while (this.core.run?.isAborted) await this.current?.catch(() => {});
    if (this.disposal) throw disposed();
    if (!this.isFree()) {
      this.core.queue.add(options.whileRunning ?? "steer", prompt.message);
      return "queued";
    }
    await this.start(() => [prompt.message], prompt).began;
    return "started";
  }

  /** Waits for a prompt on its way in; an abort ends that with `aborted`. */
  private atTheDoor<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const giveUp = () => reject(this.disposal ? disposed() : abortedEarly());
      this.door.add(giveUp);
      work.then(resolve, reject).finally(() => this.door.delete(giveUp));
    });
  }

  private isFree(): boolean {
    return this.current === undefined && this.core.activity === "idle";
  }

  private enqueue(kind: "steer" | "followUp", given: string | Message): void {
    this.core.queue.add(kind, this.core.toMessage(given));
    this.wake();
  }

  /** Starts a run when something waits and nothing runs. Without a model it goes on waiting, and says so. */
  private wake(): void {
    this.intake = this.intake.then(() => this.startQueued()).catch((thrown: unknown) => this.reportRun(thrown));
  }

  private async startQueued(): Promise<void> {
    await this.ready();
    const { queue } = this.core;
    if (!this.isFree() || !queue.isDue || this.disposal) return;
    const takeQueued = () => {
      const steering = queue.takeSteering();
      return steering.length > 0 ? steering : queue.takeFollowUp();
    };
    await this.start(takeQueued, { text: "" }).began;
  }

  /**
   * Starts a run; what enters it is taken once there is a model and a key, for which `began` waits. What fails before is
   * told to the caller, and what fails later is reported as well.
   */
  private start(entering: () => Message[], asked: Asked): Started {
    const { core } = this;
    const run = new Run(core.options.graceMs, () => core.hooks.deadlines.abandon());
    core.run = run;
    core.ownActivity = "running";
    core.queue.release();
    core.parent?.runningChildren.add(this);
    core.hooks.deadlines.beginRun();
    if (core.options.signal?.aborted) run.abort("The host aborted.");
    const settle = (outcome: Outcome) => {
      run.end();
      core.hooks.deadlines.endRun();
      core.run = undefined;
      core.ownActivity = "idle";
      this.current = undefined;
      core.parent?.runningChildren.delete(this);
      if (outcome !== "done" && outcome !== "stopped") core.queue.hold();
      this.wake();
      return outcome;
    };
    const began = enclose(() => this.begin(run));
    const outcome = enclose(async () => {
      await began;
      return this.perform(run, entering(), asked);
    }).then(settle, (thrown: unknown) => {
      settle("error");
      throw thrown;
    });
    this.current = outcome;
    const hasBegun = began.then(
      () => true,
      () => false,
    );
    outcome.catch(async (thrown: unknown) => (await hasBegun) && this.reportRun(thrown));
    return { began, outcome };
  }

  /** Makes sure of a model and a key. Whoever is aborted while a key is looked for still has their prompt stored. */
  private async begin(run: Run): Promise<void> {
    this.core.hooks.tellUnheard();
    const model = await run.bounded(requireModel(this.core));
    if (model !== ABANDONED || this.core.model) return;
    throw new AgentError("aborted", "The run was aborted before a model was found.", { hint: "Prompt again." });
  }

  private reportRun(thrown: unknown): void {
    this.core.report({ owner: HOST_OWNER, event: "run", error: toAgentError(thrown) });
  }

  private async perform(run: Run, entering: Message[], asked: Asked): Promise<Outcome> {
    const { core } = this;
    let outcome: Outcome = "error";
    try {
      recordChoice(core, core.model!);
      const asides = core.queue.takeNextTurn();
      const added = await preparePrompt(core, run, asked);
      outcome = await runLoop(core, run, [...entering, ...asides, ...added]);
    } finally {
      await core.flush("settled");
      await core.tell({ type: "agent_settled", runId: run.id, outcome, aborted: run.isAborted });
    }
    return outcome;
  }

  private readonly keeper: ScopeKeeper = {
    orderAfter: (before) => this.orderAfter(before),
    find: (ownerName) => this.scopes.find((scope) => scope.isActive && scope.owner.name === ownerName),
    keep: (scope) => {
      const { name } = scope.owner;
      const at = this.scopes.findIndex(
        (each) => each.order === scope.order || (!each.isActive && each.owner.name === name),
      );
      this.scopes = at < 0 ? [...this.scopes, scope] : this.scopes.with(at, scope);
    },
    end: (scope) => this.endScope(scope),
  };

  /** A place in the load order: after everything, or right after a scope. */
  private orderAfter(before: Scope | undefined): number {
    const orders = this.scopes.map(({ order }) => order);
    const last = Math.max(0, ...orders);
    const from = before?.order ?? last;
    const next = Math.min(...orders.filter((order) => order > from));
    return Number.isFinite(next) ? (from + next) / 2 : from + 1;
  }

  private async endScope(scope: Scope): Promise<LeakReport["leaks"]> {
    this.core.forget(scope.owner);
    const failures = await offTheClock(() => scope.dispose());
    return failures.map((failure) => ({ owner: scope.owner.name, what: toAgentError(failure).message }));
  }

  private async endScopes(scopes: readonly Scope[]): Promise<LeakReport> {
    this.scopes = this.scopes.filter((scope) => !scopes.includes(scope));
    const leaks: LeakReport["leaks"] = [];
    for (const scope of scopes.toReversed()) leaks.push(...(await this.endScope(scope)));
    return { leaks };
  }

  private hostHandler(handler: (event: unknown) => unknown) {
    return {
      owner: HOST_OWNER,
      order: Number.POSITIVE_INFINITY,
      handler,
      context: this.core.contextOf(HOST_OWNER),
    };
  }
}

function toEntry(given: NonNullable<AgentOptions["extensions"]>[number], index: number): ExtensionEntry {
  if (typeof given === "object" && "extension" in given) return given;
  const [extension, options] = Array.isArray(given) ? given : [given];
  return { extension, options, owner: { name: extension.name || `extension ${index + 1}`, scope: "inline" } };
}

function abortedEarly(): AgentError {
  return new AgentError("aborted", "The prompt was aborted before its run began.", { hint: "Send it again." });
}

function disposed(): AgentError {
  return new AgentError("disposed", "This agent was disposed of.", { hint: "Make another one." });
}

function busy(action: string, activity: Activity): AgentError {
  return new AgentError("busy", `Cannot ${action}: the agent is ${activity}.`, {
    hint: "Wait for agent.settled(), or use steer() or followUp().",
  });
}
