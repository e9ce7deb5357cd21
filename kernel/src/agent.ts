/**
 * The agent: extensions, a transcript, and runs over it, one at a time.
 *
 *   idle ── input, run, continue ──► starting ──► running ──► settled ──► idle
 *                                                   ▲  └─ what was queued meanwhile starts the next run
 *                                  steer, followUp ─┘
 */
import { activateAll } from "./activation.ts";
import type {
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
import type { Handler, HookName, HookPoints, Way } from "./hook-points.ts";
import { offTheClock } from "./hooks.ts";
import { type InputOptions, runCommand, toPrompt } from "./input.ts";
import { runLoop } from "./loop.ts";
import type { Draft, Entry, Image, Message, Model, ThinkingLevel } from "./messages.ts";
import { recordChoice, requireModel, restoreChoice } from "./model-choice.ts";
import { danglingCalls, interruptedResult, messagesOf } from "./projection.ts";
import { preparePrompt, registerPreamble, renderSections } from "./prompt.ts";
import { Run } from "./run.ts";
import type { Scope } from "./scope.ts";
import { addUsage, emptyUsage } from "./tokens.ts";

/**
 * Makes an agent. Its extensions' factories start at once; `input` and `run` wait until they are done.
 * Owns nothing of the process: no signal handlers, no files.
 */
export function createAgent(options: AgentOptions = {}): Agent {
  return new LoopAgent(options);
}

class LoopAgent implements Agent {
  private readonly core: Core;
  private readonly scopes: Scope[] = [];
  private readonly reports: ExtensionReport[] = [];
  private order = 0;
  private readonly started: Promise<void>;
  private current: Promise<Outcome> | undefined;
  /** Prompts are taken one after the other, so that two never start a run together. */
  private intake: Promise<unknown> = Promise.resolve();
  private disposal: Promise<LeakReport> | undefined;
  private readonly onHostAbort = () => void this.abort("The host aborted.");

  constructor(options: AgentOptions) {
    this.core = new Core(options, { spawn, wake: () => this.wake() });
    if (options.systemPrompt !== undefined) registerPreamble(this.core, options.systemPrompt);
    options.signal?.addEventListener("abort", this.onHostAbort, { once: true });
    this.started = this.extend((options.extensions ?? []).map(toEntry)).then(() => {
      restoreChoice(this.core);
      this.core.activity = "idle";
    });
  }

  // ---------------------------------------------------------------- prompts

  async input(text: string, options: InputOptions = {}): Promise<"started" | "queued" | "handled"> {
    await this.ready();
    if (await runCommand(this.core, text, () => this.settled())) return "handled";
    const accepted = this.intake.then(() => this.accept(text, options));
    this.intake = accepted.catch(() => {});
    return accepted;
  }

  async run(text: string) {
    await this.ready();
    if (this.current) throw busy("run");
    this.core.transcript.moveTo(null);
    this.core.recorded = undefined;
    const outcome = await this.start([this.core.toMessage(text)], { text });
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
    if (this.current) throw busy("continue");
    const { transcript } = this.core;
    for (const call of danglingCalls(transcript.path()))
      this.core.appendOne({ type: "message", message: interruptedResult(call) });
    const last = transcript.project().at(-1);
    if (!last || last.role === "assistant") {
      const why = last ? "the last message is the assistant's" : "there are no messages";
      throw new AgentError("cannot_continue", `There is nothing to continue from: ${why}.`, {
        hint: "Send a prompt instead.",
      });
    }
    return this.start([], { text: "" });
  }

  steer(message: string | Message): void {
    this.enqueue("steer", message);
  }

  followUp(message: string | Message): void {
    this.enqueue("followUp", message);
  }

  async abort(reason?: string): Promise<Queue> {
    const queue = this.core.queue.clear();
    this.core.run?.abort(reason);
    await this.current?.catch(() => {});
    return queue;
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
    return this.core.transcript;
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

  setModel(model: Model): Promise<boolean> {
    return this.core.setModel(model);
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
    if (this.current) throw busy("open");
    this.core.sessionId = session.id;
    this.core.transcript.load(session.entries);
    restoreChoice(this.core);
  }

  // ---------------------------------------------------------------- extensions

  get extensions(): readonly ExtensionReport[] {
    return this.reports;
  }

  ready(): Promise<void> {
    return this.started;
  }

  extend(entries: readonly ExtensionEntry[]): Promise<ExtensionReport[]> {
    return activateAll(this.core, entries, {
      agent: this,
      nextOrder: () => ++this.order,
      onActivated: ({ scope, report }) => {
        this.reports.push(report);
        if (scope.isActive) this.scopes.push(scope);
      },
    });
  }

  async unload(ownerName: string): Promise<LeakReport> {
    return this.disposeScopes(this.scopes.filter(({ owner }) => owner.name === ownerName));
  }

  dispose(): Promise<LeakReport> {
    this.disposal ??= (async () => {
      await this.started;
      this.core.options.signal?.removeEventListener("abort", this.onHostAbort);
      await this.abort("The agent is being disposed of.");
      await this.core.tell({ type: "session_shutdown", reason: "quit" });
      await this.core.flush("dispose");
      return this.disposeScopes([...this.scopes]);
    })();
    return this.disposal;
  }

  // ---------------------------------------------------------------- inside

  private async accept(text: string, options: InputOptions): Promise<"started" | "queued" | "handled"> {
    if (this.disposal) throw new AgentError("disposed", "This agent was disposed of.", { hint: "Make another one." });
    const prompt = await toPrompt(this.core, text, options);
    if (!prompt) return "handled";
    if (this.isFree()) await requireModel(this.core);
    // Looking for a key takes its time, in which somebody else may have started a run.
    if (!this.isFree()) {
      this.core.queue.add(options.whileRunning ?? "steer", prompt.message);
      return "queued";
    }
    void this.start([prompt.message], prompt).catch(() => {});
    return "started";
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
    if (!this.isFree() || queue.isEmpty || this.disposal) return;
    await requireModel(this.core);
    if (!this.isFree() || queue.isEmpty) return;
    const steering = queue.takeSteering();
    void this.start(steering.length > 0 ? steering : queue.takeFollowUp(), { text: "" }).catch(() => {});
  }

  /** Starts a run. Its failure is reported here, and again to whoever waits for it. */
  private start(entering: Message[], prompt: { text: string; images?: Image[] }): Promise<Outcome> {
    const { core } = this;
    const run = new Run(core.options.graceMs, () => core.hooks.expireAll());
    core.run = run;
    core.activity = "running";
    if (core.options.signal?.aborted) run.abort("The host aborted.");
    const done = () => {
      run.end();
      core.run = undefined;
      core.activity = "idle";
      this.current = undefined;
      this.wake();
    };
    this.current = this.perform(run, entering, prompt).finally(done);
    this.current.catch((thrown: unknown) => this.reportRun(thrown));
    return this.current;
  }

  private reportRun(thrown: unknown): void {
    this.core.report({ owner: HOST_OWNER, event: "run", error: toAgentError(thrown) });
  }

  private async perform(run: Run, entering: Message[], prompt: { text: string; images?: Image[] }): Promise<Outcome> {
    const { core } = this;
    recordChoice(core, await requireModel(core));
    const asides = core.queue.takeNextTurn();
    const added = await preparePrompt(core, { prompt: prompt.text, images: prompt.images });
    let outcome: Outcome = "error";
    try {
      outcome = await runLoop(core, run, [...entering, ...asides, ...added]);
    } finally {
      await core.flush("settled");
      await core.tell({ type: "agent_settled", runId: run.id, outcome, aborted: run.isAborted });
    }
    return outcome;
  }

  private async disposeScopes(scopes: readonly Scope[]): Promise<LeakReport> {
    const leaks: LeakReport["leaks"] = [];
    for (const scope of scopes.toReversed()) {
      this.scopes.splice(this.scopes.indexOf(scope), 1);
      const failures = await offTheClock(() => scope.dispose());
      for (const failure of failures) leaks.push({ owner: scope.owner.name, what: toAgentError(failure).message });
    }
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

/** Makes a child: its parent's limits and signal, and its parent's providers where it brings none. */
function spawn(parent: Core, options: AgentOptions): Agent {
  const { limits } = parent;
  const inherited: ExtensionEntry = {
    owner: { name: "parent", scope: "inline" },
    extension: (pi) => {
      for (const kind of ["api", "provider"] as const) {
        for (const { name, value } of parent.registries.of(kind).values()) pi.register(kind, name, value as never);
      }
      for (const limit of limits) pi.limitEffects(limit);
    },
  };
  return createAgent({
    model: parent.model,
    signal: parent.run?.signal,
    ...options,
    host: Object.assign(Object.create(parent.host) as Partial<Host>, options.host),
    extensions: [inherited, ...(options.extensions ?? [])],
  });
}

function toEntry(given: NonNullable<AgentOptions["extensions"]>[number], index: number): ExtensionEntry {
  if (typeof given === "object" && "extension" in given) return given;
  const [extension, options] = Array.isArray(given) ? given : [given];
  return { extension, options, owner: { name: extension.name || `extension ${index + 1}`, scope: "inline" } };
}

function busy(action: string): AgentError {
  return new AgentError("busy", `Cannot ${action}: a run is going on.`, {
    hint: "Wait for agent.settled(), or use steer() or followUp().",
  });
}
