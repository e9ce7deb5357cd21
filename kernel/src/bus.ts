/** The bus that extensions talk over among themselves. A listener that throws is reported, and the others hear on. */
import type { Owner, Undo } from "./contract.ts";
import { toAgentError } from "./errors.ts";
import { runAs } from "./frames.ts";
import type { HookFault } from "./points.ts";
import { isPromise } from "./values.ts";

type Listener = (data: unknown) => unknown;

export class Bus {
  private readonly channels = new Map<string, readonly { listener: Listener; owner: Owner }[]>();
  private readonly report: (fault: HookFault) => void;

  constructor(report: (fault: HookFault) => void) {
    this.report = report;
  }

  on(channel: string, listener: Listener, owner: Owner): Undo {
    const record = { listener, owner };
    this.channels.set(channel, [...(this.channels.get(channel) ?? []), record]);
    return () => {
      this.channels.set(
        channel,
        (this.channels.get(channel) ?? []).filter((each) => each !== record),
      );
    };
  }

  emit(channel: string, data: unknown): void {
    for (const { listener, owner } of this.channels.get(channel) ?? []) {
      const fault = (thrown: unknown) =>
        this.report({ owner, event: `events:${channel}`, error: toAgentError(thrown, owner.name) });
      try {
        const answer = runAs(owner, () => listener(data));
        if (isPromise(answer)) answer.catch(fault);
      } catch (thrown) {
        fault(thrown);
      }
    }
  }
}
