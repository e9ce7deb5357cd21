/**
 * The loop. On success, error and abort alike:
 *
 *   settle := (agent_start turn+ agent_end)+ agent_settled
 *   turn   := turn_start (message_start message_end)*         what enters: user, custom, steering
 *             [before_turn] [flush] [context]
 *             message_start message_update* message_end       the answer, also a failed or aborted one
 *             tools? turn_end
 *
 *   after a turn:  aborted, failed, stopped, out of turns ──► end
 *                  calls answered, or steering waits      ──► next turn
 *                  else follow-ups, else a hook that wants to go on, else end
 *
 * Most turns have no listeners: what nobody hears is neither made nor waited for.
 */
import { askRetry, beforeTurn, waitForRetry } from "./boundary.ts";
import type { MaybePromise, Outcome } from "./contract.ts";
import { type Core, HOST_OWNER } from "./core.ts";
import { toAgentError } from "./errors.ts";
import type { Loadout } from "./loadout.ts";
import type { AssistantMessage, Message, StreamEvent, ToolResultMessage } from "./messages.ts";
import { heard } from "./points.ts";
import { messagesOf } from "./projection.ts";
import { decideSettling, decideTurn } from "./proposals.ts";
import { type Ask, type Listener, streamAnswer } from "./provider-call.ts";
import { reviewContext } from "./reviewed-context.ts";
import type { Run } from "./run.ts";
import { runTools } from "./tool-batch.ts";
import { isPromise } from "./values.ts";

/** A provider that pauses its answer is asked to go on at most so often in a row. */
const MAX_PAUSES = 8;

interface TurnEnd {
  message: AssistantMessage;
  /** Tools ran, and the model has to hear of it. */
  wantsMore: boolean;
  continues: boolean;
  stops: boolean;
  retries: boolean;
}

/** Runs until nothing is left to do; `first` enters with the first turn. */
export async function runLoop(core: Core, run: Run, first: Message[]): Promise<Outcome> {
  let entering = first;
  for (;;) {
    const from = core.transcript.leafId;
    await core.tell({ type: "agent_start", runId: run.id });
    const outcome = await runTurns(core, run, entering).catch((thrown: unknown): Outcome => {
      core.report({ owner: HOST_OWNER, event: "run", error: toAgentError(thrown) });
      return "error";
    });
    let messages: readonly Message[] | undefined;
    await core.tell({
      type: "agent_end",
      runId: run.id,
      outcome,
      willRetry: false,
      get messages() {
        return (messages ??= Object.freeze(messagesSince(core, from)));
      },
    });
    if (!(await goesOnBeforeSettling(core, run, outcome))) return outcome;
    if (isOutOfTurns(core, run)) return "max_turns";
    entering = [];
  }
}

async function runTurns(core: Core, run: Run, first: Message[]): Promise<Outcome> {
  let entering = first;
  let pauses = 0;
  for (;;) {
    run.turnIndex++;
    const turn = await runTurn(core, run, entering);
    if (run.isAborted) return "aborted";
    if (turn.message.stopReason === "error" && !turn.retries) return "error";
    if (turn.stops) return "stopped";
    pauses = turn.message.rawStopReason === "pause_turn" ? pauses + 1 : 0;
    const isDriven = turn.wantsMore || turn.retries || (pauses > 0 && pauses <= MAX_PAUSES);
    if (!isDriven && !turn.continues && core.queue.isEmpty) return "done";
    if (isOutOfTurns(core, run)) return "max_turns";
    entering = core.queue.takeSteering();
    if (!isDriven && entering.length === 0) entering = core.queue.takeFollowUp();
  }
}

async function runTurn(core: Core, run: Run, entering: readonly Message[]): Promise<TurnEnd> {
  const { at } = core.hooks;
  const { id: runId, turnIndex } = run;
  let loadout = core.loadout();
  const begun = heard(at.turn_start) && core.tell({ type: "turn_start", runId, turnIndex, timestamp: Date.now() });
  if (begun) await begun;
  for (const message of entering) keep(core, await entered(core, run, message));
  if (heard(at.before_turn)) {
    await beforeTurn(core, run);
    loadout = core.loadout();
  }
  if (heard(at.transcript_flush)) await core.flush("turn");

  const reviewing = reviewed(core, run, await askModel(core, run, loadout));
  const message = (isPromise(reviewing) ? await reviewing : reviewing) as AssistantMessage;
  const entryId = keep(core, message);
  const isWhole = message.stopReason !== "error" && message.stopReason !== "aborted";
  const retry = message.stopReason === "error" && !run.isAborted ? await askRetry(core, run, message) : undefined;
  if (isWhole) run.attempt = 0;

  const results = new Results(core, run);
  const hasCalls = isWhole && message.content.some(isCall);
  const wantsMore = hasCalls && !(await runTools(core, run, { message, loadout, results }));
  const outcome = run.isAborted ? "aborted" : isWhole ? "done" : (message.stopReason as Outcome);
  const deciding = heard(at.turn_end) ? decideTurn(core, run, { message, entryId, results, outcome }) : undefined;
  const decision = isPromise(deciding) ? await deciding : deciding;
  // Nobody waits for an attempt that is not to be made.
  if (retry && !isOutOfTurns(core, run)) await waitForRetry(core, run, retry);
  return {
    message,
    wantsMore,
    retries: retry !== undefined,
    continues: decision?.continue ?? false,
    stops: decision?.stop ?? false,
  };
}

