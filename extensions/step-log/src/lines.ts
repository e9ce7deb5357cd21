/** The lines of the log: their events and fields, which people parse and which therefore stay as they are. */
import type { Json, StopReason } from "@pi-agent/kernel";

export interface LoggedUsage {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  totalTokens: number;
}

/** Each event's fields, beside `ts`, `runId`, `iteration` and `event`. Costs are US dollars. */
export interface LoggedEvents {
  /** `parentRunId` is there for the run of a child agent that was made in a run. */
  run_start: { sessionId: string; cwd: string; model?: string; tools: string[]; parentRunId?: string };
  /** `attempt` counts from 1; `purpose` is `turn`, or what a package asked for. */
  llm_call: { model: string; attempt: number; purpose: string; messages: number; estimatedTokens: number };
  /** `toolCalls` is how many the model asked for. */
  llm_response: {
    model: string;
    stopReason: StopReason;
    usage: LoggedUsage;
    cost: number;
    toolCalls: number;
    durationMs: number;
  };
  tool_call: { tool: string; toolCallId: string; args: Json };
  /** `chars` is the length of the text that the model gets; `durationMs` is missing when the tool never ran. */
  tool_result: { tool: string; toolCallId: string; isError: boolean; chars: number; durationMs?: number };
  run_end: {
    outcome: string;
    turns: number;
    usage: LoggedUsage;
    cost: number;
    answer: string;
    durationMs: number;
  };
  /** Comes before the `run_end` of a run that ended with an error. */
  run_error: { kind: string; message: string; durationMs: number };
}

/** Where in a run a line belongs; both `null` for a model call outside a run. */
export interface Place {
  runId: string | null;
  iteration: number | null;
}

/** Writes one line. `ts` is ISO 8601. */
export function toLine<E extends keyof LoggedEvents>(place: Place, event: E, fields: LoggedEvents[E]): string {
  const { runId, iteration } = place;
  return `${JSON.stringify({ ts: new Date().toISOString(), runId, iteration, event, ...fields })}\n`;
}
