/** Whether a failed call is tried again, and when. The typed cause decides; no text is read. */
import type { AssistantMessage, Failure, FailureKind } from "@pi-agent/kernel";
import type { RetrySettings } from "./settings.ts";

/** What may be gone at the next try. */
const PASSING: readonly FailureKind[] = [
  "rate_limit",
  "overloaded",
  "server",
  "network",
  "timeout",
  "malformed_response",
];

/** Where nobody knew the cause, the statuses that pass: those of Pi's list, and 408. */
const PASSING_STATUSES: readonly number[] = [408, 429, 500, 502, 503, 504, 520, 524];

/** A part of a wait that is left to chance, so that agents that failed together do not come back together. */
const JITTER = 0.25;

/** Tells whether a failure may be gone at the next try. */
export function isPassing({ kind, status }: Failure): boolean {
  if (kind !== "unknown") return PASSING.includes(kind);
  return status !== undefined && PASSING_STATUSES.includes(status);
}

/** Adds to a failure why its service's wait is not waited, where that is so. */
export function withExcess(message: AssistantMessage, settings: RetrySettings): AssistantMessage {
  const { failure, errorMessage = "" } = message;
  const isTriedElse = settings.enabled && settings.maxRetries > 0 && failure && isPassing(failure);
  if (!isTriedElse || !asksTooMuch(failure, settings)) return message;
  const asked = Math.ceil(failure.retryAfterMs! / 1_000);
  const most = settings.maxServerDelayMs / 1_000;
  const words = `The service asks to wait ${asked} s, and at most ${most} s are waited: try again later, or raise the setting retry.provider.maxRetryDelayMs.`;
  return { ...message, errorMessage: `${errorMessage} ${words}`.trim() };
}

function asksTooMuch({ retryAfterMs = 0 }: Failure, { maxServerDelayMs }: RetrySettings): boolean {
  return maxServerDelayMs > 0 && retryAfterMs > maxServerDelayMs;
}

/**
 * Answers the milliseconds until the next try, or nothing where there is none. `attempt` counts failures in a row,
 * from 1; `chance` is at least 0 and below 1.
 */
export function delayBeforeRetry(
  { message, attempt }: { message: AssistantMessage; attempt: number },
  settings: RetrySettings,
  chance: number,
): number | undefined {
  const { failure } = message;
  if (!settings.enabled || attempt > settings.maxRetries || !failure || !isPassing(failure)) return undefined;
  if (asksTooMuch(failure, settings)) return undefined;
  const backoff = Math.min(settings.baseDelayMs * 2 ** (attempt - 1), settings.maxAgentDelayMs);
  const spread = JITTER * chance * backoff;
  const { retryAfterMs } = failure;
  // Never before the service wants it; and a service that wants it at once is not hammered.
  const delay = retryAfterMs === undefined ? 0 : retryAfterMs + spread;
  return Math.round(Math.max(backoff - spread, delay));
}
