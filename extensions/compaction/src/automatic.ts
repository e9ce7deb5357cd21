/**
 * When it compacts by itself.
 *
 *   before_turn      the window fills up          ──► compact, and go on; what fails is told, and the turn goes on
 *   provider_error   the request was too long     ──► compact, and ask again: once for each message of a person
 *   turn_end         the answer was cut for want of room ─┘
 *                    the answer was asked for with more than the window ──► compact
 */
import type { Context, Draft, Entry, FailureKind, HookEvent, HookResult, Model } from "@pi-agent/kernel";
import type { Attempt } from "./attempt.ts";
import type { Done } from "./compactor.ts";
import { endOf } from "./overflow.ts";
import { isAutomatic, type Loaded, thresholdOf } from "./settings.ts";
import { isAside } from "./view.ts";
import { TOO_LONG, textOfError } from "./words.ts";

/** After so many failures in a row it waits for a person. */
const MAX_FAILURES = 3;
/** What passes by itself: it says nothing of the conversation or the model, and is not counted. */
const PASSING: readonly (FailureKind | undefined)[] = ["rate_limit", "overloaded", "server", "network", "timeout"];

/** A window that was found full is taken to be full from so much of what it had then. */
const LEARNED_SHARE = 0.9;
/** Whatever is refused, a window is not taken to be smaller than this part of what its model says. */
const LEAST_SHARE = 0.25;

/** What a compaction throws, and what was the matter with a call, where it was a call. */
type Failed = Error & { code?: string; hint?: string; cause?: { kind?: FailureKind } };

/** Has a conversation compacted when it must be. */
export class Automatic {
  private readonly loaded: Loaded;
  private failures = 0;
  /** Session and model that the failures are of: with others it is tried again. */
  private failedIn = "";
  /** What was told last: the same is not told at each turn. */
  private told = "";
  /** What a person said, or what started a run in their place, that a request was made again for. */
  private recoveredFor: string | undefined;
  /** By model, what a context had that was refused although it should have fit: its window is smaller than it says. */
  private readonly refused = new Map<string, number>();

  constructor(loaded: Loaded) {
    this.loaded = loaded;
  }

  /** Nothing is amiss any more. */
  recover(): void {
    this.failures = 0;
    this.told = "";
  }

  /** Looks before each turn; where the window is far from full it costs a comparison. */
  beforeTurn({ model, contextTokens }: HookEvent<"before_turn">, ctx: Context): Promise<void> | undefined {
    const threshold = this.thresholdFor(model);
    if (threshold <= 0 || contextTokens <= threshold || !this.isOn(ctx, model)) return undefined;
    return this.run(ctx, { reason: "threshold", willRetry: false, model, counted: contextTokens }).then(() => {});
  }

  /** Makes a request that was too long fit, and has it made again. */
  async onProviderError(
    { message }: HookEvent<"provider_error">,
    ctx: Context,
  ): Promise<HookResult<"provider_error"> | undefined> {
    if (message.failure?.kind !== "context_overflow") return undefined;
    const { model } = ctx;
    const request = requestIn(ctx);
    if (!model || !(await this.mayRecover(ctx, model, request))) return { stop: true };
    const failed = ctx.transcript.source(message);
    const hide = failed === undefined ? [] : [omission(failed)];
    const tokens = ctx.getContextUsage()?.tokens ?? 0;
    this.learn(model, tokens);
    const counted = Math.max(tokens, model.contextWindow);
    const done = await this.run(ctx, { reason: "overflow", willRetry: true, model, counted, hide });
    if (done === "nothing") await this.giveUp(ctx, TOO_LONG.nothing);
    if (done === undefined || done === "nothing") return { stop: true };
    this.recoveredFor = request;
    return { retry: { delayMs: 0, reason: "The conversation was compacted: it was too long.", maxAttempts: 1 } };
  }

  /** Looks at how an answer ended. */
  onTurnEnd(event: HookEvent<"turn_end">, ctx: Context): Promise<HookResult<"turn_end"> | undefined> | undefined {
    const { message } = event;
    if (message.stopReason !== "stop" && message.stopReason !== "length") return undefined;
    const { model } = ctx;
    const end = model && endOf(message, model);
    if (!end || !isAutomatic(this.loaded)) return undefined;
    return end === "full" ? this.shrink(ctx, model) : this.askAgain(event, ctx, model);
  }

  private async shrink(ctx: Context, model: Model): Promise<undefined> {
    if (this.isOn(ctx, model)) await this.run(ctx, { reason: "overflow", willRetry: false, model });
  }

