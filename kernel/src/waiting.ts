import { DEADLINE_MS, type Expiry, type Watch } from "./deadlines.ts";
import { entranceOf, type Frame } from "./frames.ts";
import type { HookTable } from "./hooks.ts";
import type { Dispatch, HandlerRecord } from "./points.ts";
import { isPromise } from "./values.ts";

/**
 * A dispatch that has come to a handler that it waits for, and goes on through the others from there. One that is late is
 * given up: the dispatch goes on without it, and what it answers afterwards counts for nothing.
 */
export class Waiting implements Watch {
  frame: Frame;
  leftMs: number;
  private readonly table: HookTable;
  private readonly dispatch: Dispatch;
  /** From where its handlers are entered. */
  private readonly here: Frame | undefined;
  private readonly limitMs: number;
  private at: number;
  private startedAt: number;
  /** Grows when a handler is given up, so that its answer is told from the next one's. */
  private round = 0;
  private isPending = false;
  private end!: () => void;

  constructor(table: HookTable, dispatch: Dispatch, { at, here, frame, startedAt }: Place) {
    this.table = table;
    this.dispatch = dispatch;
    this.limitMs = DEADLINE_MS[dispatch.point.way];
    this.leftMs = this.limitMs;
    this.here = here;
    this.at = at;
    this.frame = frame;
    this.startedAt = startedAt;
  }

  /** Resolves when every handler has answered, or was given up. */
  begin(answer: Promise<unknown>): Promise<void> {
    return new Promise((resolve) => {
      this.end = resolve;
      this.table.deadlines.add(this);
      void this.follow(answer);
    });
  }

  expire(why: Expiry): void {
    this.round++;
    if (this.isPending) this.frame.pending--;
    this.isPending = false;
    const answer = this.table.late(this.dispatch.point, this.record.owner, why);
    if (this.take(answer)) void this.follow(this.next());
  }

  private async follow(first: unknown): Promise<void> {
    const { round } = this;
    for (let answer = first; round === this.round; answer = this.next()) {
      if (isPromise(answer)) {
        this.wait();
        try {
          answer = await answer;
        } catch (thrown) {
          if (round === this.round) answer = this.table.fault(this.dispatch.point, this.record.owner, thrown);
        }
        // It was given up meanwhile.
        if (round !== this.round) return;
        this.release();
      }
      if (!this.take(answer)) return;
    }
  }

  private get record(): HandlerRecord {
    return this.dispatch.handlers[this.at]!;
  }

  private wait(): void {
    this.leftMs = this.limitMs;
    this.isPending = true;
    this.frame.pending++;
  }

  private release(): void {
    if (!this.isPending) return;
    this.isPending = false;
    this.frame.pending--;
    if (this.leftMs < this.limitMs) this.table.tellSlow(this.dispatch.point, this.record, this.limitMs - this.leftMs);
  }

  /** Takes an answer; answers whether another handler is to be asked. */
  private take(answer: unknown): boolean {
    const { dispatch } = this;
    const { owner, account } = this.record;
    if (dispatch.weight > 0 && account) account.hookMs += dispatch.weight * (performance.now() - this.startedAt);
    if (!this.table.isLast(dispatch, owner, answer) && this.at + 1 < dispatch.handlers.length) return true;
    this.table.deadlines.remove(this);
    this.end();
    return false;
  }

  private next(): unknown {
    const { handlers, weight } = this.dispatch;
    const record = handlers[++this.at]!;
    if (record.scope?.isActive === false) return undefined;
    const entrance = entranceOf(record.owner, this.here);
    this.frame = entrance.frame;
    this.startedAt = weight > 0 ? performance.now() : 0;
    return this.table.call(this.dispatch, record, entrance);
  }
}

interface Place {
  at: number;
  here: Frame | undefined;
  frame: Frame;
  startedAt: number;
}
