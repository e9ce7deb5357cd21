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
import { askRetry, beforeTurn, boundary, waitForRetry } from "./boundary.ts";
import type { MaybePromise, Outcome } from "./contract.ts";
import { type Core, HOST_OWNER, type Loadout } from "./core.ts";
import { toAgentError } from "./errors.ts";
import { heard } from "./hooks.ts";
import type { AssistantMessage, Message, ToolResultMessage } from "./messages.ts";
import { messagesOf, paired } from "./projection.ts";
import { type Listener, streamAnswer } from "./provider-call.ts";
import type { Run } from "./run.ts";
import { runTools } from "./tool-batch.ts";
import { isPromise, isRecord } from "./values.ts";

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
  const place = { runId: run.id, turnIndex: run.turnIndex };
  let loadout = core.loadout();
  const begun = heard(at.turn_start) && core.tell({ type: "turn_start", ...place, timestamp: Date.now() });
  if (begun) await begun;
  for (const message of entering) await whenEntered(core, run, message, (kept) => void keep(core, kept));
  if (heard(at.before_turn)) {
    await beforeTurn(core, run);
    loadout = core.loadout();
  }
  if (heard(at.transcript_flush)) await core.flush("turn");

  const answer = await askModel(core, run, loadout);
  const reviewing = reviewed(core, run, answer);
  const message = (isPromise(reviewing) ? await reviewing : reviewing) as AssistantMessage;
  const entryId = keep(core, message);
  const isWhole = message.stopReason !== "error" && message.stopReason !== "aborted";
  const retry = message.stopReason === "error" && !run.isAborted ? await askRetry(core, run, message) : undefined;
  if (isWhole) run.attempt = 0;

  const results: ToolResultMessage[] = [];
  const resultIds: string[] = [];
  const conclude = (result: ToolResultMessage) =>
    whenEntered(core, run, result, (kept) => {
      results.push(kept as ToolResultMessage);
      resultIds.push(keep(core, kept));
    });
  const hasCalls = isWhole && message.content.some((block) => block.type === "toolCall");
  const wantsMore = hasCalls && !(await runTools(core, run, { message, loadout, conclude }));

  const deciding = heard(at.turn_end)
    ? boundary(core, "turn_end", {
        ...place,
        message,
        toolResults: Object.freeze(results),
        messageEntryId: entryId,
        toolResultEntryIds: resultIds,
        outcome: run.isAborted ? "aborted" : isWhole ? "done" : message.stopReason,
      })
    : undefined;
  const decision = isPromise(deciding) ? await deciding : deciding;
  if (retry) await waitForRetry(core, run, retry);
  return {
    message,
    wantsMore,
    retries: retry !== undefined,
    continues: decision?.continue ?? false,
    stops: decision?.stop ?? false,
  };
}

/** Tells that a message begins and ends, and hands on what the handlers made of it. */
function whenEntered(core: Core, run: Run, message: Message, take: (message: Message) => void): MaybePromise<void> {
  const end = () => {
    const kept = reviewed(core, run, message);
    return isPromise(kept) ? kept.then(take) : take(kept);
  };
  const { at } = core.hooks;
  if (!heard(at.message_start)) return end();
  const told = core.tell({ type: "message_start", runId: run.id, turnIndex: run.turnIndex, message });
  return told ? told.then(end) : end();
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
  const { id: runId, turnIndex } = run;
  const listener: Listener = {
    onStart: (message) => core.tell({ type: "message_start", runId, turnIndex, message }),
    onEvent: heard(at.message_update)
      ? (assistantMessageEvent, message) =>
          core.hooks.notify(at.message_update, {
            type: "message_update",
            runId,
            turnIndex,
            message,
            assistantMessageEvent,
          })
      : undefined,
  };
  const ask = (messages: readonly Message[]) =>
    streamAnswer(
      core,
      {
        model: core.model!,
        messages,
        tools: loadout.schemas,
        systemPrompt: core.systemPrompt,
        thinkingLevel: core.thinkingLevel,
        purpose: "turn",
        signal: run.signal,
        runId,
        turnIndex,
      },
      run,
      listener,
    );
  // A handler that wraps the call may do to the list what it likes.
  const projected = heard(at.provider_call) ? core.transcript.view.project() : core.transcript.project();
  return heard(at.context) ? reviewedContext(core, run, projected).then(ask) : ask(projected);
}

/** The projection as the `context` handlers leave it. */
async function reviewedContext(core: Core, run: Run, projected: readonly Message[]): Promise<readonly Message[]> {
  const event = new ContextEvent(run, projected);
  await core.hooks.collect<"context">(core.hooks.at.context, event, ({ messages }) => {
    if (!Array.isArray(messages) || !messages.every((each) => isRecord(each))) {
      throw new Error("context must return { messages: Message[] }.");
    }
    const known = new Set(projected);
    for (const message of messages) if (!known.has(message)) core.toMessage(message);
    event.mine = messages;
  });
  return event.mine ? paired(event.mine) : projected;
}

/** A getter of a class and not of the object: one of its own would give every event a shape of its own. */
class ContextEvent {
  readonly type = "context";
  readonly runId: string;
  readonly turnIndex: number;
  readonly #projected: readonly Message[];
  #mine: Message[] | undefined;

  constructor(run: Run, projected: readonly Message[]) {
    this.runId = run.id;
    this.turnIndex = run.turnIndex;
    this.#projected = projected;
  }

  /** A copy is made for the first handler that looks, and only then. */
  get messages(): Message[] {
    return (this.#mine ??= [...this.#projected]);
  }

  get mine(): Message[] | undefined {
    return this.#mine;
  }

  set mine(messages: Message[] | undefined) {
    this.#mine = messages;
  }
}

function isOutOfTurns({ options }: Core, { turnIndex }: Run): boolean {
  return turnIndex + 1 === options.maxTurns;
}

async function goesOnBeforeSettling(core: Core, run: Run, outcome: Outcome): Promise<boolean> {
  if (!heard(core.hooks.at.agent_before_settle)) return false;
  const decision = await boundary(core, "agent_before_settle", { runId: run.id, outcome });
  return decision.continue === true && outcome === "done" && !run.isAborted;
}

function messagesSince(core: Core, leafId: string | null): Message[] {
  const path = core.transcript.path();
  return messagesOf(path.slice(path.findIndex((entry) => entry.id === leafId) + 1));
}
