/**
 * One run: its signal, and how it is given up when something in it does not listen (K9).
 *
 *   abort ──► signal fires ──► grace period ──► what is still waited for is abandoned
 */
import type { Owner } from "./contract.ts";
import { AgentError } from "./errors.ts";
import { uuidv7 } from "./values.ts";

export const ABANDONED = Symbol("abandoned");
const DEFAULT_GRACE_MS = 5_000;

export class Run {
  readonly id = uuidv7();
  turnIndex = -1;
  /** The number of failed attempts in a row. */
  attempt = 0;
  isAbandoned = false;
  private readonly controller = new AbortController();
  private readonly graceMs: number;
  private grace: ReturnType<typeof setTimeout> | undefined;
  /** Ends the one wait that the loop is in, if it is in one. */
  private giveUp: (() => void) | undefined;
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

  abort(reason = "The run was aborted."): void {
    if (this.isAborted) return;
    this.grace = setTimeout(() => this.abandon(), this.graceMs);
    this.controller.abort(new AgentError("aborted", reason));
  }

  /** Waits for work, but not beyond the grace period of an abort. */
  bounded<T>(work: Promise<T>): Promise<T | typeof ABANDONED> {
    if (this.isAbandoned) {
      work.catch(ignore);
      return Promise.resolve(ABANDONED);
    }
    return new Promise((resolve, reject) => {
      this.giveUp = () => resolve(ABANDONED);
      work.then(resolve, reject);
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
      const timer = setTimeout(end, delayMs);
      this.signal.addEventListener("abort", end);
    });
  }

  /** Leaves no timer running. */
  end(): void {
    clearTimeout(this.grace);
    this.giveUp = undefined;
  }

  private abandon(): void {
    this.isAbandoned = true;
    this.onAbandon();
    this.giveUp?.();
  }
}

/** The error that tells who did not listen to an abort. */
export function abandonedError(owner: Owner, what: string, graceMs: number | undefined): AgentError {
  const seconds = (graceMs ?? DEFAULT_GRACE_MS) / 1000;
  return new AgentError("abandoned", `${what} did not end within ${seconds} s of an abort and was given up.`, {
    hint: "Pass the signal on to whatever it waits for.",
    owner: owner.name,
  });
}

function ignore(): void {}
