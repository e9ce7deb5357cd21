/**
 * What one extension did, and how to take it back.
 *
 *   staging ──commit──► active ──withdraw──► out of reach ──dispose──► disposed
 *                         ▲───── commit ─────┘   a replacement failed: it is put back
 *
 * 1. While its factory runs, registrations only queue up: they take effect together, or never (E1).
 * 2. Withdrawing runs the undos in reverse; then, with nothing of it within reach, its own cleaning up runs in reverse,
 *    and may still act, but register nothing.
 * 3. Afterwards the extension's `pi` and `ctx` say so instead of acting.
 */
import { Account } from "./account.ts";
import type { Owner, Undo } from "./contract.ts";
import { AgentError } from "./errors.ts";
import { runAs } from "./frames.ts";
import { isPromise } from "./values.ts";

/** As long as a notice may take (K13). */
const CLEANUP_LIMIT_MS = 5_000;

interface Registration {
  action(): Undo;
  undo?: Undo;
}

export class Scope {
  readonly owner: Owner;
  /** Its place in the load order, which is the order of its handlers. */
  readonly order: number;
  readonly account: Account;
  private state: "staging" | "active" | "disposing" | "disposed" = "staging";
  private readonly registrations = new Set<Registration>();
  private readonly cleanups: Undo[] = [];
  private readonly ending = new AbortController();

  constructor(owner: Owner, order: number) {
    this.owner = owner;
    this.order = order;
    this.account = new Account(owner);
  }

  /** Fires when it is disposed of. */
  get signal(): AbortSignal {
    return this.ending.signal;
  }

  get isActive(): boolean {
    return this.state === "active";
  }

  /** Does something now, or at commit while staging; answers how to take it back. */
  add(action: () => Undo): Undo {
    this.assertOpen();
    const registration: Registration = { action };
    if (this.state === "active") registration.undo = action();
    this.registrations.add(registration);
    return () => {
      this.registrations.delete(registration);
      return takeBack(registration);
    };
  }

  onDispose(undo: Undo): void {
    this.assertOpen();
    this.cleanups.push(undo);
  }

  /** Lets everything registered take effect. Takes back what did when one of them fails. */
  commit(): void {
    this.state = "active";
    try {
      for (const registration of this.registrations) registration.undo ??= registration.action();
    } catch (thrown) {
      this.withdraw();
      throw thrown;
    }
  }

  /** Takes back everything registered, at once; `commit` puts it back. Answers what could not be taken back. */
  withdraw(): unknown[] {
    const failures: unknown[] = [];
    for (const registration of [...this.registrations].reverse()) {
      try {
        void takeBack(registration);
      } catch (thrown) {
        failures.push(thrown);
      }
    }
    return failures;
  }

  /** Ends it for good; answers what could not be taken back. */
  async dispose(): Promise<unknown[]> {
    if (this.state === "disposing" || this.state === "disposed") return [];
    this.state = "disposing";
    this.ending.abort(this.stale());
    this.account.state = "unloaded";
    const failures = this.withdraw();
    this.registrations.clear();
    for (const cleanup of this.cleanups.splice(0).reverse()) {
      try {
        const done = runAs(this.owner, cleanup);
        if (isPromise(done)) await this.inTime(done);
      } catch (thrown) {
        failures.push(thrown);
      }
    }
    this.state = "disposed";
    return failures;
  }

  private inTime(done: Promise<unknown>): Promise<unknown> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const error = new AgentError("cleanup_late", `It had not cleaned up within ${CLEANUP_LIMIT_MS / 1000} s.`, {
      hint: "Let what pi.onDispose registers end soon, also when the other side does not answer.",
      owner: this.owner.name,
    });
    const timer = setTimeout(() => reject(error), CLEANUP_LIMIT_MS);
    return Promise.race([done, late]).finally(() => clearTimeout(timer));
  }

  /** Fails with `stale_extension` once it is being disposed of. */
  assertOpen(): void {
    if (this.state === "disposing") throw this.stale();
    this.assertLive();
  }

  /** Fails with `stale_extension` after disposal. */
  assertLive(): void {
    if (this.state === "disposed") throw this.stale();
  }

  private stale(): AgentError {
    const { name: owner } = this.owner;
    return new AgentError("stale_extension", `The extension ${owner} was unloaded; its old handles do nothing.`, {
      hint: "Keep nothing of `pi` or `ctx` beyond a reload or a session change; clean up in pi.onDispose.",
      owner,
    });
  }
}

function takeBack(registration: Registration): void | Promise<void> {
  const { undo } = registration;
  registration.undo = undefined;
  return undo?.();
}
