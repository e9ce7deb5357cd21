import type { AgentEvent } from "@pi-agent/kernel";

/** An event, and when it was. */
export interface TimedEvent {
  /** Unix milliseconds; never earlier than the one before. */
  atMs: number;
  event: AgentEvent;
}
