import type {
  Activity,
  AgentEvent,
  AgentState,
  Kind,
  MaybePromise,
  PromptSection,
  Registered,
  ServiceName,
  Undo,
} from "./contract.ts";
import { type Core, HOST_OWNER } from "./core.ts";
import type { Handler, HookName, HookPoints, Way } from "./hook-points.ts";
import type { Draft, Entry, Model, ThinkingLevel } from "./messages.ts";
import { renderSections } from "./prompt.ts";

/** What an agent hands on to its tables as it is: hooks, registries, the transcript, what is chosen. */
export class AgentTables {
  protected readonly core: Core;

  constructor(core: Core) {
    this.core = core;
  }

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

  exclusive<T>(activity: Activity, fn: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return this.core.exclusive(activity, fn);
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