  private async askAgain(
    { messageEntryId, toolResultEntryIds }: HookEvent<"turn_end">,
    ctx: Context,
    model: Model,
  ): Promise<HookResult<"turn_end"> | undefined> {
    const request = requestIn(ctx);
    if (!(await this.mayRecover(ctx, model, request))) return undefined;
    const hide = [messageEntryId, ...toolResultEntryIds].map(omission);
    const done = await this.run(ctx, { reason: "overflow", willRetry: true, model, hide });
    if (done === "nothing") await this.giveUp(ctx, TOO_LONG.nothing);
    if (done === undefined || done === "nothing") return undefined;
    this.recoveredFor = request;
    return { continue: true };
  }

  private thresholdFor(model: Model): number {
    const threshold = thresholdOf(this.loaded, model);
    if (this.refused.size === 0) return threshold;
    return Math.min(threshold, this.refused.get(nameOf(model)) ?? threshold);
  }

  private learn(model: Model, tokens: number): void {
    if (tokens < LEAST_SHARE * model.contextWindow || tokens >= model.contextWindow) return;
    this.refused.set(nameOf(model), LEARNED_SHARE * tokens);
  }

  /** Tells what stands against it. */
  private async mayRecover(ctx: Context, model: Model, request: string): Promise<boolean> {
    const isDone = this.recoveredFor === request;
    if (!isAutomatic(this.loaded)) ctx.ui.notify(TOO_LONG.off, "error");
    else if (!this.isOn(ctx, model)) await this.giveUp(ctx, TOO_LONG.paused);
    else if (isDone) await this.giveUp(ctx, TOO_LONG.again);
    else return true;
    return false;
  }

  private async giveUp(ctx: Context, message: string): Promise<void> {
    const { tellFailure } = await import("./compactor.ts");
    const told = { reason: "overflow", willRetry: false, fromExtension: false } as const;
    await tellFailure(this.loaded.pi, { code: "compaction_failed", message }, told);
    ctx.ui.notify(message, "error");
  }

  private isOn(ctx: Context, model: Model): boolean {
    const isSame = this.failedIn === placeOf(ctx, model);
    return isAutomatic(this.loaded) && !(isSame && this.failures >= MAX_FAILURES);
  }

  /** Answers nothing where it failed: that is told, and not thrown. */
  private async run(ctx: Context, attempt: Attempt & { model: Model }): Promise<Done | undefined> {
    try {
      const { compact } = await import("./compactor.ts");
      const done = await compact(this.loaded, attempt);
      if (done !== "nothing") this.recover();
      return done;
    } catch (thrown) {
      const { code, message, hint, cause } = thrown as Failed;
      if (code === "aborted" || ctx.signal?.aborted) return undefined;
      this.tell(ctx, textOfError({ message, hint }));
      if (code !== "compaction_cancelled" && !PASSING.includes(cause?.kind)) this.countFailure(ctx, attempt.model);
      return undefined;
    }
  }

  private tell(ctx: Context, text: string): void {
    if (text !== this.told) ctx.ui.notify(text, "warning");
    this.told = text;
  }

  private countFailure(ctx: Context, model: Model): void {
    const place = placeOf(ctx, model);
    if (this.failedIn !== place) this.failures = 0;
    this.failedIn = place;
    this.failures++;
    if (this.failures < MAX_FAILURES) return;
    const pauses = `Automatic compaction has failed ${this.failures} times in a row, and pauses in this session until you compact with /compact or choose another model.`;
    ctx.ui.notify(pauses, "error");
  }
}

function placeOf({ sessionId }: Context, model: Model): string {
  return `${sessionId} ${nameOf(model)}`;
}

function nameOf({ provider, id }: Model): string {
  return `${provider}/${id}`;
}

function omission(targetId: string): Draft<"context_edit"> {
  return { type: "context_edit", targetId, replacement: null };
}

/** The id of what is being answered: what a person said last, or a message of an extension that came after an answer. */
function requestIn({ transcript }: Context): string {
  const said = transcript.path().filter((entry) => !isAside(entry) && !isOf(entry, "system"));
  const isRequest = (entry: Entry, at: number) =>
    isOf(entry, "user") || (entry.type === "custom_message" && (at === 0 || isAnswer(said[at - 1]!)));
  return said.findLast(isRequest)?.id ?? "";
}

function isOf(entry: Entry, role: Entry<"message">["message"]["role"]): boolean {
  return entry.type === "message" && entry.message.role === role;
}

/** Tells whether a run may have ended with an entry: what comes after a call or its result is only said beside it. */
function isAnswer(entry: Entry): boolean {
  return entry.type === "message" && entry.message.role === "assistant" && entry.message.stopReason !== "toolUse";
}
