/**
 * From the events of a run to lines.
 *
 *   agent_start ─► run_start      provider_call ─► llm_call … llm_response
 *   tool_execution_start ─► tool_call      tool_execution_end ─► tool_result
 *   agent_settled ─► run_error? run_end
 */
import type {
  AssistantMessage,
  Context,
  HookEvent,
  Message,
  ProviderRequest,
  StreamEvent,
  Usage,
} from "@pi-agent/kernel";
import { boundText, boundValue } from "./bound.ts";
import { type LoggedEvents, type LoggedUsage, type Place, toLine } from "./lines.ts";
import type { Mask } from "./mask.ts";

export interface StepLogOptions {
  mask: Mask;
  write(line: string): void;
  /** Names of the tools that are on. */
  activeTools(): readonly string[];
  /** The run that a child agent was made in. */
  parentRunId?: string;
}

// The answer is what a reader of `run_end` wants whole; this only keeps a line readable by ordinary programs.
const MAX_ANSWER_CHARS = 1_000_000;
// The longest that a service allows for a name or an id, and more.
const MAX_NAME_CHARS = 200;

interface RunSum {
  id: string;
  startedAt: number;
  iteration: number;
  turns: number;
  /** Failed calls in a row. */
  failures: number;
  usage: LoggedUsage;
  cost: number;
  last?: AssistantMessage;
}

export class StepLog {
  private readonly options: StepLogOptions;
  private run: RunSum | undefined;
  /** How often a request of `pi.complete` was sent. */
  private readonly attempts = new WeakMap<ProviderRequest, number>();
  /** The turn's call, until its answer is there: one that outlives an abort is ended with the run. */
  private openCall: { end(message: AssistantMessage | undefined): void } | undefined;

  constructor(options: StepLogOptions) {
    this.options = options;
  }

  /** A run starts once, however often its loop does. */
  startRun({ runId }: HookEvent<"agent_start">, ctx: Context): void {
    if (this.run?.id === runId) return;
    this.run = {
      id: runId,
      startedAt: performance.now(),
      iteration: 0,
      turns: 0,
      failures: 0,
      usage: noUsage(),
      cost: 0,
    };
    this.log("run_start", {
      sessionId: ctx.sessionId,
      cwd: boundText(ctx.cwd, this.options.mask),
      model: ctx.model && `${ctx.model.provider}/${ctx.model.id}`,
      tools: [...this.options.activeTools()],
      parentRunId: this.options.parentRunId,
    });
  }

  startTurn({ turnIndex }: HookEvent<"turn_start">): void {
    if (!this.run) return;
    this.run.iteration = turnIndex;
    this.run.turns++;
  }

  /** Passes a model call on, and logs it and its answer. */
  async *watchCall(
    request: ProviderRequest,
    next: (request: ProviderRequest) => AsyncIterable<readonly StreamEvent[]>,
    ctx: Context,
  ): AsyncGenerator<readonly StreamEvent[]> {
    const call = this.startCall(request, ctx);
    try {
      for await (const events of next(request)) {
        const last = events.at(-1);
        if (last?.type === "done") call.end(last.message);
        else if (last?.type === "error") call.end(last.error);
        yield events;
      }
    } finally {
      call.end(undefined);
    }
  }

  startTool({ toolName, toolCallId, args }: HookEvent<"tool_execution_start">): void {
    const bounded = boundValue(args, this.options.mask);
    this.log("tool_call", { ...this.nameCall(toolName, toolCallId), args: bounded });
  }

  endTool({ toolName, toolCallId, result, isError, durationMs }: HookEvent<"tool_execution_end">): void {
    const chars = result.content.reduce((sum, block) => sum + (block.type === "text" ? block.text.length : 0), 0);
    this.log("tool_result", {
      ...this.nameCall(toolName, toolCallId),
      isError,
      chars,
      durationMs: durationMs && round(durationMs),
    });
  }

  endLoop({ messages }: HookEvent<"agent_end">): void {
    if (this.run) this.run.last = messages.findLast(isAnswer) ?? this.run.last;
  }

