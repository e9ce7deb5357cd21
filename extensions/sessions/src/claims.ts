import { reasonOf } from "./problems.ts";
import type { Claim, SessionStore } from "./store.ts";
import type { WriterOptions } from "./writer.ts";

const NOTHING: Claim = { release: async () => {} };

/** The sessions that one agent has the right to write to, by id. */
export class Claims {
  private readonly report: WriterOptions["report"];
  private readonly held = new Map<string, Promise<Claim>>();

  constructor(report: WriterOptions["report"]) {
    this.report = report;
  }

  has(id: string): boolean {
    return this.held.has(id);
  }

  /** Claims a session. A store that cannot say who writes to it keeps nobody from writing. */
  take(store: SessionStore, id: string): Promise<Claim> {
    const claim = store.claim(id).catch((error: unknown): Claim => {
      const what = `The session ${id} could not be reserved: ${reasonOf(error)}.`;
      this.report(`${what} The run goes on without that; see that nobody else writes to it.`, "warning");
      return NOTHING;
    });
    this.held.set(id, claim);
    void claim.then((given) => "holder" in given && this.held.delete(id));
    return claim;
  }

  /** Gives claims back once `written`: all of them, but for one. */
  async giveBack({ but, written }: { but?: string; written?: Promise<unknown> } = {}): Promise<void> {
    const left = [...this.held].filter(([id]) => id !== but);
    for (const [id] of left) this.held.delete(id);
    await written;
    await Promise.all(
      left.map(async ([id, given]) => {
        const claim = await given;
        if (!("release" in claim)) return;
        await claim.release().catch((error: unknown) => {
          this.report(`The session ${id} is still reserved: ${reasonOf(error)}. That ends by itself.`, "info");
        });
      }),
    );
  }
}
