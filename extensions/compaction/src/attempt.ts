import type { CompactOptions, Context, Draft, ExtensionAPI, Model } from "@pi-agent/kernel";
import { type Budgets, budgetsOf } from "./budgets.ts";
import type { Reason } from "./hooks.ts";
import { type Plan, planOf } from "./plan.ts";
import { keepTokensOf, type Loaded, thresholdOf } from "./settings.ts";
import { isJustCompacted, type View, viewOf } from "./view.ts";

export interface Attempt extends CompactOptions {
  reason: Reason;
  /** The request that was too long will be made again. */
  willRetry: boolean;
  model: Model | undefined;
  /** What the context was counted to have; left out: what the kernel says. */
  counted?: number;
  /** Hides a failed attempt: what it hides is not summarised, and is hidden together with the summary. */
  hide?: readonly Draft<"context_edit">[];
}

/** An attempt with all that is known before anything is asked or written. */
export interface Work extends Attempt, Loaded {
  ctx: Context;
  signal: AbortSignal;
  view: View;
  budgets: Budgets;
  plan: Plan;
  threshold: number;
  counted: number;
}

type Prepared = Omit<Work, "view" | "budgets" | "plan" | "threshold" | "counted"> & Attempt;

/** Prepares an attempt. Answers nothing where there is nothing to do that would be worth it. */
export function prepare(given: Prepared): Work | undefined {
  const { pi, ctx, model, reason, hide = [] } = given;
  const view = viewOf(ctx, new Set(hide.map(({ targetId }) => targetId)));
  const overhead = overheadOf(pi, ctx);
  const counted = given.counted ?? ctx.getContextUsage()?.tokens ?? view.tokens + overhead;
  const threshold = model ? thresholdOf(given, model) : 0;
  const keepRecentTokens = keepTokensOf(given, model);
  const budgets = budgetsOf({ model, threshold, keepRecentTokens, counted, estimated: view.tokens, overhead });
  const plan = isJustCompacted(view.path) ? undefined : planOf(view, budgets);
  if (!plan || (plan.tokens === 0 && plan.edits.length === 0)) return undefined;
  if (reason === "threshold" && plan.edits.length === 0 && plan.tokens < budgets.leastTokens) return undefined;
  return { ...given, view, budgets, plan, threshold, counted };
}

/** What prompt and tools are estimated to have, in tokens. */
function overheadOf(pi: ExtensionAPI, ctx: Context): number {
  const active = new Set(pi.getActiveTools());
  const tools = pi
    .getAllTools()
    .filter(({ name }) => active.has(name))
    .map(({ name, description, parameters }) => ({ name, description, parameters }));
  const text = ctx.getSystemPrompt() + JSON.stringify(tools);
  return ctx.estimateTokens([{ role: "user", content: text, timestamp: 0 }]);
}
