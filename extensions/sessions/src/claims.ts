import { reasonOf } from "./problems.ts";
import type { Claim, SessionStore } from "./store.ts";
import type { WriterOptions } from "./writer.ts";

const NOTHING: Claim = { release: async () => {}, isHeld: () => false };

interface Taken {
  given: Promise<Claim>;
  /** Left out while the store has not answered. */
  claim?: Claim;
  wasHeld: boolean;
}

/** The sessions that one agent has the right to write to, by id. */
export class Claims {
  private readonly report: WriterOptions["report"];
  private readonly taken = new Map<string, Taken>();
  /** What is being given back, which can be taken again after that. */
  private readonly leaving = new Map<string, Promise<void>>();

  constructor(report: WriterOptions["report"]) {
    this.report = report;
  }

  /** Tells whether a session was claimed and not given back; another one may have taken it since. */
  has(id: string): boolean {
    return this.taken.has(id);
  }

  /** Tells whether nobody else may write to a session, as far as its store knows. */
  isHeld(id: string): boolean {
    const claim = this.taken.get(id)?.claim;
    return claim !== undefined && "release" in claim && (claim.isHeld?.() ?? true);
  }

  /** Tells whether a session that was held is not held any more. */
  isLost(id: string): boolean {
    const taken = this.taken.get(id);
    if (!taken) return false;
    const isHeld = this.isHeld(id);
    taken.wasHeld ||= isHeld;
    return taken.wasHeld && !isHeld;
  }

  /** Claims a session. A store that cannot say who writes to it keeps nobody from writing. */
  take(store: SessionStore, id: string): Promise<Claim> {
    const left = this.leaving.get(id);
    const asked = left ? left.then(() => store.claim(id)) : store.claim(id);
    const given = asked.catch((error: unknown): Claim => {
      const what = `The session ${id} could not be reserved: ${reasonOf(error)}.`;
      this.report(`${what} The run goes on without that; see that nobody else writes to it.`, "warning");
      return NOTHING;
    });
    const taken: Taken = { given, wasHeld: false };
    this.taken.set(id, taken);
    return given.then((claim) => {
      taken.claim = claim;
      taken.wasHeld = this.taken.get(id) === taken && this.isHeld(id);
      if ("holder" in claim && this.taken.get(id) === taken) this.taken.delete(id);
      return claim;
    });
  }

  /** Gives one back. */
  async release(id: string, written?: Promise<unknown>): Promise<void> {
    const taken = this.taken.get(id);
    if (!taken) return;
    this.taken.delete(id);
    const left = this.giveBack(id, taken.given, written).finally(() => {
      if (this.leaving.get(id) === left) this.leaving.delete(id);
    });
    this.leaving.set(id, left);
    await left;
  }

  /** Gives all back once `written`, but for one. */
  async releaseAll({ but, written }: { but?: string; written: Promise<unknown> }): Promise<void> {
    const ids = [...this.taken.keys()].filter((id) => id !== but);
    await Promise.all([written, ...ids.map((id) => this.release(id, written))]);
  }

  private async giveBack(id: string, given: Promise<Claim>, written: Promise<unknown> | undefined): Promise<void> {
    await written;
    const claim = await given;
    if (!("release" in claim)) return;
    await claim.release().catch((error: unknown) => {
      this.report(`The session ${id} is still reserved: ${reasonOf(error)}. That ends by itself.`, "info");
    });
  }
}
