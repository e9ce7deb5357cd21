/**
 * Calls outside of the loop, such as those that write summaries. Nobody watches them come, so what a try sends is held
 * back until it is known to be the last.
 *
 *   next(request) ──► an answer, or a failure that stays ──► handed on
 *         ▲                    │
 *         └────── wait ◄───────┘ a failure that may pass
 */
import type { AssistantMessage, ExtensionAPI, Point, ProviderRequest, StreamEvent } from "@pi-agent/kernel";
import type { RetryWait } from "./countdown.ts";

declare module "@pi-agent/kernel" {
  interface HookPoints {
    /** A call outside of the loop has failed and is tried again after a wait. */
    summarization_retry_scheduled: Point<"notify", RetryWait & { errorMessage: string }>;
    /** The wait is over. `source` is what the call is for, such as `compaction`. */
    summarization_retry_attempt_start: Point<"notify", { source: string }>;
    /** The call that was tried again has ended, well or not. */
    summarization_retry_finished: Point<"notify", object>;
  }
}

type Batch = readonly StreamEvent[];
type Call = (request: ProviderRequest) => AsyncIterable<Batch>;

export interface Tries {
  /** Answers the wait before the next try, or nothing where there is none. */
  plan(message: AssistantMessage, attempt: number): RetryWait | undefined;
  /** Words a failure that stays. */
  word(message: AssistantMessage): AssistantMessage;
  /** Fires when the extension is unloaded. */
  gone: AbortSignal;
}

export function declareHooks(pi: ExtensionAPI): void {
  pi.declareHook("summarization_retry_scheduled", { way: "notify", wire: true });
  pi.declareHook("summarization_retry_attempt_start", { way: "notify", wire: true });
  pi.declareHook("summarization_retry_finished", { way: "notify", wire: true });
}

/** Makes a call, and makes it again as long as `tries` plans to. */
export async function* retryCompletion(
  pi: Pick<ExtensionAPI, "dispatch">,
  { request, next }: { request: ProviderRequest; next: Call },
  tries: Tries,
): AsyncGenerator<Batch> {
  const ended = AbortSignal.any([request.signal, tries.gone]);
  for (let attempt = 1; ; attempt++) {
    const held: Batch[] = [];
    for await (const batch of next(request)) held.push(batch);
    const failed = ended.aborted ? undefined : failureOf(held);
    const wait = failed && tries.plan(failed, attempt);
    if (wait) {
      await pi.dispatch("summarization_retry_scheduled", { ...wait, errorMessage: failed.errorMessage ?? "" });
      await sleep(wait.delayMs, ended);
    }
    if (!wait || ended.aborted) {
      if (attempt > 1 || wait) await tellFinished(pi, tries.gone);
      yield* failed && !wait ? withLast(held, tries.word(failed)) : held;
      return;
    }
    await pi.dispatch("summarization_retry_attempt_start", { source: request.purpose });
  }
}

async function tellFinished(pi: Pick<ExtensionAPI, "dispatch">, gone: AbortSignal): Promise<void> {
  if (!gone.aborted) await pi.dispatch("summarization_retry_finished", {});
}

function failureOf(held: readonly Batch[]): AssistantMessage | undefined {
  const last = held.at(-1)?.at(-1);
  return last?.type === "error" && last.reason === "error" ? last.error : undefined;
}

function withLast(held: readonly Batch[], error: AssistantMessage): Batch[] {
  return [...held.slice(0, -1), [...held.at(-1)!.slice(0, -1), { type: "error", reason: "error", error }]];
}

/** A timer that is set to more fires at once. */
const MAX_DELAY_MS = 2 ** 31 - 1;

function sleep(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, Math.min(delayMs, MAX_DELAY_MS));
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
  });
}
