/**
 * The tool calls of one answer.
 *
 *   parallel     start* ── gates, in call order ──► all run ──► ends as they come ──► results in call order (K4, K5)
 *   sequential   start ── gate ──► run ──► end ──► result, one call after the other
 *
 * 1. Every call gets exactly one result, whatever happens (K7).
 * 2. Arguments are validated before any hook sees them, and again after hooks changed them (K3).
 * 3. Limits on effects are checked after each validation; no hook lifts them (E8).
 * 4. A tool that outlives an abort and the grace period is given up: its late result is dropped (K9).
 */
import type { Effect, Limit, MaybePromise, Registered, Tool, ToolResult } from "./contract.ts";
import type { Core, Loadout } from "./core.ts";
import { toAgentError } from "./errors.ts";
import type { HookResult } from "./hook-points.ts";
import { FAULT, runAs } from "./hooks.ts";
import { blocksProblem } from "./message-shape.ts";
import type { AssistantMessage, JsonObject, ToolCall, ToolResultMessage } from "./messages.ts";
import { ABANDONED, abandonedError, type Run } from "./run.ts";
import { prepareValidation, validate } from "./validate.ts";
import { isPromise, isRecord, settle, toJson } from "./values.ts";

/** One call on its way to its result. */
interface Call {
  call: ToolCall;
  registered?: Registered<"tool">;
  args: JsonObject;
  /** Set as soon as nothing more is to be run for it. */
  result?: ToolResult;
  durationMs?: number;
}

export interface Batch {
  results: ToolResultMessage[];
  /** Every result asked to end the run after the batch (K8). */
  isTerminal: boolean;
}

type Conclude = (message: ToolResultMessage) => MaybePromise<ToolResultMessage>;

/** Runs the calls of an answer; `conclude` stores each result, in call order. */
export async function runTools(
  core: Core,
  run: Run,
  turn: { message: AssistantMessage; loadout: Loadout; conclude: Conclude },
): Promise<Batch> {
  await prepareValidation();
  const calls = turn.message.content
    .filter((block) => block.type === "toolCall")
    .map((call): Call => ({ call, registered: turn.loadout.tools.get(call.name), args: call.arguments }));
  const results: ToolResultMessage[] = [];
  const finish = async (call: Call) => results.push(await turn.conclude(toMessage(call)));

  if (turn.message.stopReason === "length") {
    for (const call of calls) call.result = problem(CUT_CALL);
  }
  if (calls.some(({ registered }) => registered?.value.executionMode === "sequential")) {
    for (const call of calls) {
      await begin(core, run, call);
      await performAll(core, run, [call]);
      await finish(call);
    }
  } else {
    for (const call of calls) await begin(core, run, call);
    await performAll(core, run, calls);
    for (const call of calls) await finish(call);
  }
  return { results, isTerminal: calls.every(({ result }) => result?.terminate === true) };
}

/** Announces a call and decides whether it may run. */
async function begin(core: Core, run: Run, call: Call): Promise<void> {
  await core.tell({ type: "tool_execution_start", ...place(run, call), args: call.call.arguments });
  call.result ??= run.isAborted ? problem(ABORTED) : refusal(core, call);
  if (call.result || core.hooks.at.tool_call.handlers.length === 0) return;
  call.result = await gate(core, run, call);
  if (run.isAborted) call.result ??= problem(ABORTED);
}

/** Checks a call by itself; sets its arguments. Answers why it cannot run, if it cannot. */
function refusal(core: Core, call: Call): ToolResult | undefined {
  const { call: asked, registered } = call;
  if (!registered) return problem(unknownTool(core, asked.name));
  if (asked.argumentsError) return problem(`The call was not run: ${asked.argumentsError}`);
  return checked(core, call, registered.value, asked.arguments);
}

