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
 */
import type { MaybePromise, Outcome } from "./contract.ts";
import type { Core, Loadout } from "./core.ts";
import type { HookResult } from "./hook-points.ts";
import { FAULT } from "./hooks.ts";
import type { AssistantMessage, Draft, Message, ToolResultMessage } from "./messages.ts";
import { messagesOf } from "./projection.ts";
import { type Listener, streamAnswer } from "./provider-call.ts";
import type { Run } from "./run.ts";
import { contextTokens } from "./tokens.ts";
import { runTools } from "./tool-batch.ts";
import { isRecord } from "./values.ts";

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
    const outcome = await runTurns(core, run, entering);
    const messages = () => messagesSince(core, from);
    await core.tell({
      type: "agent_end",
      runId: run.id,
      outcome,
      willRetry: false,
      get messages() {
        return messages();
      },
    });
    if (!(await goesOnBeforeSettling(core, run, outcome))) return outcome;
    entering = [];
  }
}

async function runTurns(core: Core, run: Run, first: Message[]): Promise<Outcome> {
  let entering = first;
  let turns = 0;
  let pauses = 0;
  for (;;) {
    run.turnIndex++;
    turns++;
    const turn = await runTurn(core, run, entering);
    if (run.isAborted) return "aborted";
    if (turn.message.stopReason === "error" && !turn.retries) return "error";
    if (turn.stops) return "stopped";
    pauses = turn.message.rawStopReason === "pause_turn" ? pauses + 1 : 0;
    const isDriven = turn.wantsMore || turn.retries || (pauses > 0 && pauses <= MAX_PAUSES);
    const wantsTurn = isDriven || turn.continues || !core.queue.isEmpty;
    if (!wantsTurn) return "done";
    if (turns === core.options.maxTurns) return "max_turns";
    entering = core.queue.takeSteering();
    if (!isDriven && entering.length === 0) entering = core.queue.takeFollowUp();
  }
}

async function runTurn(core: Core, run: Run, entering: readonly Message[]): Promise<TurnEnd> {
  const place = { runId: run.id, turnIndex: run.turnIndex };
  let loadout = core.loadout();
  await core.tell({ type: "turn_start", ...place, timestamp: Date.now() });
  for (const message of entering) {
    await core.tell({ type: "message_start", ...place, message });
    await store(core, run, message);
  }
  if (core.hooks.at.before_turn.handlers.length > 0 && (await beforeTurn(core, run))) loadout = core.loadout();
  if (core.hooks.at.transcript_flush.handlers.length > 0) await core.flush("turn");

  const message = (await store(core, run, await askModel(core, run, loadout))) as AssistantMessage;
  const retries = message.stopReason === "error" && !run.isAborted && (await isRetried(core, run, message));
  const isWhole = message.stopReason !== "error" && message.stopReason !== "aborted";
  if (isWhole) run.attempt = 0;
  const hasCalls = isWhole && message.content.some((block) => block.type === "toolCall");
  let results: ToolResultMessage[] = [];
  let wantsMore = false;
  if (hasCalls) {
    const conclude = async (result: ToolResultMessage) => {
      await core.tell({ type: "message_start", ...place, message: result });
      return (await store(core, run, result)) as ToolResultMessage;
    };
    const batch = await runTools(core, run, { message, loadout, conclude });
    results = batch.results;
    wantsMore = !batch.isTerminal;
  }
  const end = await endTurn(core, run, { message, results });
  if (retries) await waitForRetry(core, run, retries);
  return {
    message,
    wantsMore,
    retries: retries !== false,
    continues: end.continue ?? false,
    stops: end.stop ?? false,
  };
}

/** Fires `message_end`, whose handlers may replace the message, and appends what they made of it. */
function store(core: Core, run: Run, message: Message): MaybePromise<Message> {
  return core.hooks.at.message_end.handlers.length > 0 ? storeReviewed(core, run, message) : keep(core, message);
}

async function storeReviewed(core: Core, run: Run, message: Message): Promise<Message> {
  core.toMessage(message);
  const event = { type: "message_end", runId: run.id, turnIndex: run.turnIndex, message };
  await core.hooks.ask(core.hooks.at.message_end, event, (answer) => {
    if (answer === FAULT || !isRecord(answer)) return;
    const replacement = (answer as unknown as HookResult<"message_end">).message;
    if (replacement?.role !== message.role)
      throw new Error(`message_end may only return a message with role ${message.role}.`);
    event.message = core.toMessage(replacement);
  });
  return keep(core, event.message);
}

function keep(core: Core, message: Message): Message {
  if (message.role === "custom") {
    const { customType, content, display, details } = message;
    core.appendOne({ type: "custom_message", customType, content, display, details });
  } else core.appendOne({ type: "message", message });
  return message;
}

async function askModel(core: Core, run: Run, loadout: Loadout): Promise<AssistantMessage> {
  const place = { runId: run.id, turnIndex: run.turnIndex };
  let hasStarted = false;
  const listener: Listener = {
    onStart(message) {
      hasStarted = true;
      return core.tell({ type: "message_start", ...place, message }) as void | Promise<void>;
    },
  };
  if (core.hooks.at.message_update.handlers.length > 0) {
    listener.onEvent = (assistantMessageEvent, message) =>
      core.tell({ type: "message_update", ...place, message, assistantMessageEvent }) as void | Promise<void>;
  }
  const ask = {
    model: core.model!,
    messages: await contextFor(core, run),
    tools: loadout.schemas,
    systemPrompt: core.systemPrompt,
    thinkingLevel: core.thinkingLevel,
    purpose: "turn",
    signal: run.signal,
    ...place,
  };
  const message = await streamAnswer(core, ask, run, listener);
  if (!hasStarted) await core.tell({ type: "message_start", ...place, message });
  return message;
}

