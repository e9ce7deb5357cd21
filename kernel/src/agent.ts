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
import { createCommandContext } from "./context.ts";
import { Core, HOST_OWNER } from "./core.ts";
import { AgentError, toAgentError } from "./errors.ts";
import type { Handler, HookName, HookPoints, HookResult, Way } from "./hook-points.ts";
import { FAULT, offTheClock, runAs } from "./hooks.ts";
import { runLoop } from "./loop.ts";
import type { Draft, Entry, Image, Message, Model, ThinkingLevel, UserContent } from "./messages.ts";
import { danglingCalls, interruptedResult } from "./projection.ts";
import { joinSections, patch, type Recorded, registerPreamble, renderSections, replay } from "./prompt.ts";
import { Run } from "./run.ts";
import type { Scope } from "./scope.ts";
import { addUsage, emptyUsage } from "./tokens.ts";
import { isRecord } from "./values.ts";

type InputOptions = NonNullable<Parameters<Agent["input"]>[1]>;

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
  private recorded: Recorded | undefined;
  private readonly started: Promise<void>;
  private current: Promise<Outcome> | undefined;
  /** Prompts are taken one after the other, so that two never start a run together. */
  private intake: Promise<unknown> = Promise.resolve();
  private disposal: Promise<LeakReport> | undefined;

  constructor(options: AgentOptions) {
    this.core = new Core(options, { spawn, wake: () => this.wake() });
    if (options.systemPrompt !== undefined) registerPreamble(this.core, options.systemPrompt);
    const onAbort = () => void this.abort("The host aborted.");
    options.signal?.addEventListener("abort", onAbort, { once: true });
    this.started = this.extend((options.extensions ?? []).map(toEntry)).then(() => {
      this.restore();
      this.core.activity = "idle";
    });
  }

  // ---------------------------------------------------------------- prompts

  async input(text: string, options: InputOptions = {}): Promise<"started" | "queued" | "handled"> {
    await this.ready();
    if (await this.command(text)) return "handled";
    const accepted = this.intake.then(() => this.accept(text, options));
    this.intake = accepted.catch(() => {});
    return accepted;
  }

  async run(text: string) {
    await this.ready();
    if (this.current) throw busy("run");
    this.core.transcript.moveTo(null);
    this.recorded = undefined;
    const outcome = await this.start({ entering: [this.core.toMessage(text)], prompt: text });
    const messages = this.core.transcript
      .path()
      .flatMap((entry) => (entry.type === "message" ? [entry.message as Message] : []));
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
    return this.start({ entering: [], prompt: "" });
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
    while (this.current) await this.current.catch(() => {});
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
    return (await this.core.hooks.dispatch(
      this.core.hooks.point(name),
      event as object,
    )) as HookPoints[N]["result"];
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
    this.restore();
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
      await this.abort("The agent is being disposed of.");
      await this.core.tell({ type: "session_shutdown", reason: "quit" });
      await this.core.flush("dispose");
      return this.disposeScopes([...this.scopes]);
    })();
    return this.disposal;
  }

  // ---------------------------------------------------------------- inside

  /** Runs `/name args` when a command of that name has a handler. */
  private async command(text: string): Promise<boolean> {
    const { command, args } = this.commandIn(text);
    if (!command?.value.handler) return false;
    const context = createCommandContext(this.core, this.core.contextOf(command.owner), () => this.settled());
    try {
      await runAs(command.owner, () => command.value.handler!(args, context));
    } catch (thrown) {
      this.core.report({
        owner: command.owner,
        event: `command:${command.name}`,
        error: toAgentError(thrown, command.owner.name),
      });
    }
    return true;
  }

  private commandIn(text: string): { command?: Registered<"command">; args: string } {
    const match = /^\/(\S+)\s*([\s\S]*)$/.exec(text);
    return {
      command: match ? this.registry("command").get(match[1]!) : undefined,
      args: match?.[2]?.trim() ?? "",
    };
  }

  private async accept(given: string, options: InputOptions): Promise<"started" | "queued" | "handled"> {
    if (this.disposal)
      throw new AgentError("disposed", "This agent was disposed of.", { hint: "Make another one." });
    const input = await this.transformed(given, options);
    if (!input) return "handled";
    const { command, args } = this.commandIn(input.text);
    const text = command?.value.expand
      ? await runAs(command.owner, () => command.value.expand!(args))
      : input.text;
    const content: UserContent = input.images?.length ? [{ type: "text", text }, ...input.images] : text;
    const message = this.core.toMessage({ role: "user", content, timestamp: Date.now() });
    if (this.current || this.core.activity !== "idle") {
      this.core.queue.add(options.whileRunning ?? "steer", message);
      return "queued";
    }
    await this.requireModel();
    void this.start({ entering: [message], prompt: text, images: input.images }).catch(() => {});
    return "started";
  }

  /** What the `input` hooks made of a prompt; nothing when one of them handled it. */
  private async transformed(
    text: string,
    options: InputOptions,
  ): Promise<{ text: string; images?: Image[] } | undefined> {
    const event = {
      type: "input",
      text,
      images: options.images,
      source: options.source ?? "interactive",
      whileRunning: options.whileRunning,
    };
    let isHandled = false;
    await this.core.hooks.ask(this.core.hooks.at.input, event, (answer) => {
      if (answer === FAULT || !isRecord(answer)) return false;
      const result = answer as unknown as HookResult<"input">;
      if (result.action === "transform")
        Object.assign(event, { text: result.text, images: result.images ?? event.images });
      isHandled = result.action === "handled";
      return isHandled;
    });
    return isHandled ? undefined : event;
  }

  private enqueue(kind: "steer" | "followUp", given: string | Message): void {
    this.core.queue.add(kind, this.core.toMessage(given));
    this.wake();
  }

  /** Starts a run when something waits and nothing runs. */
  private wake(): void {
    this.intake = this.intake.then(async () => {
      await this.ready();
      if (this.current || this.core.activity !== "idle" || this.core.queue.isEmpty || this.disposal) return;
      const steering = this.core.queue.takeSteering();
      const entering = steering.length > 0 ? steering : this.core.queue.takeFollowUp();
      void this.start({ entering, prompt: "" }).catch(() => {});
    });
  }

  private start(first: { entering: Message[]; prompt: string; images?: Image[] }): Promise<Outcome> {
    const { core } = this;
    const run = new Run(core.options.graceMs, () => core.hooks.expireAll());
    core.run = run;
    core.activity = "running";
    this.current = this.perform(run, first).finally(() => {
      run.end();
      core.run = undefined;
      core.activity = "idle";
      this.current = undefined;
      this.wake();
    });
    return this.current;
  }

  private async perform(
    run: Run,
    first: { entering: Message[]; prompt: string; images?: Image[] },
  ): Promise<Outcome> {
    const { core } = this;
    await this.requireModel();
    const asides = [...core.queue.takeNextTurn(), ...(await this.prepare(first))];
    let outcome: Outcome = "error";
    try {
      outcome = await runLoop(core, run, [...first.entering, ...asides]);
    } finally {
      await core.flush("settled");
      await core.tell({ type: "agent_settled", runId: run.id, outcome, aborted: run.isAborted });
    }
    return outcome;
  }

  /** Renders the prompt, records what the branch does not know yet, and answers what the handlers add. */
  private async prepare({ prompt, images }: { prompt: string; images?: Image[] }): Promise<Message[]> {
    const { core } = this;
    const sections = await renderSections(core);
    let systemPrompt = joinSections(sections);
    const event = { type: "before_agent_start", prompt, images, systemPrompt };
    const added: Message[] = [];
    await core.hooks.ask(core.hooks.at.before_agent_start, event, (answer) => {
      if (answer === FAULT || !isRecord(answer)) return;
      const result = answer as HookResult<"before_agent_start">;
      if (result.message)
        added.push(core.toMessage({ role: "custom", ...result.message, timestamp: Date.now() }));
      if (result.systemPrompt !== undefined) event.systemPrompt = systemPrompt = result.systemPrompt;
    });
    core.systemPrompt = systemPrompt;
    this.record(sections);
    return added;
  }

  private record(sections: readonly PromptSection[]): void {
    const { core } = this;
    const model = core.model!;
    const before = lastChoice(core.transcript.leafId === null ? [] : core.transcript.path());
    if (before.provider !== model.provider || before.modelId !== model.id) {
      core.appendOne({ type: "model_change", provider: model.provider, modelId: model.id });
    }
    if (before.thinkingLevel !== core.thinkingLevel) {
      core.appendOne({ type: "thinking_level_change", thinkingLevel: core.thinkingLevel });
    }
    this.recorded ??= replay(core.transcript.path());
    const message = patch(this.recorded, sections, core.loadout());
    if (message) core.appendOne({ type: "message", message });
  }

  /** Takes model, thinking level and tool names from the branch, as far as they are to be had here. */
  private restore(): void {
    const { core } = this;
    const path = core.transcript.path();
    this.recorded = undefined;
    if (path.length === 0) return;
    const { provider, modelId, thinkingLevel } = lastChoice(path);
    const model = provider && modelId ? this.findModel(`${provider}/${modelId}`) : undefined;
    if (model && !core.options.model) core.model = model;
    if (thinkingLevel && !core.options.thinkingLevel) core.thinkingLevel = thinkingLevel;
    const { tools } = replay(path);
    if (tools.size > 0 && !core.options.activeTools) {
      const names = [...tools.keys()].filter((name) => this.registry("tool").has(name));
      const unheard = [...core.loadout().tools.keys()].filter((name) => !tools.has(name));
      core.setActiveTools([...names, ...unheard]);
    }
  }

  /** Makes sure of a model and a key for it. Fails with `no_model`, `unknown_model`, `no_key`. */
  private async requireModel(): Promise<void> {
    const { core } = this;
    const { model: wanted } = core.options;
    core.model ??=
      typeof wanted === "string" ? this.modelNamed(wanted) : (wanted ?? (await this.firstUsableModel()));
    await core.host.credentials.resolve(core.model.provider);
  }

  private modelNamed(reference: string): Model {
    if (this.core.host.models) return this.core.host.models.resolve(reference).model;
    const model = this.findModel(reference);
    if (model) return model;
    throw new AgentError("unknown_model", `There is no model ${reference}.`, {
      hint: `Known are: ${
        this.models()
          .map(({ provider, id }) => `${provider}/${id}`)
          .join(", ") || "none; load a provider package"
      }.`,
    });
  }

  private findModel(reference: string): Model | undefined {
    const models = this.core.host.models?.list() ?? this.models();
    return models.find(({ provider, id }) => reference === `${provider}/${id}` || reference === id);
  }

  private models(): Model[] {
    return [...this.registry("provider").values()].flatMap(({ value }) => value.models);
  }

  private async firstUsableModel(): Promise<Model> {
    let failure: unknown;
    for (const { value } of this.registry("provider").values()) {
      try {
        if (value.models.length === 0) continue;
        await this.core.host.credentials.resolve(value.id);
        return value.models[0]!;
      } catch (thrown) {
        failure ??= thrown;
      }
    }
    throw (
      failure ??
      new AgentError("no_model", "No model is chosen and no provider is loaded.", {
        hint: 'Load a provider package, such as @pi-agent/anthropic, and name a model: createAgent({ model: "provider/id" }).',
      })
    );
  }

  private async disposeScopes(scopes: readonly Scope[]): Promise<LeakReport> {
    const leaks: LeakReport["leaks"] = [];
    for (const scope of scopes.toReversed()) {
      this.scopes.splice(this.scopes.indexOf(scope), 1);
      const failures = await offTheClock(() => scope.dispose());
      for (const failure of failures)
        leaks.push({ owner: scope.owner.name, what: toAgentError(failure).message });
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
        for (const { name, value } of parent.registries.of(kind).values())
          pi.register(kind, name, value as never);
      }
      for (const limit of limits) pi.limitEffects(limit);
    },
  };
  return createAgent({
    model: parent.model,
    signal: parent.run?.signal,
    ...options,
    host: { ...parent.host, ...options.host },
    extensions: [inherited, ...(options.extensions ?? [])],
  });
}