function checked(core: Core, call: Call, tool: Tool, given: JsonObject): ToolResult | undefined {
  try {
    const prepared = tool.prepareArguments ? runAs(call.registered!.owner, () => tool.prepareArguments!(given)) : given;
    const validation = validate(tool.parameters, prepared);
    if (!validation.ok)
      return problem(
        `The arguments of ${tool.name} do not fit:\n${validation.problem}\nCall it again with what it expects.`,
      );
    call.args = validation.value;
    return overLimit(core.limits, tool, call.args);
  } catch (thrown) {
    return problem(toAgentError(thrown).message);
  }
}

async function gate(core: Core, run: Run, call: Call): Promise<ToolResult | undefined> {
  const { value: tool, owner } = call.registered!;
  const before = JSON.stringify(call.args);
  let touches: ReturnType<NonNullable<Tool["touches"]>> | undefined;
  try {
    touches = tool.touches?.(call.args as never, core.contextOf(owner));
  } catch (thrown) {
    return problem(
      `The call was refused: ${tool.name} cannot say what it would touch: ${toAgentError(thrown).message}`,
    );
  }
  const event = {
    type: "tool_call",
    ...place(run, call),
    input: structuredClone(call.args),
    touches: touches && { read: touches.read ?? [], write: touches.write ?? [] },
  };
  let refused: ToolResult | undefined;
  await core.hooks.ask(core.hooks.at.tool_call, event, (answer, decider) => {
    if (answer === FAULT) refused = problem(`The call was refused: ${decider.name} failed while deciding about it.`);
    else if (isRecord(answer) && (answer as HookResult<"tool_call">).block) {
      const { reason, terminate } = answer as HookResult<"tool_call">;
      refused = { ...problem(reason ?? `The call was refused by ${decider.name}.`), terminate };
    }
    return refused !== undefined;
  });
  if (refused) return refused;
  return JSON.stringify(event.input) === before ? undefined : checked(core, call, tool, event.input);
}

/** Runs what may run, all at once, and gives every call its end event. */
async function performAll(core: Core, run: Run, calls: readonly Call[]): Promise<void> {
  for (const call of calls) if (call.result) await conclude(core, run, call);
  const waiting = new Set(calls.filter((call) => !call.result));
  if (waiting.size === 0) return;
  const perform = async (call: Call) => {
    const result = await execute(core, run, call);
    if (!waiting.delete(call)) return;
    call.result = result;
    await conclude(core, run, call);
  };
  const work = waiting.size === 1 ? perform([...waiting][0]!) : Promise.all(Array.from(waiting, perform));
  if ((await run.bounded<unknown>(work)) !== ABANDONED) return;
  const abandoned = Array.from(waiting);
  waiting.clear();
  for (const call of abandoned) {
    const owner = call.registered!.owner;
    core.report({
      owner,
      event: "tool",
      error: abandonedError(owner, `The tool ${call.call.name}`, core.options.graceMs),
    });
    call.result = problem("The tool did not stop when the run was aborted; what it did is unknown.");
    await conclude(core, run, call);
  }
}

async function execute(core: Core, run: Run, call: Call): Promise<ToolResult> {
  const { value: tool, owner } = call.registered!;
  const context = core.contextOf(owner);
  const updates: Promise<void>[] = [];
  let isOver = false;
  const onUpdate = (partialResult: ToolResult) => {
    if (isOver || core.hooks.at.tool_execution_update.handlers.length === 0) return;
    const told = core.tell({
      type: "tool_execution_update",
      ...place(run, call),
      args: call.args,
      partialResult,
    });
    if (told) updates.push(told);
  };
  const startedAt = performance.now();
  let result: ToolResult;
  try {
    const running = runAs(owner, () => tool.execute(call.call.id, call.args as never, run.signal, onUpdate, context));
    result = settled(isPromise(running) ? await running : running, tool.name);
  } catch (thrown) {
    const error = toAgentError(thrown, owner.name);
    result = problem([error.message, error.hint].filter(Boolean).join("\n"));
  }
  isOver = true;
  call.durationMs = performance.now() - startedAt;
  if (updates.length > 0) await Promise.all(updates);
  return core.hooks.at.tool_result.handlers.length > 0 ? reviewed(core, run, call, result) : result;
}