  endRun({ outcome }: HookEvent<"agent_settled">): void {
    const { run } = this;
    if (!run) return;
    this.openCall?.end(undefined);
    const durationMs = round(performance.now() - run.startedAt);
    if (outcome === "error") this.log("run_error", { ...this.describeFailure(run.last), durationMs });
    this.log("run_end", { outcome, ...this.sumUp(run), durationMs });
    this.run = undefined;
  }

  private startCall(request: ProviderRequest, ctx: Context): { end(message: AssistantMessage | undefined): void } {
    const { purpose, messages } = request;
    const model = `${request.model.provider}/${request.model.id}`;
    const isTurn = purpose === "turn";
    const attempt = 1 + ((isTurn ? this.run?.failures : this.attempts.get(request)) ?? 0);
    if (!isTurn) this.attempts.set(request, attempt);
    const known = isTurn ? ctx.getContextUsage()?.tokens : undefined;
    const estimatedTokens = known ?? ctx.estimateTokens(messages);
    this.log("llm_call", { model, attempt, purpose, messages: messages.length, estimatedTokens });
    const startedAt = performance.now();
    let isOver = false;
    const call = {
      end: (message: AssistantMessage | undefined) => {
        if (isOver) return;
        isOver = true;
        const stopReason = message?.stopReason ?? (request.signal.aborted ? "aborted" : "error");
        this.endCall({ model, stopReason, message, isTurn, durationMs: round(performance.now() - startedAt) });
      },
    };
    if (isTurn) this.openCall = call;
    return call;
  }

  private endCall(call: {
    model: string;
    stopReason: LoggedEvents["llm_response"]["stopReason"];
    message: AssistantMessage | undefined;
    isTurn: boolean;
    durationMs: number;
  }): void {
    const { model, stopReason, message, durationMs } = call;
    const usage = message ? toLogged(message.usage) : noUsage();
    const cost = message?.usage.cost.total ?? 0;
    const toolCalls = message?.content.filter(({ type }) => type === "toolCall").length ?? 0;
    if (this.run) {
      addUsage(this.run.usage, usage);
      this.run.cost += cost;
      if (call.isTurn) this.run.failures = stopReason === "error" ? this.run.failures + 1 : 0;
    }
    this.log("llm_response", { model, stopReason, usage, cost, toolCalls, durationMs });
  }

  /** Both are what a model wrote. */
  private nameCall(toolName: string, toolCallId: string): { tool: string; toolCallId: string } {
    const { mask } = this.options;
    return {
      tool: boundText(toolName, mask, MAX_NAME_CHARS),
      toolCallId: boundText(toolCallId, mask, MAX_NAME_CHARS),
    };
  }

  private sumUp({ turns, usage, cost, last }: RunSum) {
    const texts = last?.content.flatMap((block) => (block.type === "text" ? block.text : [])) ?? [];
    return { turns, usage, cost, answer: boundText(texts.join("\n"), this.options.mask, MAX_ANSWER_CHARS) };
  }

  private describeFailure(last: AssistantMessage | undefined): { kind: string; message: string } {
    const message = last?.errorMessage ?? "The run ended with an error of its own.";
    return { kind: last?.failure?.kind ?? "unknown", message: boundText(message, this.options.mask) };
  }

  private log<E extends keyof LoggedEvents>(event: E, fields: LoggedEvents[E]): void {
    const place: Place = { runId: this.run?.id ?? null, iteration: this.run?.iteration ?? null };
    this.options.write(toLine(place, event, fields));
  }
}

function isAnswer(message: Message): message is AssistantMessage {
  return message.role === "assistant";
}

function noUsage(): LoggedUsage {
  return { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };
}

function toLogged({ input, output, cacheRead, cacheWrite, totalTokens }: Usage): LoggedUsage {
  return { input, output, cacheRead, cacheWrite, totalTokens };
}

function addUsage(sum: LoggedUsage, more: LoggedUsage): void {
  for (const key of Object.keys(sum) as (keyof LoggedUsage)[]) sum[key] += more[key];
}

/** Milliseconds to a tenth: what is finer is noise. */
function round(ms: number): number {
  return Math.round(ms * 10) / 10;
}
