/**
 * Where a run may turn: hooks that add entries and decide how it goes on.
 * What handlers draft is checked with each answer, and appended together when all have answered.
 */
import type { MaybePromise, Owner } from "./contract.ts";
import { type Core, HOST_OWNER } from "./core.ts";
import { AgentError } from "./errors.ts";
import type { HookResult } from "./hook-points.ts";
import { heard } from "./hooks.ts";
import type { AssistantMessage, Draft } from "./messages.ts";
import type { Run } from "./run.ts";
import { isModel, isThinkingLevel } from "./shapes.ts";
import { contextTokens } from "./tokens.ts";

export interface Decision {
  continue?: boolean;
  stop?: boolean;
}
type HookRetry = Extract<HookResult<"provider_error">, { retry: unknown }>["retry"];
export type Retry = Omit<HookRetry, "entries">;

/** Lets handlers prepare a turn. */
export async function beforeTurn(core: Core, run: Run): Promise<void> {
  const event = {
    type: "before_turn",
    runId: run.id,
    turnIndex: run.turnIndex,
    model: core.modelCopy(),
    contextTokens: contextTokens(core.transcript),
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

/**
 * What the handlers before one propose. It is made when somebody looks, and does not travel over the wire. The getters
 * are the class's: getters of the object's own would give every event a shape of its own.
 */
class Proposal {
  readonly #core: Core;
  readonly #drafts: readonly Draft[];
  readonly #decision: Decision;

  constructor(core: Core, drafts: readonly Draft[], decision: Decision) {
    this.#core = core;
    this.#drafts = drafts;
    this.#decision = decision;
  }

  get entries(): readonly Draft[] {
    return [...this.#drafts];
  }

  get continue(): boolean | undefined {
    return this.#decision.continue;
  }

  get context() {
    return preview(this.#core, this.#drafts);
  }
}

/** Asks what is to become of a run at a boundary, and appends what the handlers drafted. */
export function boundary(core: Core, name: "turn_end" | "agent_before_settle", fields: object): MaybePromise<Decision> {
  const drafts: Draft[] = [];
  const decision: Decision = {};
  let decider: Owner = HOST_OWNER;
  const event = Object.freeze(Object.assign(new Proposal(core, drafts, decision), { type: name }, fields));
  const asked = core.hooks.collect<"turn_end">(core.hooks.at[name], event, ({ entries, ...wish }, owner) => {
    drafts.push(...core.toProposed(entries));
    for (const key of ["continue", "stop"] as const) {
      if (typeof wish[key] === "boolean") decision[key] = wish[key];
    }
    decider = owner;
  });
  const decide = () => {
    core.appendWhole(drafts);
    if (decision.continue && !preview(core, []).canContinue) {
      decision.continue = undefined;
      core.report({ owner: decider, event: name, error: nothingToAnswer(name) });
    }
    return decision;
  };
  return asked ? asked.then(decide) : decide();
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

function preview({ transcript, queue }: Core, drafts: readonly Draft[]) {
  const { steering, followUp } = queue.peek();
  const messages = transcript.preview(drafts);
  const pendingMessages = [...steering, ...followUp];
  const canContinue = pendingMessages.length > 0 || (messages.at(-1)?.role ?? "assistant") !== "assistant";
  return { messages, pendingMessages, canContinue };
}

function nothingToAnswer(name: string): AgentError {
  return new AgentError(
    "cannot_continue",
    `Its handler for ${name} wants to go on, but the last word is the model's.`,
    {
      hint: "Return a custom_message in `entries` beside `continue: true`, for the model to answer.",
    },
  );
}
