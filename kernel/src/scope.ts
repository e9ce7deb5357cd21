/**
 * What one extension did, and how to take it back.
 *
 *   staging ──commit──► active ──dispose──► disposed
 *
 * 1. While its factory runs, registrations only queue up: they take effect together, or never (E1).
 * 2. Disposing runs the undos in reverse, once, whatever they throw.
 * 3. Afterwards the extension's `pi` and `ctx` say so instead of acting.
 */
import type { Owner, Undo } from "./contract.ts";
import { AgentError } from "./errors.ts";

export class Scope {
  readonly owner: Owner;
  /** Its place in the load order, which is the order of its handlers. */
  readonly order: number;
  private state: "staging" | "active" | "disposed" = "staging";
  private staged: (() => void)[] = [];
  private undos: Undo[] = [];

  constructor(owner: Owner, order: number) {
    this.owner = owner;
    this.order = order;
  }

  get isActive(): boolean {
    return this.state === "active";
  }

  /** Does something now, or at commit while staging; answers how to take it back. */
  add(action: () => Undo): Undo {
    this.assertLive();
    let undo: Undo | undefined;
    let isCancelled = false;
    const perform = () => {
      if (isCancelled) return;
      const taken = action();
      undo = once(taken);
      this.undos.push(undo);
    };
    if (this.state === "staging") this.staged.push(perform);
    else perform();
    return () => {
      isCancelled = true;
      if (!undo) return;
      this.undos = this.undos.filter((each) => each !== undo);
      return undo();
    };
  }

  onDispose(undo: Undo): void {
    this.assertLive();
    this.undos.push(once(undo));
  }

  commit(): void {
    this.state = "active";
    for (const perform of this.staged) perform();
    this.staged = [];
  }

  /** Takes everything back; answers what could not be. */
  async dispose(): Promise<unknown[]> {
    if (this.state === "disposed") return [];
    this.state = "disposed";
    this.staged = [];
    const failures: unknown[] = [];
    for (const undo of this.undos.reverse()) {
      try {
        await undo();
      } catch (thrown) {
        failures.push(thrown);
      }
    }
    this.undos = [];
    return failures;
  }

  /** Fails with `stale_extension` after disposal. */
  assertLive(): void {
    if (this.state !== "disposed") return;
    throw new AgentError(
      "stale_extension",
      `The extension ${this.owner.name} was unloaded; its old handles do nothing.`,
      {
        hint: "Keep nothing of `pi` or `ctx` beyond a reload or a session change; clean up in pi.onDispose.",
        owner: this.owner.name,
      },
    );
  }
}

function once(undo: Undo): Undo {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    return undo();
  };
}
