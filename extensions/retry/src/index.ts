import type { Draft, ExtensionAPI } from "@pi-agent/kernel";
import { declareHooks, retryCompletion } from "./completions.ts";
import { Countdown } from "./countdown.ts";
import { OPTIONS, type RetryOptions } from "./settings.ts";
import { createTries } from "./tries.ts";

export type { RetryOptions } from "./settings.ts";

/** Tries failed provider calls again where the cause may pass. */
function retry(pi: ExtensionAPI, options: RetryOptions = {}): void {
  declareHooks(pi);
  const tries = createTries(pi, options);
  pi.on("message_end", ({ message }) => {
    if (message.role !== "assistant" || message.stopReason !== "error") return;
    const worded = tries.word(message);
    if (worded !== message) return { message: worded };
  });
  pi.on("provider_error", ({ message, attempt }, { transcript, ui }) => {
    const wait = tries.plan(message, attempt);
    if (!wait) {
      if (attempt > 1) ui.notify(`The call has failed ${attempt} times, and is not tried again.`, "warning");
      return;
    }
    const targetId = transcript.source(message);
    const entries: Draft[] = targetId ? [{ type: "context_edit", targetId, replacement: null }] : [];
    return { retry: { ...wait, reason: message.errorMessage ?? "", entries } };
  });
  pi.on("provider_call", (request, next) =>
    request.purpose === "turn" ? next(request) : retryCompletion(pi, { request, next }, tries),
  );

  const countdown = new Countdown();
  pi.onDispose(() => countdown.stop());
  pi.on("auto_retry_start", (wait, { ui }) => countdown.start(ui, wait));
  pi.on("auto_retry_end", () => countdown.stop());
  pi.on("summarization_retry_scheduled", (wait, { ui }) => countdown.start(ui, wait));
  pi.on("summarization_retry_finished", () => countdown.stop());
}

export default Object.assign(retry, { options: OPTIONS });
