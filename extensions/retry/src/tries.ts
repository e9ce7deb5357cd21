import type { AssistantMessage, ExtensionAPI } from "@pi-agent/kernel";
import type { Tries } from "./completions.ts";
import { delayBeforeRetry, withExcess } from "./decide.ts";
import { type RetryOptions, readSettings } from "./settings.ts";

/** Makes what decides about each failure, by the settings as they are then. */
export function createTries(pi: ExtensionAPI, options: RetryOptions): Tries {
  const gone = new AbortController();
  pi.onDispose(() => gone.abort());
  return {
    plan(message: AssistantMessage, attempt: number) {
      const settings = readSettings(pi, options);
      const delayMs = delayBeforeRetry({ message, attempt }, settings, Math.random());
      return delayMs === undefined ? undefined : { attempt, maxAttempts: settings.maxRetries, delayMs };
    },
    word: (message) => withExcess(message, readSettings(pi, options)),
    gone: gone.signal,
  };
}