/** What the model is sent: the projection, as the `context` handlers leave it. */
function contextFor(core: Core, run: Run): MaybePromise<readonly Message[]> {
  const projected = core.transcript.project();
  return core.hooks.at.context.handlers.length > 0 ? reviewedContext(core, run, projected) : projected;
}

async function reviewedContext(core: Core, run: Run, projected: readonly Message[]): Promise<readonly Message[]> {
  let mine: Message[] | undefined;
  const event = {
    type: "context",
    runId: run.id,
    turnIndex: run.turnIndex,
    // A copy is made for the first handler that looks, and only then.
    get messages() {
      mine ??= [...projected];
      return mine;
    },
  };
  await core.hooks.ask(core.hooks.at.context, event, (answer) => {
    if (answer === FAULT || !isRecord(answer)) return;
    const { messages } = answer as unknown as HookResult<"context">;
    if (!Array.isArray(messages) || !messages.every((each) => isRecord(each) && "role" in each)) {
      throw new Error("context must return { messages: Message[] }.");
    }
    mine = messages;
  });
  return mine ?? projected;
}

/** Lets handlers prepare a turn. Answers whether the tool set may have changed. */
async function beforeTurn(core: Core, run: Run): Promise<boolean> {
  const event = {
    type: "before_turn",
    runId: run.id,
    turnIndex: run.turnIndex,
    model: core.model!,
    contextTokens: contextTokens(core.transcript.project()),
  };
  const results: HookResult<"before_turn">[] = [];
  await core.hooks.ask(core.hooks.at.before_turn, event, (answer) => {
    if (answer === FAULT || !isRecord(answer)) return;
    core.assertDrafts(answer.entries);
    results.push(answer);
  });
  for (const { entries, model, thinkingLevel, activeTools } of results) {
    if (entries) core.append(entries);
    if (model) core.model = model;
    if (thinkingLevel) core.thinkingLevel = thinkingLevel;
    if (activeTools) core.setActiveTools(activeTools);
  }
  return results.length > 0;
}

function endTurn(
  core: Core,
  run: Run,
  { message, results }: { message: AssistantMessage; results: ToolResultMessage[] },
): MaybePromise<HookResult<"turn_end">> {
  if (core.hooks.at.turn_end.handlers.length === 0) return {};
  const event = { type: "turn_end", runId: run.id, turnIndex: run.turnIndex, message, toolResults: results };
  return boundary(core, "turn_end", event);
}

/** Asks a boundary hook, and appends the entries that its handlers drafted. */
async function boundary(
  core: Core,
  name: "turn_end" | "agent_before_settle",
  event: object,
): Promise<HookResult<"turn_end">> {
  const sum: HookResult<"turn_end"> = {};
  const drafts: Draft[] = [];
  await core.hooks.ask(core.hooks.at[name], event, (answer) => {
    if (answer === FAULT || !isRecord(answer)) return;
    const { entries = [], ...decision } = answer as HookResult<"turn_end">;
    core.assertDrafts(entries);
    drafts.push(...entries);
    Object.assign(sum, decision);
  });
  core.append(drafts);
  return sum;
}

interface Retry {
  delayMs: number;
  reason: string;
}

/** Asks whether a failed call is tried again, and writes what the answer wants written. */
async function isRetried(core: Core, run: Run, message: AssistantMessage): Promise<Retry | false> {
  const point = core.hooks.at.provider_error;
  run.attempt++;
  if (point.handlers.length === 0) return false;
  const event = {
    type: "provider_error",
    runId: run.id,
    turnIndex: run.turnIndex,
    message,
    attempt: run.attempt,
  };
  let decision: HookResult<"provider_error"> | undefined;
  await core.hooks.ask(point, event, (answer) => {
    if (answer === FAULT || !isRecord(answer)) return false;
    const given = answer as unknown as HookResult<"provider_error">;
    if ("retry" in given) core.assertDrafts(given.retry.entries);
    decision = given;
    return true;
  });
  if (!decision || !("retry" in decision)) return false;
  core.append(decision.retry.entries ?? []);
  return decision.retry;
}

async function waitForRetry(core: Core, run: Run, { delayMs, reason }: Retry): Promise<void> {
  const { attempt } = run;
  await core.tell({ type: "auto_retry_start", attempt, maxAttempts: attempt, delayMs, errorMessage: reason });
  core.activity = "retrying";
  await run.sleep(delayMs);
  core.activity = "running";
  await core.tell({
    type: "auto_retry_end",
    success: !run.isAborted,
    attempt,
    finalError: run.isAborted ? "Retry cancelled" : undefined,
  });
}

async function goesOnBeforeSettling(core: Core, run: Run, outcome: Outcome): Promise<boolean> {
  if (core.hooks.at.agent_before_settle.handlers.length === 0) return false;
  const decision = await boundary(core, "agent_before_settle", {
    type: "agent_before_settle",
    runId: run.id,
    outcome,
  });
  return decision.continue === true && outcome === "done" && !run.isAborted;
}

function messagesSince(core: Core, leafId: string | null): Message[] {
  const path = core.transcript.path();
  return messagesOf(path.slice(path.findIndex((entry) => entry.id === leafId) + 1));
}
