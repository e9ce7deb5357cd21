import type { Extension, Handler, HookName } from "@pi-agent/kernel";
import type { Play } from "./driver.ts";

const EXTENSIONS = 10;

// With the two below, all that a turn with one tool call fires, but for what tells of a wire and of partial results.
const HOOKS = [
  "turn_start",
  "before_turn",
  "transcript_flush",
  "context",
  "before_provider_request",
  "before_provider_headers",
  "after_provider_response",
  "message_start",
  "message_update",
  "message_end",
  "tool_call",
  "tool_execution_start",
  "tool_execution_end",
  "tool_result",
  "turn_end",
] as const satisfies HookName[];

/** Makes extensions that listen to all of a turn and answer nothing. */
export function hookedExtensions(way: Play["hooks"]): Extension[] {
  if (!way) return [];
  const handler = way === "synchronous" ? () => {} : async () => {};
  return Array.from(
    { length: EXTENSIONS },
    (): Extension => (pi) => {
      for (const name of HOOKS) pi.on(name, handler as Handler<typeof name>);
      // Synchronous by contract.
      pi.on("transcript_append", () => {});
      pi.on("provider_call", (request, next) => next(request));
    },
  );
}
