/** Before a turn, and after a call that failed: hooks that add entries, and decide how the run goes on. */
import type { Core } from "./core.ts";
import type { HookResult } from "./hook-points.ts";
import type { AssistantMessage } from "./messages.ts";
import { heard } from "./points.ts";
import type { Run } from "./run.ts";
import { isModel, isThinkingLevel } from "./shapes.ts";
import { contextTokens } from "./tokens.ts";

type HookRetry = Extract<HookResult<"provider_error">, { retry: unknown }>["retry"];
export type Retry = Omit<HookRetry, "entries">;

/** Lets handlers prepare a turn. */
export async function beforeTurn(core: Core, run: Run): Promise<void> {
  const event = {
    type: "before_turn",
    runId: run.id,
    turnIndex: run.turnIndex,
    model: core.modelCopy(),
    contextTokens: contextTokens(core),
  };
  const results: HookResult<"before_turn">[] = [];
  await core.hooks.collect<"before_turn">(core.hooks.at.before_turn, event, (answer) => {
    // Read once: what is checked is what is used.
    const { model, thinkingLevel, activeTools } = answer;
    const entries = core.toProposed(answer.entries);
    if (model !== undefined && !isModel(model)) throw new Error("before_turn must answer with a model.");
    if (thinkingLevel !== undefined && !isThinkingLevel(thinkingLevel)) {
      throw new Error("before_turn must answer with a thinking level.");
    }
    if (activeTools !== undefined && !isNames(activeTools)) {
      throw new Error("before_turn must answer with the names of tools.");
    }
    results.push({ entries, model, thinkingLevel, activeTools });
  });
  for (const { entries, model, thinkingLevel, activeTools } of results) {
    core.appendWhole(entries ?? []);
    if (model) core.model = model;
    if (thinkingLevel) core.thinkingLevel = thinkingLevel;
    if (activeTools) core.setActiveTools(activeTools);
  }
}

/** Asks whether a failed call is tried again, and writes what the answer wants written. */
export async function askRetry(core: Core, run: Run, message: AssistantMessage): Promise<Retry | undefined> {
  const point = core.hooks.at.provider_error;
  run.attempt++;
  if (!heard(point)) return undefined;
  const event = {
    type: "provider_error",
    runId: run.id,
    turnIndex: run.turnIndex,
    message,
    attempt: run.attempt,
  };
  let decision: HookResult<"provider_error"> | undefined;
  await core.hooks.collect<"provider_error">(point, event, (answer) => {
    decision = "retry" in answer ? { retry: checkedRetry(core, answer.retry) } : answer;
    return true;
  });
  if (!decision || !("retry" in decision)) return undefined;
  core.appendWhole(decision.retry.entries ?? []);
  return decision.retry;
}

function checkedRetry(core: Core, { delayMs, reason, maxAttempts, entries: given }: HookRetry): HookRetry {
  const entries = core.toProposed(given);
  if (!Number.isFinite(delayMs) || delayMs < 0) throw new Error("provider_error must name a delay in milliseconds.");
  if (typeof reason !== "string") throw new Error("provider_error must give the reason of a retry.");
  return { delayMs, reason, maxAttempts, entries };
}

function isNames(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((name) => typeof name === "string");
}

/** Waits before a failed call is tried again. */
export async function waitForRetry(core: Core, run: Run, retry: Retry): Promise<void> {
  const { delayMs, reason, maxAttempts = run.attempt } = retry;
  const { attempt } = run;
  await core.tell({ type: "auto_retry_start", attempt, maxAttempts, delayMs, errorMessage: reason });
  core.ownActivity = "retrying";
  await run.sleep(delayMs);
  core.ownActivity = "running";
  await core.tell({
    type: "auto_retry_end",
    success: !run.isAborted,
    attempt,
    finalError: run.isAborted ? "Retry cancelled" : undefined,
  });
}
