/**
 * One run: its signal, and how it is given up when something in it does not listen (K9).
 *
 *   abort ──► signals fire ──► grace period ──► what is still waited for is abandoned
 *   unload ─► the owner's signal fires, and what it was doing is abandoned at once (E1)
 */
import type { Owner } from "./contract.ts";
import { AgentError } from "./errors.ts";
import { uuidv7 } from "./values.ts";

export const ABANDONED = Symbol("abandoned");
export const DEFAULT_GRACE_MS = 5_000;

/** A timer that is set to more fires at once. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** Something that is waited for. */
export interface Wait {
  readonly owner: Owner | undefined;
  giveUp(): void;
}

export class Run {
  readonly id = uuidv7();
  turnIndex = -1;
  /** The number of failed attempts in a row. */
  attempt = 0;
  isAbandoned = false;
  readonly graceMs: number;
  private readonly controller = new AbortController();
  /** Each owner's tools get a signal of their own, which its unloading fires too. */
  private readonly owners = new Map<Owner, AbortController>();
  private readonly dropped = new Set<Owner>();
  private readonly waits: Wait[] = [];
  private grace: ReturnType<typeof setTimeout> | undefined;
  private readonly onAbandon: () => void;

  constructor(graceMs: number | undefined, onAbandon: () => void) {
    this.graceMs = graceMs ?? DEFAULT_GRACE_MS;
    this.onAbandon = onAbandon;
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  get isAborted(): boolean {
    return this.controller.signal.aborted;
  }

  signalOf(owner: Owner): AbortSignal {
    let controller = this.owners.get(owner);
    if (!controller) {
      controller = new AbortController();
      if (this.isAborted) controller.abort(this.signal.reason);
      this.owners.set(owner, controller);
    }
    return controller.signal;
  }

  abort(reason = "The run was aborted."): void {
    if (this.isAborted) return;
    this.grace = setTimeout(() => this.abandon(), this.graceMs);
    const error = new AgentError("aborted", reason);
    this.controller.abort(error);
    for (const controller of this.owners.values()) controller.abort(error);
  }

  /** Ends what an owner is doing: it is being unloaded. */
  drop(owner: Owner): void {
    this.dropped.add(owner);
    this.owners.get(owner)?.abort(new AgentError("aborted", `${owner.name} was unloaded.`));
    for (const wait of this.waits.slice()) if (wait.owner === owner) wait.giveUp();
  }

  hasDropped(owner: Owner): boolean {
    return this.dropped.has(owner);
  }

  /** Has something given up when the run is, or its owner is unloaded, until it is settled. */
  await(wait: Wait): void {
    this.waits.push(wait);
  }

  settle(wait: Wait): void {
    const at = this.waits.lastIndexOf(wait);
    if (at >= 0) this.waits.splice(at, 1);
  }

  /** Waits for work, but not beyond the grace period of an abort, nor beyond its owner. */
  bounded<T>(work: Promise<T>, owner?: Owner): Promise<T | typeof ABANDONED> {
    if (this.isAbandoned) {
      work.catch(ignore);
      return Promise.resolve(ABANDONED);
    }
    return new Promise((resolve, reject) => {
      const wait: Wait = { owner, giveUp: () => resolve(ABANDONED) };
      this.await(wait);
      work.then(
        (value) => (this.settle(wait), resolve(value)),
        (thrown: unknown) => (this.settle(wait), reject(thrown)),
      );
    });
  }

  /** Waits; an abort ends the wait at once. */
  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.isAborted) return resolve();
      const end = () => {
        clearTimeout(timer);
        this.signal.removeEventListener("abort", end);
        resolve();
      };
      const timer = setTimeout(end, Math.min(delayMs, MAX_DELAY_MS));
      this.signal.addEventListener("abort", end);
    });
  }

  /** Leaves no timer running. */
  end(): void {
    clearTimeout(this.grace);
    this.waits.length = 0;
  }

  private abandon(): void {
    this.isAbandoned = true;
    this.onAbandon();
    for (const wait of this.waits.slice()) wait.giveUp();
  }
}

/** The error that tells who did not listen to an abort. */
export function abandonedError(owner: Owner, what: string, graceMs: number): AgentError {
  return new AgentError("abandoned", `${what} did not end within ${graceMs / 1000} s of an abort and was given up.`, {
    hint: "Pass the signal on to whatever it waits for.",
    owner: owner.name,
  });
}

function ignore(): void {}