function toEntry(given: NonNullable<AgentOptions["extensions"]>[number], index: number): ExtensionEntry {
  if (typeof given === "object" && "extension" in given) return given;
  const [extension, options] = Array.isArray(given) ? given : [given];
  return { extension, options, owner: { name: extension.name || `extension ${index + 1}`, scope: "inline" } };
}

/** The model and the thinking level that a branch stands at. */
function lastChoice(path: readonly Entry[]): {
  provider?: string;
  modelId?: string;
  thinkingLevel?: ThinkingLevel;
} {
  const choice: { provider?: string; modelId?: string; thinkingLevel?: ThinkingLevel } = {};
  for (let i = path.length - 1; i >= 0 && !(choice.provider && choice.thinkingLevel); i--) {
    const entry = path[i]!;
    if (entry.type === "thinking_level_change") choice.thinkingLevel ??= entry.thinkingLevel;
    if (choice.provider) continue;
    if (entry.type === "model_change")
      Object.assign(choice, { provider: entry.provider, modelId: entry.modelId });
    else if (entry.type === "message" && entry.message.role === "assistant") {
      Object.assign(choice, { provider: entry.message.provider, modelId: entry.message.model });
    }
  }
  return choice;
}

function busy(action: string): AgentError {
  return new AgentError("busy", `Cannot ${action}: a run is going on.`, {
    hint: "Wait for agent.settled(), or use steer() or followUp().",
  });
}
