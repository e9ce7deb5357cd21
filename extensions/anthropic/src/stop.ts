import type { RefusalStopDetails } from "@anthropic-ai/sdk/resources/messages";
import type { Answer } from "@pi-agent/wire";

/** What the service has told of the end. */
export interface Stop {
  reason: string | null;
  details?: RefusalStopDetails | null;
}

/**
 * Ends an answer for the reason that the service gave. After `pause_turn` it is to be asked again with the same blocks,
 * which is for the caller to do. A reason that is not known ends the answer well.
 */
export function endAnswer(answer: Answer, { reason, details }: Stop): void {
  const raw = reason ?? undefined;
  if (reason === "max_tokens" || reason === "model_context_window_exceeded") answer.done("length", raw);
  else if (reason === "refusal") {
    answer.message.rawStopReason = raw;
    const why = details?.explanation ?? "it gave no explanation";
    const category = details?.category ? ` (${details.category})` : "";
    answer.fail({ kind: "content_filter" }, `${answer.message.provider}: the model refused${category}: ${why}`);
  } else answer.done("stop", raw);
}
