/** The kernel's own points, one line each: the way their handlers combine, and what else holds for them. */
import type { Way } from "./hook-points.ts";
import type { HookTable } from "./hooks.ts";

/** `hot`: told in every turn, or oftener, so that a slow handler is felt. `wire`: forwarded by JSON and RPC mode. */
type Row = `${Way}${"" | " hot"}${"" | " wire"}`;

const POINTS: Readonly<Record<string, Row>> = {
  agent_start: "notify wire",
  agent_end: "notify wire",
  agent_settled: "notify wire",
  turn_start: "notify hot wire",
  message_start: "notify hot wire",
  message_update: "notify hot wire",
  tool_execution_start: "notify hot wire",
  tool_execution_update: "notify hot wire",
  tool_execution_end: "notify hot wire",
  session_start: "notify",
  session_shutdown: "notify",
  session_info_changed: "notify wire",
  ui_prompt_start: "notify",
  ui_prompt_end: "notify",
  model_select: "notify",
  thinking_level_select: "notify",
  resources_changed: "notify",
  queue_update: "notify wire",
  extension_error: "notify wire",
  fault: "notify",
  auto_retry_start: "notify wire",
  auto_retry_end: "notify wire",
  after_provider_response: "notify hot",
  provider_stream_event: "notify hot",
  transcript_append: "notify hot",
  transcript_flush: "notify hot",
  input: "chain",
  before_agent_start: "chain",
  before_turn: "chain hot",
  context: "chain hot",
  before_provider_headers: "chain hot",
  before_provider_request: "chain hot",
  message_end: "chain hot wire",
  tool_result: "chain hot",
  turn_end: "chain hot wire",
  agent_before_settle: "chain",
  tool_call: "gate hot",
  provider_error: "first",
  session_select: "first",
  provider_call: "around",
};

export function declareKernelPoints(table: HookTable): void {
  for (const [name, row] of Object.entries(POINTS)) {
    const [way, ...more] = row.split(" ");
    table.declare(name, { way: way as Way, wire: more.includes("wire"), hot: more.includes("hot") });
  }
}
