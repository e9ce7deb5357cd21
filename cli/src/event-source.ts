/** Events that happened before, handed to what shows an agent's. */
import type { Agent, AgentEvent, Context, HookName, Undo } from "@pi-agent/kernel";

/** What shows events needs of an agent. */
export type EventSource = Pick<Agent, "on">;

type Listener = (event: AgentEvent, ctx: Context) => unknown;

/** There is no agent any more that a listener could ask. */
const PAST = new Proxy({} as Context, {
  get(_, name) {
    throw new Error(`An event of the past has no ${String(name)}.`);
  },
});

/** Makes a source that tells what is emitted to it. */
export function createEventSource(): { source: EventSource; emit: (event: AgentEvent) => Promise<void> } {
  const listeners = new Map<string, Set<Listener>>();
  const on = (name: HookName, listener: Listener): Undo => {
    const known = listeners.get(name) ?? new Set();
    listeners.set(name, known.add(listener));
    return () => void known.delete(listener);
  };
  return {
    source: { on: on as EventSource["on"] },
    async emit(event) {
      for (const listener of listeners.get(event.type) ?? []) await listener(event, PAST);
    },
  };
}
