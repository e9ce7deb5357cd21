/** The scopes of an agent's extensions, in the load order. */
import type { LeakReport } from "./contract.ts";
import type { Core } from "./core.ts";
import { toAgentError } from "./errors.ts";
import { offTheClock } from "./frames.ts";
import type { Scope } from "./scope.ts";

export class Scopes {
  all: readonly Scope[] = [];
  private readonly core: Core;

  constructor(core: Core) {
    this.core = core;
  }

  /** A place in the load order: after everything, or right after a scope. */
  orderAfter(before: Scope | undefined): number {
    const orders = this.all.map(({ order }) => order);
    const last = Math.max(0, ...orders);
    const from = before?.order ?? last;
    const next = Math.min(...orders.filter((order) => order > from));
    return Number.isFinite(next) ? (from + next) / 2 : from + 1;
  }

  /** The active scope that an extension of this name takes the place of. */
  find(ownerName: string): Scope | undefined {
    return this.all.find((scope) => scope.isActive && scope.owner.name === ownerName);
  }

  keep(scope: Scope): void {
    const { name } = scope.owner;
    const at = this.all.findIndex((each) => each.order === scope.order || (!each.isActive && each.owner.name === name));
    this.all = at < 0 ? [...this.all, scope] : this.all.with(at, scope);
  }

  /** Ends one; answers what it could not take back. */
  async end(scope: Scope): Promise<LeakReport["leaks"]> {
    this.core.forget(scope.owner);
    const failures = await offTheClock(() => scope.dispose());
    return failures.map((failure) => ({ owner: scope.owner.name, what: toAgentError(failure).message }));
  }

  /** Ends those that match, the last one first. */
  async endAll(matches: (scope: Scope) => boolean): Promise<LeakReport> {
    const ending = this.all.filter(matches);
    this.all = this.all.filter((scope) => !ending.includes(scope));
    const leaks: LeakReport["leaks"] = [];
    for (const scope of ending.toReversed()) leaks.push(...(await this.end(scope)));
    return { leaks };
  }
}
