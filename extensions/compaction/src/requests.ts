import type { AssistantMessage, Context, ExtensionAPI, Model, Usage } from "@pi-agent/kernel";
import type { Ask } from "./summarize.ts";

export interface Requests {
  ask: Ask;
  /** What they cost so far. */
  spent: {
    readonly usage: Usage | undefined;
    /** Puts it on record in an entry of its own. */
    record(): void;
  };
}

interface Given {
  ctx: Context;
  model: Model | undefined;
  signal: AbortSignal;
  /** How long an answer may be. */
  maxTokens: number;
  purpose: "compaction" | "branch_summary";
}

/** Makes what asks a model for summaries. An abort ends the wait at once, whether the provider obeys it or not. */
export function createAsk(pi: ExtensionAPI, { ctx, model, signal, maxTokens, purpose }: Given): Requests {
  let usage: Usage | undefined;
  let last: AssistantMessage | undefined;
  const ask: Ask = async ({ systemPrompt, text }) => {
    signal.throwIfAborted();
    const thinkingLevel = model?.reasoning === false ? "off" : ctx.thinkingLevel;
    const answer = pi.complete({
      messages: [{ role: "user", content: text, timestamp: Date.now() }],
      systemPrompt,
      model,
      thinkingLevel,
      maxTokens,
      purpose,
      recordsUsage: false,
      signal,
    });
    last = await untilAborted(answer, signal);
    usage = usage ? sum(usage, last.usage) : last.usage;
    signal.throwIfAborted();
    return last;
  };
  const record = () => {
    if (!usage || !last || usage.totalTokens === 0) return;
    pi.append([{ type: "usage", kind: purpose, provider: last.provider, model: last.model, usage }]);
  };
  return {
    ask,
    spent: {
      get usage() {
        return usage;
      },
      record,
    },
  };
}

/** Waits for work, and no longer than up to an abort. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = () => reject(signal.reason as Error);
    if (signal.aborted) end();
    signal.addEventListener("abort", end, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", end));
  });
}

function sum(one: Usage, more: Usage): Usage {
  return {
    input: one.input + more.input,
    output: one.output + more.output,
    cacheRead: one.cacheRead + more.cacheRead,
    cacheWrite: one.cacheWrite + more.cacheWrite,
    totalTokens: one.totalTokens + more.totalTokens,
    cost: {
      input: one.cost.input + more.cost.input,
      output: one.cost.output + more.cost.output,
      cacheRead: one.cost.cacheRead + more.cost.cacheRead,
      cacheWrite: one.cost.cacheWrite + more.cost.cacheWrite,
      total: one.cost.total + more.cost.total,
    },
  };
}
