/** Work that nothing else goes on beside, such as compacting: one at a time, the others in the order in which they came. */
import type { Activity, Owner } from "./contract.ts";
import { AgentError } from "./errors.ts";
import { currentFrame, currentOwner, enclose, offTheClock } from "./frames.ts";
import { DEFAULT_GRACE_MS } from "./run.ts";

interface Work {
  owner: Owner | undefined;
  controller: AbortController;
  /** Fires with the controller, and with the run that it is done in. */
  signal: AbortSignal;
  giveUp(error: AgentError): void;
  grace?: ReturnType<typeof setTimeout>;
}

/** Whose work it is, where it is not of who calls; and the signal of the run that it is done in. */
interface By {
  owner?: Owner;
  running?: AbortSignal;
}

export class Exclusives {
  activity: Activity | undefined;
  /** How many works are under way or wait for their turn. */
  private count = 0;
  private tail: Promise<unknown> = Promise.resolve();
  /** The work that is under way, and how it is given up, whatever it waits for. */
  private current: Work | undefined;
  private readonly graceMs: number;
  private readonly ended: () => void;

  constructor(graceMs = DEFAULT_GRACE_MS, ended: () => void) {
    this.graceMs = graceMs;
    this.ended = ended;
  }

  /** The signal of the work that is under way. */
  get signal(): AbortSignal | undefined {
    return this.current?.signal;
  }

  /**
   * Runs `fn` when nothing else is exclusive; within exclusive work it runs at once. Fails with `abandoned` when its owner
   * is unloaded, or does not obey an abort.
   */
  async perform<T>(activity: Activity, fn: (signal: AbortSignal) => Promise<T>, by: By = {}): Promise<T> {
    const within = currentFrame()?.exclusiveOf;
    if (within && within === this.current) return fn(this.current.signal);
    const before = this.tail;
    const { promise: through, resolve } = Promise.withResolvers<void>();
    this.tail = through;
    if (this.count++ === 0) this.activity = activity;
    else await before;
    this.activity = activity;
    try {
      return await offTheClock(() => this.whileOwned(fn, by));
    } finally {
      clearTimeout(this.current?.grace);
      this.current = undefined;
      if (--this.count === 0) this.activity = undefined;
      resolve();
      this.ended();
    }
  }

  /** Fires the signal of the work that is under way, and gives an extension's the grace period to end. */
  abort(reason = "The work was aborted."): void {
    const work = this.current;
    work?.controller.abort(new AgentError("aborted", reason));
    if (!work?.owner || work.owner.scope === "host" || work.grace) return;
    const { name: owner } = work.owner;
    const error = new AgentError("abandoned", `Exclusive work of ${owner} did not end when it was aborted.`, {
      hint: "Obey the signal that the work gets, or pass it on to whatever it waits for.",
      owner,
    });
    work.grace = setTimeout(() => work.giveUp(error), this.graceMs);
  }

  /** Ends an owner's work: it is being unloaded. */
  drop(owner: Owner): void {
    if (this.current?.owner !== owner) return;
    const error = new AgentError("abandoned", `${owner.name} was unloaded.`, { owner: owner.name });
    this.current.controller.abort(error);
    this.current.giveUp(error);
  }

  private whileOwned<T>(fn: (signal: AbortSignal) => Promise<T>, { owner = currentOwner(), running }: By): Promise<T> {
    const controller = new AbortController();
    const signal = running ? AbortSignal.any([controller.signal, running]) : controller.signal;
    return new Promise((resolve, reject) => {
      this.current = { owner, controller, signal, giveUp: reject };
      enclose(() => fn(signal), this.current).then(resolve, reject);
    });
  }
}
