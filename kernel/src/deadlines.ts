/** Deadlines: records that one shared interval looks at. There is none while nothing is awaited between runs (K13). */
import type { Owner } from "./contract.ts";
import type { Frame } from "./frames.ts";

const TICK_MS = 100;

/** Something that is being waited for. */
export interface Watch {
  readonly frame: Frame;
  leftMs: number;
  expire(): void;
}

export class Deadlines {
  private readonly watches = new Set<Watch>();
  private ticker: ReturnType<typeof setInterval> | undefined;
  /** During a run the interval stays: beginning it for each handler would cost more than the handlers. */
  private runs = 0;

  add(watch: Watch): void {
    this.watches.add(watch);
    this.ticker ??= setInterval(() => this.tick(), TICK_MS);
  }

  remove(watch: Watch): void {
    this.watches.delete(watch);
    this.rest();
  }

  beginRun(): void {
    this.runs++;
  }

  endRun(): void {
    this.runs--;
    this.rest();
  }

  /** Fails what is being waited for, of one owner or of all. */
  expire(owner?: Owner): void {
    for (const watch of this.watches) if (!owner || watch.frame.owner === owner) watch.expire();
  }

  private rest(): void {
    if (this.runs > 0 || this.watches.size > 0) return;
    clearInterval(this.ticker);
    this.ticker = undefined;
  }

  private tick(): void {
    for (const watch of this.watches) {
      if (watch.frame.waiting === 0) watch.leftMs -= TICK_MS;
      if (watch.leftMs <= 0) watch.expire();
    }
  }
}
