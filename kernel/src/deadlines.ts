/** Deadlines: records that one shared interval looks at. There is none while nothing is awaited between runs (K13). */
import type { Owner } from "./contract.ts";
import { AgentError } from "./errors.ts";
import { entranceOf, type Frame } from "./frames.ts";
import type { Way } from "./hook-points.ts";
import { isPromise } from "./values.ts";

const TICK_MS = 100;

/** How long the handlers of a point may take: a notice 5 s, an answer 30 s (K13). */
export const DEADLINE_MS: Record<Way, number> = {
  notify: 5_000,
  chain: 30_000,
  gate: 30_000,
  first: 30_000,
  vote: 10_000,
  around: Number.POSITIVE_INFINITY,
};

/** Why something is not waited for any more. */
export type Expiry = "late" | "aborted" | "unloaded";

/** Something that is being waited for. */
export interface Watch {
  readonly frame: Frame;
  leftMs: number;
  expire(why: Expiry): void;
}

export class Deadlines {
  private readonly watches: Watch[] = [];
  private ticker: ReturnType<typeof setInterval> | undefined;
  /** During a run the interval stays: beginning it for each handler would cost more than the handlers. */
  private runs = 0;

  add(watch: Watch): void {
    this.watches.push(watch);
    this.ticker ??= setInterval(() => this.tick(), TICK_MS);
  }

  remove(watch: Watch): void {
    // Mostly the last one: what waits for another is over before it.
    const at = this.watches.lastIndexOf(watch);
    if (at >= 0) this.watches.splice(at, 1);
    this.rest();
  }

  beginRun(): void {
    this.runs++;
  }

  endRun(): void {
    this.runs--;
    this.rest();
  }

  /** Gives up all that is being waited for: its run was aborted, and is over. */
  abandon(): void {
    this.each((watch) => watch.expire("aborted"));
  }

  /** Gives up what an owner is being waited for: it is being unloaded. */
  drop(owner: Owner): void {
    this.each((watch) => {
      if (watch.frame.owner === owner) watch.expire("unloaded");
    });
  }

  /** Runs an owner's code, and waits for it no longer than so many milliseconds. `what` says what it was to do. */
  within<T>(limitMs: number, { owner, what }: { owner: Owner; what: string }, fn: () => T | Promise<T>): Promise<T> {
    const { frame, resource } = entranceOf(owner);
    return new Promise((resolve, reject) => {
      const work = resource.runInAsyncScope(fn);
      if (!isPromise(work)) return resolve(work);
      const end = () => {
        this.remove(watch);
        frame.pending--;
      };
      const expire = (why: Expiry) => {
        end();
        reject(expired(owner, { what, why, limitMs }));
      };
      const watch: Watch = { frame, leftMs: limitMs, expire };
      frame.pending++;
      this.add(watch);
      work.then(
        (value) => (end(), resolve(value as T)),
        (thrown: unknown) => (end(), reject(thrown)),
      );
    });
  }

  private rest(): void {
    if (this.runs > 0 || this.watches.length > 0) return;
    clearInterval(this.ticker);
    this.ticker = undefined;
  }

  private tick(): void {
    this.each((watch) => {
      if (watch.frame.waiting === 0) watch.leftMs -= TICK_MS;
      if (watch.leftMs <= 0) watch.expire("late");
    });
  }

  /** One that expires may end others. */
  private each(visit: (watch: Watch) => void): void {
    for (const watch of this.watches.slice()) if (this.watches.includes(watch)) visit(watch);
  }
}

/** The error that tells whom nobody waits for any more. */
export function expired(
  { name: owner }: Owner,
  { what, why, limitMs }: { what: string; why: Expiry; limitMs: number },
): AgentError {
  if (why === "unloaded")
    return new AgentError("abandoned", `${what} was waited for when its extension was unloaded.`, {
      hint: "Unload it while nothing of it runs, or let it obey ctx.signal.",
      owner,
    });
  if (why === "aborted") {
    return new AgentError("abandoned", `${what} did not answer when the run was aborted, and was given up.`, {
      hint: "Obey ctx.signal: pass it on to whatever it waits for.",
      owner,
    });
  }
  return new AgentError("hook_late", `${what} did not answer within ${limitMs / 1000} s.`, {
    hint: "Answer sooner, or wait in ctx.ui, pi.complete or pi.exec, where the clock stands still.",
    owner,
  });
}
