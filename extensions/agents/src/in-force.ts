/**
 * Which agent is in force, and how one takes the place of another.
 *
 *   use ── file read, names looked up ──► faulty: an error, and nothing has changed
 *             └──► model and thinking ──► tools held ──► its prompt and skills offered ──► in force
 *
 * 1. One change at a time, and each wholly or not at all.
 * 2. Rights only ever grow because a person names an agent or `off`: one that is gone leaves its limits behind.
 */
import type { AgentError, Context, ExtensionAPI, Resource, Services, Undo } from "@pi-agent/kernel";
import { OFF } from "./agent-file.ts";
import { listAgents } from "./catalog.ts";
import { Choice } from "./choice.ts";
import { type AgentSummary, findAgent, planOf, summarizeAgents } from "./lookup.ts";
import { offerResources } from "./offered.ts";
import type { AgentPlan } from "./plan.ts";
import type { SessionRecord } from "./session-record.ts";
import { ToolHold } from "./tool-hold.ts";
import { wordChanged, wordGone, wordKept, wordRestored } from "./words.ts";

export interface UseOptions {
  /** Leaves model and thinking level as they are: somebody chooses others. */
  keepsModel?: boolean;
}

export class AgentInForce {
  private readonly pi: ExtensionAPI;
  private readonly choice: Choice;
  private readonly tools: ToolHold;
  private current: { plan: AgentPlan; isGone: boolean } | undefined;
  private changes: Promise<unknown> = Promise.resolve();
  /** What is registered while an agent is in force. */
  private undos: Undo[] = [];
  private refusal: Undo | undefined;
  /** Whether anybody has named an agent, or `off`. */
  wasNamed = false;
  /** Whether it ever was another than none: else no session need be told that none is. */
  wasChanged = false;
  /** The resources as they are without an agent. */
  private below: Services["resources"] | undefined;
  /** The context of whatever was told last: it tells how things are now. */
  context: Context | undefined;

  constructor(pi: ExtensionAPI) {
    this.pi = pi;
    this.choice = new Choice(pi);
    this.tools = new ToolHold(pi);
  }

  /** The agent as it is in force, or what is left of it. */
  get plan(): AgentPlan | undefined {
    return this.current?.plan;
  }

  get isGone(): boolean {
    return this.current?.isGone === true;
  }

  /** Its name; absent when it is gone. */
  get name(): string | undefined {
    return this.isGone ? undefined : this.plan?.file.name;
  }

  get record(): SessionRecord {
    if (!this.plan) return { name: null };
    const { file, allowed } = this.plan;
    return { name: file.name, scope: file.scope, tools: allowed && [...allowed], usual: this.tools.usual };
  }

  list(): AgentSummary[] {
    return summarizeAgents(this.pi, this.skills);
  }

  /** Puts an agent in force, or none for `off`. Fails with `unknown_agent`, `agent_file`, `no_key`; then all stays. */
  use(name: string, { keepsModel = false }: UseOptions = {}): Promise<void> {
    this.wasNamed = true;
    return this.alone(async () => {
      const plan = name === OFF ? undefined : planOf(this.pi, findAgent(this.pi, name), this.skills);
      if (plan) await this.choice.take(keepsModel ? {} : plan);
      if (plan) this.put(plan);
      else await this.end();
      this.wasChanged = true;
      await this.refusal?.();
    });
  }

  /** Goes on with the agent of a session, or is held to what it was held to where that cannot be. */
  restore(record: SessionRecord & { name: string }, ctx: Context): Promise<void> {
    return this.alone(() => {
      const { name, scope = "user", tools: allowed = this.plan?.allowed, usual } = record;
      let fault: AgentError | undefined;
      try {
        const resource = this.find(name, scope);
        if (resource) {
          const plan = planOf(this.pi, resource, this.skills);
          this.put(plan, { usual });
          return ctx.ui.notify(wordRestored(plan), "info");
        }
      } catch (thrown) {
        fault = thrown as AgentError;
      }
      const left: AgentPlan = { file: { name, path: "", scope, prompt: "" }, allowed };
      if (allowed) this.put(left, { usual, isGone: true });
      ctx.ui.notify(wordGone(left, fault), "warning");
    });
  }