/** The results of a turn's calls, in call order, and the ids of their entries. */
class Results {
  readonly messages: ToolResultMessage[] = [];
  readonly entryIds: string[] = [];
  private readonly core: Core;
  private readonly run: Run;

  constructor(core: Core, run: Run) {
    this.core = core;
    this.run = run;
  }

  add(result: ToolResultMessage): MaybePromise<void> {
    const kept = entered(this.core, this.run, result);
    return isPromise(kept) ? kept.then((message) => this.keep(message)) : this.keep(kept);
  }

  private keep(message: Message): void {
    this.messages.push(message as ToolResultMessage);
    this.entryIds.push(keep(this.core, message));
  }
}

/** Tells that a message begins and ends; answers what the handlers made of it. */
function entered(core: Core, run: Run, message: Message): MaybePromise<Message> {
  const { at } = core.hooks;
  if (!heard(at.message_start)) return reviewed(core, run, message);
  const told = core.tell({ type: "message_start", runId: run.id, turnIndex: run.turnIndex, message });
  return told ? told.then(() => reviewed(core, run, message)) : reviewed(core, run, message);
}

/** Asks the handlers of `message_end`, which may replace a message. */
function reviewed(core: Core, run: Run, message: Message): MaybePromise<Message> {
  const point = core.hooks.at.message_end;
  if (!heard(point)) return message;
  const { id: runId, turnIndex } = run;
  const toEvent = (kept: Message) => Object.freeze({ type: "message_end", runId, turnIndex, message: kept });
  let current = message;
  const asked = core.hooks.collect<"message_end">(point, toEvent(message), ({ message: replacement }) => {
    if (replacement?.role !== message.role) {
      throw new Error(`message_end may only return a message with role ${message.role}.`);
    }
    current = core.toMessage(replacement);
    return toEvent(current);
  });
  return asked ? asked.then(() => current) : current;
}

/** Appends a message; answers the id of its entry. */
function keep(core: Core, message: Message): string {
  if (message.role !== "custom") return core.appendMessage(message).id;
  const { customType, content, display, details } = message;
  return core.appendOne({ type: "custom_message", customType, content, display, details }).id;
}

function askModel(core: Core, run: Run, loadout: Loadout): Promise<AssistantMessage> {
  const { at } = core.hooks;
  const projected = core.transcript.project();
  if (!heard(at.context)) return askWith(core, run, { loadout, messages: projected });
  return reviewContext(core, run, projected).then((messages) => askWith(core, run, { loadout, messages }));
}

function askWith(
  core: Core,
  run: Run,
  { loadout, messages }: { loadout: Loadout; messages: readonly Message[] },
): Promise<AssistantMessage> {
  const ask: Ask = {
    model: core.model!,
    messages,
    tools: loadout.schemas,
    systemPrompt: core.systemPrompt,
    thinkingLevel: core.thinkingLevel,
    purpose: "turn",
    sessionId: core.sessionId,
    cacheRetention: "short",
    signal: run.signal,
    runId: run.id,
    turnIndex: run.turnIndex,
  };
  return streamAnswer(core, ask, run, new TurnListener(core, run));
}

/** Tells of an answer while it comes. */
class TurnListener implements Listener {
  private readonly core: Core;
  private readonly runId: string;
  private readonly turnIndex: number;

  constructor(core: Core, { id, turnIndex }: Run) {
    this.core = core;
    this.runId = id;
    this.turnIndex = turnIndex;
  }

  onStart(message: AssistantMessage): MaybePromise<void> {
    const { core, runId, turnIndex } = this;
    return core.tell({ type: "message_start", runId, turnIndex, message });
  }

  onEvent(assistantMessageEvent: StreamEvent, message: AssistantMessage): MaybePromise<void> {
    const { core, runId, turnIndex } = this;
    const point = core.hooks.at.message_update;
    if (!heard(point)) return;
    return core.hooks.notify(point, { type: "message_update", runId, turnIndex, message, assistantMessageEvent });
  }
}

function isCall({ type }: AssistantMessage["content"][number]): boolean {
  return type === "toolCall";
}

function isOutOfTurns({ options }: Core, { turnIndex }: Run): boolean {
  return turnIndex + 1 === options.maxTurns;
}

async function goesOnBeforeSettling(core: Core, run: Run, outcome: Outcome): Promise<boolean> {
  if (!heard(core.hooks.at.agent_before_settle)) return false;
  const decision = await decideSettling(core, run, outcome);
  return decision.continue === true && outcome === "done" && !run.isAborted;
}

function messagesSince(core: Core, leafId: string | null): Message[] {
  const path = core.transcript.path();
  return messagesOf(path.slice(path.findIndex((entry) => entry.id === leafId) + 1));
}
