import type { Agent, AgentOptions, Host, Owner } from "./contract.ts";
import type { Core } from "./core.ts";
import { currentOwner } from "./frames.ts";
import { heard } from "./points.ts";
import { DEFAULT_GRACE_MS } from "./run.ts";

/** A child's grace period, as a part of its parent's. */
const CHILD_GRACE = 0.8;

/** The agents under one, each of which ends with its maker. */
export class Children {
  readonly running = new Set<Agent>();
  /** All of them, as long as somebody holds them, with who made them. */
  private made: { agent: WeakRef<Agent>; maker: Owner | undefined }[] = [];
  private readonly make: (options: AgentOptions) => Agent;

  constructor(make: (options: AgentOptions) => Agent) {
    this.make = make;
  }

  spawn(options: AgentOptions): Agent {
    const agent = this.make(options);
    this.made = this.made.filter((child) => child.agent.deref());
    this.made.push({ agent: new WeakRef(agent), maker: currentOwner() });
    return agent;
  }

  abort(reason?: string): void {
    for (const child of this.running) void child.abort(reason);
  }

  /** Ends those that an owner made, or all. */
  async dispose(maker?: Owner): Promise<void> {
    const ending = this.made.filter((child) => maker === undefined || child.maker === maker);
    this.made = this.made.filter((child) => !ending.includes(child));
    await Promise.all(ending.map(async ({ agent }) => agent.deref()?.dispose()));
  }
}

/** What a child is made with: its parent's model, host and signal, as far as it does not bring its own. */
export function childOptions(parent: Core, options: AgentOptions): AgentOptions {
  const signals = [parent.run?.signal, options.signal].filter((signal) => signal !== undefined);
  return {
    model: parent.model,
    // It gives up first, so that who waits for it is not given up with it.
    graceMs: CHILD_GRACE * (parent.options.graceMs ?? DEFAULT_GRACE_MS),
    ...options,
    signal: signals.length > 0 ? AbortSignal.any(signals) : undefined,
    host: Object.assign(Object.create(parent.host) as Partial<Host>, options.host),
  };
}

/** Gives a child its parent's providers where it brings none (E8). */
export function inherit(parent: Core, child: Core): void {
  for (const kind of ["api", "provider"] as const) {
    for (const { name, value, owner } of parent.registries.of(kind).values()) {
      child.registries.add(kind, name, { value, owner: { ...owner, scope: "inherited" }, order: 0 });
    }
  }
}

/** Shows a child to the host and to whoever listens, before anything runs in it. */
export function present(parent: Core, child: Agent): void {
  parent.host.adopt?.(child);
  const { hooks, run } = parent;
  const point = hooks.at.child_created;
  if (heard(point)) hooks.tellAtOnce(point, Object.freeze({ type: point.name, child, parentRunId: run?.id }));
}
