import type { Agent, HookName } from "@pi-agent/kernel";
import type { OrderedEvent } from "./event-order.ts";

/** What an agent told, in order. */
export interface RecordedEvents {
  readonly events: readonly OrderedEvent[];
  types(): string[];
  stop(): void;
}

/** The hooks of the kernel beside those of the wire; `context` and the streams of a call are left to their handlers. */
const QUIET_HOOKS: readonly HookName[] = [
  "session_start",
  "session_shutdown",
  "ui_prompt_start",
  "ui_prompt_end",
  "model_select",
  "thinking_level_select",
  "resources_changed",
  "fault",
  "after_provider_response",
  "transcript_append",
  "transcript_flush",
  "input",
  "before_agent_start",
  "before_turn",
  "before_provider_headers",
  "before_provider_request",
  "tool_result",
  "agent_before_settle",
  "tool_call",
  "provider_error",
];

/**
 * Records the events of an agent as they are at the moment they are told. By default those of the wire, which is what
 * `assertEventOrder` reads; `all` adds the kernel's other hooks.
 */
export function recordEvents(agent: Agent, options: { all?: boolean } = {}): RecordedEvents {
  const events: OrderedEvent[] = [];
  const record = (event: object) => void events.push(copyEvent(event as OrderedEvent));
  const undos = [agent.onWire(record)];
  if (options.all) for (const name of QUIET_HOOKS) undos.push(agent.on(name, record as never));
  return {
    events,
    types: () => events.map((event) => event.type),
    stop() {
      for (const undo of undos) void undo();
    },
  };
}

/** Messages of a running answer go on changing, so they are copied; the whole answer so far in an update is left out. */
function copyEvent(event: OrderedEvent): OrderedEvent {
  if (event.type === "message_start") return structuredClone(event);
  if (event.type !== "message_update") return { ...event };
  const { message: _, ...rest } = event;
  return structuredClone(rest);
}