  /** Looks at the file of the agent anew. One that is faulty by now stays as it was; one that is gone leaves its limits. */
  renew(ctx: Context): Promise<void> {
    return this.alone(async () => {
      if (!this.current) return;
      const { plan, isGone } = this.current;
      const { name, scope, model, thinking } = plan.file;
      if (isGone) return this.put(plan, { isGone });
      const resource = this.find(name, scope);
      if (!resource) return this.lose(plan, ctx);
      try {
        const next = planOf(this.pi, resource, this.skills);
        // What a person chose since is theirs, unless the file chooses anew.
        if (next.file.model !== model || next.file.thinking !== thinking) await this.choice.take(next);
        this.put(next);
        if (String(next.allowed) !== String(plan.allowed)) ctx.ui.notify(wordChanged(next), "info");
      } catch (thrown) {
        this.put(plan);
        ctx.ui.notify(wordKept(name, thrown as AgentError), "error");
      }
    });
  }

  /** Sets the tools again that somebody else has set. */
  hold(): void {
    if (this.plan) this.tools.hold(this.plan);
  }

  /** Goes on, named before the session was there, with a session that had another agent, or none. */
  takeUp(record: SessionRecord | undefined): void {
    if (this.plan) this.tools.hold(this.plan, record?.usual);
    else if (record?.usual) this.tools.end(record.usual);
    this.showStatus();
  }

  /** Lets no call of a model through until an agent, or none, is named. `refusal` throws why. */
  refuse(refusal: () => never): void {
    this.refusal = this.pi.on("provider_call", refusal);
  }

  /** Switches off what others have switched on. */
  narrow(): void {
    this.tools.narrow();
  }

  /** `usual`: the tools that a session says are on without an agent. */
  private put(plan: AgentPlan, { usual, isGone = false }: { usual?: readonly string[]; isGone?: boolean } = {}): void {
    this.tools.hold(plan, usual);
    this.current = { plan, isGone };
    this.wasChanged = true;
    if (this.undos.length === 0) this.listen();
    this.showStatus();
  }

  private async lose(plan: AgentPlan, ctx: Context): Promise<void> {
    const left: AgentPlan = { ...plan, file: { ...plan.file, prompt: "" }, model: undefined, thinking: undefined };
    await this.choice.take({});
    if (plan.allowed || plan.skills) this.put(left, { isGone: true });
    else await this.end();
    ctx.ui.notify(wordGone(plan), "warning");
  }

  private async end(): Promise<void> {
    await this.choice.take({});
    this.tools.end();
    this.current = undefined;
    for (const undo of this.undos.splice(0)) await undo();
    this.below = undefined;
    this.showStatus();
  }

  private listen(): void {
    const below = this.pi.service("resources");
    this.undos.push(this.pi.on("before_turn", () => this.narrow()));
    if (!below) return;
    this.below = below;
    this.undos.push(
      this.pi.register(
        "service",
        "resources",
        offerResources(below, () => this.plan),
      ),
    );
  }

  private find(name: string, scope: Resource["scope"]): Resource | undefined {
    const found = listAgents(this.pi.service("resources")).agents.get(name);
    return found?.scope === scope ? found : undefined;
  }

  /** All skills, also those that the agent in force is not offered. */
  private get skills(): readonly Resource[] {
    return (this.below ?? this.pi.service("resources"))?.list("skill") ?? [];
  }

  private showStatus(): void {
    this.context?.ui.setStatus("agent", this.name);
  }

  private alone<T>(change: () => T | Promise<T>): Promise<T> {
    const changed = this.changes.then(change);
    this.changes = changed.catch(() => {});
    return changed;
  }
}
