/**
 * The tool calls of one answer.
 *
 *   parallel     start* ── gates, in call order ──► all run ──► ends as they come ──► results in call order (K4, K5)
 *   sequential   start ── gate ──► run ──► end ──► result, one call after the other
 *
 * 1. Every call gets exactly one result, whatever happens (K7).
 * 2. Arguments are validated before any hook sees them, and again after hooks changed them (K3).
 * 3. Limits on effects are checked after each validation; no hook lifts them (E8).
 * 4. A tool that outlives an abort and the grace period is given up, one that is unloaded at once: its late result is
 *    dropped (K9, E1).
 */
import type { MaybePromise, ToolResult } from "./contract.ts";
import type { Core } from "./core.ts";
import { toAgentError } from "./errors.ts";
import { entranceOf } from "./frames.ts";
import type { Loadout } from "./loadout.ts";
import type { AssistantMessage, ToolResultMessage } from "./messages.ts";
import { heard } from "./points.ts";
import { ABANDONED, abandonedError, type Run } from "./run.ts";
import { gate, overLimit, refusal } from "./tool-checks.ts";
import { type Call, problem, reviewed, sealedCopy, sound, toMessage } from "./tool-results.ts";
import { prepareValidation } from "./validate.ts";
import { isPromise } from "./values.ts";

interface Turn {
  message: AssistantMessage;
  loadout: Loadout;
  /** Takes each result, in call order. */
  results: { add(message: ToolResultMessage): MaybePromise<void> };
}

/** Runs the calls of an answer. Answers whether every result asked to end the run after the batch (K8). */
export async function runTools(core: Core, run: Run, { message, loadout, results }: Turn): Promise<boolean> {
  const preparing = prepareValidation();
  if (preparing) await preparing;
  const calls: Call[] = [];
  for (const block of message.content) {
    if (block.type !== "toolCall") continue;
    const result = message.stopReason === "length" ? problem(CUT_CALL) : undefined;
    calls.push({ call: block, registered: loadout.tools.get(block.name), args: block.arguments, result });
  }
  const isSequential = calls.some(({ registered }) => registered?.value.executionMode === "sequential");
  for (const step of isSequential ? calls.map((call) => [call]) : [calls]) {
    for (const call of step) {
      const deciding = decide(core, run, { call, loadout });
      if (deciding) await deciding;
    }
    if (step.length === 1) await perform(core, run, step[0]!);
    else await Promise.all(step.map((call) => perform(core, run, call)));
    for (const call of step) {
      const adding = results.add(toMessage(call));
      if (adding) await adding;
    }
  }
  return calls.every(({ result }) => result?.terminate === true);
}

/** Announces a call and decides whether it may run. */
function decide(core: Core, run: Run, asked: { call: Call; loadout: Loadout }): MaybePromise<void> {
  const { call, args } = asked.call;
  const told =
    heard(core.hooks.at.tool_execution_start) &&
    core.tell({
      type: "tool_execution_start",
      runId: run.id,
      turnIndex: run.turnIndex,
      toolCallId: call.id,
      toolName: call.name,
      args,
    });
  return told ? told.then(() => check(core, run, asked)) : check(core, run, asked);
}

function check(core: Core, run: Run, { call, loadout }: { call: Call; loadout: Loadout }): MaybePromise<void> {
  call.result ??= run.isAborted ? problem(ABORTED) : refusal(core, call, loadout);
  if (!call.result && heard(core.hooks.at.tool_call)) return askGates(core, run, call);
}

async function askGates(core: Core, run: Run, call: Call): Promise<void> {
  call.result = await gate(core, run, call).catch((thrown: unknown) => problem(toAgentError(thrown).message));
  if (run.isAborted) call.result ??= problem(ABORTED);
}

/** Runs a call if it may, and gives it its end event. */
async function perform(core: Core, run: Run, call: Call): Promise<void> {
  if (!call.result) {
    const updates: Promise<void>[] = [];
    const result = await execute(core, run, call, updates);
    call.result = heard(core.hooks.at.tool_result) ? await reviewed(core, run, call, result) : result;
    if (updates.length > 0) await Promise.all(updates);
  }
  if (!heard(core.hooks.at.tool_execution_end)) return;
  const { call: asked, result, durationMs } = call;
  Object.freeze(result);
  const told = core.tell({
    type: "tool_execution_end",
    runId: run.id,
    turnIndex: run.turnIndex,
    toolCallId: asked.id,
    toolName: asked.name,
    result,
    isError: result.isError ?? false,
    durationMs,
  });
  if (told) await told;
}

async function execute(core: Core, run: Run, call: Call, updates: Promise<void>[]): Promise<ToolResult> {
  const { value: tool, owner } = call.registered!;
  if (run.isAborted) return problem(ABORTED);
  if (run.hasDropped(owner)) return abandoned(core, run, call);
  let isOver = false;
  const onUpdate = (partialResult: ToolResult) => {
    const told = isOver || run.isAbandoned ? undefined : tellUpdate(core, run, call, partialResult);
    if (told) updates.push(told);
  };
  const startedAt = performance.now();
  try {
    // A gate of this batch may have set a limit.
    const over = core.limits.every((limit) => call.limits!.includes(limit)) ? undefined : overLimit(core, call);
    if (over) return over;
    const { id } = call.call;
    const context = core.contextOf(owner);
    const running: unknown = entranceOf(owner).resource.runInAsyncScope(() =>
      tool.execute(id, call.args as never, run.signalOf(owner), onUpdate, context),
    );
    const ran = isPromise(running) ? await run.bounded(running, owner) : running;
    return ran === ABANDONED ? abandoned(core, run, call) : sound(ran, tool.name);
  } catch (thrown) {
    const error = toAgentError(thrown, owner.name);
    return problem([error.message, error.hint].filter(Boolean).join("\n"));
  } finally {
    isOver = true;
    call.durationMs = performance.now() - startedAt;
  }
}

function tellUpdate(core: Core, run: Run, { call, args }: Call, partialResult: ToolResult): MaybePromise<void> {
  if (!heard(core.hooks.at.tool_execution_update)) return;
  return core.tell({
    type: "tool_execution_update",
    runId: run.id,
    turnIndex: run.turnIndex,
    toolCallId: call.id,
    toolName: call.name,
    args,
    // The tool may go on changing its own.
    partialResult: sealedCopy(partialResult) as unknown as ToolResult,
  });
}

/** What a call comes to that nobody waits for any more: its tool did not listen to an abort, or is unloaded. */
function abandoned(core: Core, run: Run, { registered, call }: Call): ToolResult {
  const { owner } = registered!;
  if (!run.isAbandoned)
    return problem(`The tool ${call.name} was unloaded; if it was running, what it did is unknown.`);
  const error = abandonedError(owner, `The tool ${call.name}`, run.graceMs);
  core.report({ owner, event: "tool", error });
  return problem("The tool did not stop when the run was aborted; what it did is unknown.");
}

const ABORTED = "The call was not run: the run was aborted.";
const CUT_CALL =
  "The call was not run: the answer hit the output limit, so its arguments may be cut. Make the call again, complete and shorter.";
