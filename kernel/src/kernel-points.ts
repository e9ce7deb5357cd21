/** The kernel's own points, by the way their handlers combine. */
import type { HookName, Way } from "./hook-points.ts";
import type { HookTable } from "./hooks.ts";

/** Told in every turn, or oftener: a slow handler is felt there. Those of `WIRE` are forwarded by JSON and RPC mode. */
const HOT: readonly HookName[] = [
  "turn_start",
  "before_turn",
  "transcript_append",
  "transcript_flush",
  "context",
  "before_provider_headers",
  "before_provider_request",
  "after_provider_response",
  "provider_stream_event",
  "message_start",
  "message_update",
  "message_end",
  "tool_execution_start",
  "tool_call",
  "tool_execution_update",
  "tool_result",
  "tool_execution_end",
  "turn_end",
];
const WIRE: readonly HookName[] = [
  "agent_start",
  "agent_end",
  "agent_settled",
  "turn_start",
  "message_start",
  "message_update",
  "message_end",
  "tool_execution_start",
  "tool_execution_update",
  "tool_execution_end",
  "turn_end",
  "queue_update",
  "session_info_changed",
  "auto_retry_start",
  "auto_retry_end",
  "extension_error",
];
const POINTS: Readonly<Record<Way, readonly HookName[]>> = {
  notify: [
    "agent_start",
    "agent_end",
    "agent_settled",
    "turn_start",
    "message_start",
    "message_update",
    "tool_execution_start",
    "tool_execution_update",
    "tool_execution_end",
    "session_start",
    "session_shutdown",
    "session_info_changed",
    "ui_prompt_start",
    "ui_prompt_end",
    "model_select",
    "thinking_level_select",
    "resources_changed",
    "queue_update",
    "extension_error",
    "fault",
    "auto_retry_start",
    "auto_retry_end",
    "after_provider_response",
    "provider_stream_event",
    "transcript_append",
    "transcript_flush",
  ],
  chain: [
    "input",
    "before_agent_start",
    "before_turn",
    "context",
    "before_provider_headers",
    "before_provider_request",
    "message_end",
    "tool_result",
    "turn_end",
    "agent_before_settle",
  ],
  gate: ["tool_call"],
  first: ["provider_error", "session_select"],
  vote: [],
  around: ["provider_call"],
};

export function declareKernelPoints(table: HookTable): void {
  for (const [way, names] of Object.entries(POINTS) as [Way, readonly HookName[]][]) {
    for (const name of names) table.declare(name, { way, wire: WIRE.includes(name), hot: HOT.includes(name) });
  }
}