/** Lets the `tool_result` hooks change a result; a change that cannot be stored is not taken. */
async function reviewed(core: Core, run: Run, call: Call, result: ToolResult): Promise<ToolResult> {
  const { content, details, isError = false, usage } = result;
  const event = {
    type: "tool_result",
    ...place(run, call),
    input: call.args,
    content,
    details,
    isError,
    usage,
  };
  let terminate = result.terminate;
  await core.hooks.ask(core.hooks.at.tool_result, event, (answer) => {
    if (answer === FAULT || !isRecord(answer)) return;
    const change = answer as HookResult<"tool_result">;
    const sound = settled({ content: event.content, ...change }, call.call.name);
    for (const key of ["content", "details", "isError", "usage"] as const) {
      if (change[key] !== undefined) Object.assign(event, { [key]: sound[key] });
    }
    terminate = change.terminate ?? terminate;
  });
  return {
    content: event.content,
    details: event.details,
    isError: event.isError,
    usage: event.usage,
    terminate,
  };
}

function conclude(core: Core, run: Run, call: Call): MaybePromise<void> {
  if (core.hooks.at.tool_execution_end.handlers.length === 0) return;
  const { result, durationMs } = call;
  const isError = result!.isError ?? false;
  return core.tell({ type: "tool_execution_end", ...place(run, call), result: result!, isError, durationMs });
}

/** Holds a tool to its contract. Fails with a plain reason when what came back is not a result. */
function settled(result: unknown, name: string): ToolResult {
  if (!isRecord(result)) throw new Error(`The tool ${name} returned no result.`);
  const content = result.content ?? [];
  if (blocksProblem(content)) {
    throw new Error(`The tool ${name} returned content that is neither text nor image.`);
  }
  const bad = settle(content);
  if (bad) throw new Error(`The tool ${name} returned content that cannot be stored: ${bad}.`);
  const details = settle(result.details) ? toJson(result.details) : result.details;
  return {
    ...(result as unknown as ToolResult),
    content: content as ToolResult["content"],
    usage: settle(result.usage) ? undefined : (result.usage as ToolResult["usage"]),
    details: details as ToolResult["details"],
  };
}

function toMessage({ call, result, durationMs }: Call): ToolResultMessage {
  const { content, details, usage, isError = false } = result!;
  return {
    role: "toolResult",
    toolCallId: call.id,
    toolName: call.name,
    content,
    ...(details === undefined ? {} : { details }),
    ...(usage === undefined ? {} : { usage }),
    isError,
    timestamp: Date.now(),
    ...(durationMs === undefined ? {} : { durationMs: Math.round(durationMs * 1000) / 1000 }),
  };
}

const LEVEL: Record<Effect, number> = { read: 0, write: 1, execute: 2 };

function overLimit(limits: readonly Limit[], tool: Tool, args: JsonObject): ToolResult | undefined {
  if (limits.length === 0) return undefined;
  const declared = typeof tool.effect === "function" ? tool.effect(args as never) : (tool.effect ?? "execute");
  for (const limit of limits) {
    const effect = limit.classify?.({ toolName: tool.name, args, effect: declared }) ?? declared;
    const lower = LEVEL[effect] < LEVEL[declared] ? effect : declared;
    if (LEVEL[lower] > LEVEL[limit.ceiling]) {
      return problem(
        `The call was not run: ${tool.name} would ${lower}, and ${limit.reason} allows no more than ${limit.ceiling}.`,
      );
    }
  }
  return undefined;
}

const ABORTED = "The call was not run: the run was aborted.";
const CUT_CALL =
  "The call was not run: the answer hit the output limit, so its arguments may be cut. Make the call again, complete and shorter.";

function unknownTool(core: Core, name: string): string {
  const names = [...core.loadout().tools.keys()].join(", ");
  return `There is no tool ${name}. The tools are: ${names || "none"}.`;
}

function problem(text: string): ToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

function place(run: Run, { call }: Call) {
  return { runId: run.id, turnIndex: run.turnIndex, toolCallId: call.id, toolName: call.name };
}
