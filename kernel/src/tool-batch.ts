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
import type { Effect, Limit, MaybePromise, Registered, Tool, ToolResult } from "./contract.ts";
import type { Core, Loadout } from "./core.ts";
import { toAgentError } from "./errors.ts";
import { entranceOf, runAs } from "./frames.ts";
import type { HookEvent } from "./hook-points.ts";
import { FAULT, heard } from "./hooks.ts";
import type { AssistantMessage, Json, JsonObject, ToolCall, ToolResultMessage } from "./messages.ts";
import { ABANDONED, abandonedError, type Run } from "./run.ts";
import { blocksProblem } from "./shapes.ts";
import { prepareValidation, validate } from "./validate.ts";
import { copyPlain, isPromise, isRecord, seal, toJson } from "./values.ts";

/** One call on its way to its result. */
interface Call {
  call: ToolCall;
  registered?: Registered<"tool">;
  args: JsonObject;
  /** What held when it was checked last. */
  limits?: readonly Limit[];
  /** Set as soon as nothing more is to be run for it. */
  result?: ToolResult;
  durationMs?: number;
}

interface Turn {
  message: AssistantMessage;
  loadout: Loadout;
  /** Stores each result, in call order. */
  conclude(message: ToolResultMessage): MaybePromise<void>;
}

/** Runs the calls of an answer. Answers whether every result asked to end the run after the batch (K8). */
export async function runTools(core: Core, run: Run, turn: Turn): Promise<boolean> {
  const { message, loadout } = turn;
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
      const concluding = turn.conclude(toMessage(call));
      if (concluding) await concluding;
    }
  }
  return calls.every(({ result }) => result?.terminate === true);
}

/** Announces a call and decides whether it may run. */
function decide(core: Core, run: Run, { call, loadout }: { call: Call; loadout: Loadout }): MaybePromise<void> {
  if (!heard(core.hooks.at.tool_execution_start)) return check(core, run, { call, loadout });
  const told = core.tell({ type: "tool_execution_start", ...place(run, call), args: call.call.arguments });
  return told ? told.then(() => check(core, run, { call, loadout })) : check(core, run, { call, loadout });
}

function check(core: Core, run: Run, { call, loadout }: { call: Call; loadout: Loadout }): MaybePromise<void> {
  call.result ??= run.isAborted ? problem(ABORTED) : refusal(core, call, loadout);
  if (!call.result && heard(core.hooks.at.tool_call)) return askGates(core, run, call);
}

async function askGates(core: Core, run: Run, call: Call): Promise<void> {
  call.result = await gate(core, run, call).catch((thrown: unknown) => problem(toAgentError(thrown).message));
  if (run.isAborted) call.result ??= problem(ABORTED);
}

/** Checks a call by itself; sets its arguments. Answers why it cannot run, if it cannot. */
function refusal(core: Core, call: Call, loadout: Loadout): ToolResult | undefined {
  const { call: asked, registered } = call;
  if (!registered) return problem(unknownTool(loadout, asked.name));
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
    const bad = seal(call.args);
    return bad ? problem(`The arguments of ${tool.name} cannot be used: ${bad}.`) : overLimit(core, call);
  } catch (thrown) {
    return problem(toAgentError(thrown).message);
  }
}

async function gate(core: Core, run: Run, call: Call): Promise<ToolResult | undefined> {
  const before = JSON.stringify(call.args);
  let refused: ToolResult | undefined;
  const event = new GateEvent(place(run, call), copyPlain(call.args) as JsonObject, (input) => {
    try {
      return touchesOf(core, call.registered!, input);
    } catch (thrown) {
      const why = toAgentError(thrown).message;
      refused = problem(`The call was refused: ${call.call.name} cannot say what it would touch: ${why}`);
      return undefined;
    }
  });
  await core.hooks.ask(core.hooks.at.tool_call, event, (answer, decider) => {
    if (answer === FAULT) refused = problem(`The call was refused: ${decider.name} failed while deciding about it.`);
    else if (isRecord(answer) && Object.keys(answer).length > 0 && typeof answer.block !== "boolean") {
      throw new Error("tool_call must answer with { block: true, reason } or { block: false }.");
    } else if (isRecord(answer) && answer.block) {
      const { reason, terminate } = answer;
      const text = typeof reason === "string" ? reason : `The call was refused by ${decider.name}.`;
      refused = { ...problem(text), terminate: terminate === true };
    }
    return refused !== undefined;
  });
  if (refused) return refused;
  const bad = isRecord(event.input) ? seal(event.input) : "they are not an object";
  if (bad) return problem(`The call was refused: its arguments were changed to what cannot be stored: ${bad}.`);
  if (JSON.stringify(event.input) === before) return undefined;
  return checked(core, call, call.registered!.value, event.input);
}

type Touches = HookEvent<"tool_call">["touches"];

/** A getter of a class and not of the object: one of its own would give every event a shape of its own. */
class GateEvent {
  readonly type = "tool_call";
  readonly runId: string;
  readonly turnIndex: number;
  readonly toolCallId: string;
  readonly toolName: string;
  input: JsonObject;
  readonly #touched: (input: JsonObject) => Touches;

  constructor(at: ReturnType<typeof place>, input: JsonObject, touched: (input: JsonObject) => Touches) {
    this.runId = at.runId;
    this.turnIndex = at.turnIndex;
    this.toolCallId = at.toolCallId;
    this.toolName = at.toolName;
    this.input = input;
    this.#touched = touched;
  }

  /** Of the input as it is by now. */
  get touches(): Touches {
    return this.#touched(this.input);
  }
}

function touchesOf(core: Core, { value, owner }: Registered<"tool">, input: JsonObject): Touches {
  if (!value.touches) return undefined;
  const touches: unknown = runAs(owner, () => value.touches!(input as never, core.contextOf(owner)));
  if (!isRecord(touches) || isPromise(touches)) throw new Error("its answer is no object of paths");
  const { read = [], write = [] } = touches;
  return { read: realPaths(core, read), write: realPaths(core, write) };
}

function realPaths({ host }: Core, paths: unknown): string[] {
  if (!Array.isArray(paths) || !paths.every((path) => typeof path === "string")) {
    throw new Error("its paths are no list of texts");
  }
  return paths.map((path) => host.realPath(path));
}

/** Runs a call if it may, and gives it its end event. */
async function perform(core: Core, run: Run, call: Call): Promise<void> {
  const { at } = core.hooks;
  if (!call.result) {
    const updates: Promise<void>[] = [];
    const result = await execute(core, run, call, updates);
    call.result = heard(at.tool_result) ? await reviewed(core, run, call, result) : result;
    if (updates.length > 0) await Promise.all(updates);
  }
  if (!heard(at.tool_execution_end)) return;
  const { result, durationMs } = call;
  Object.freeze(result);
  const isError = result.isError ?? false;
  const told = core.tell({ type: "tool_execution_end", ...place(run, call), result, isError, durationMs });
  if (told) await told;
}

async function execute(core: Core, run: Run, call: Call, updates: Promise<void>[]): Promise<ToolResult> {
  const { value: tool, owner } = call.registered!;
  if (run.isAborted) return problem(ABORTED);
  if (run.hasDropped(owner)) return abandoned(core, run, call);
  let isOver = false;
  const onUpdate = (partialResult: ToolResult) => {
    if (isOver || run.isAbandoned || !heard(core.hooks.at.tool_execution_update)) return;
    // The tool may go on changing its own.
    const copy = sealedCopy(partialResult) as unknown as ToolResult;
    const told = core.tell({
      type: "tool_execution_update",
      ...place(run, call),
      args: call.args,
      partialResult: copy,
    });
    if (told) updates.push(told);
  };
  const startedAt = performance.now();
  try {
    // A gate of this batch may have set a limit.
    const over = core.limits.every((limit) => call.limits!.includes(limit)) ? undefined : overLimit(core, call);
    if (over) return over;
    const signal = run.signalOf(owner);
    const context = core.contextOf(owner);
    const { resource } = entranceOf(owner);
    const running: unknown = resource.runInAsyncScope(() =>
      tool.execute(call.call.id, call.args as never, signal, onUpdate, context),
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

/** What a call comes to that nobody waits for any more: its tool did not listen to an abort, or is unloaded. */
function abandoned(core: Core, run: Run, { registered, call }: Call): ToolResult {
  const { owner } = registered!;
  if (!run.isAbandoned)
    return problem(`The tool ${call.name} was unloaded; if it was running, what it did is unknown.`);
  const error = abandonedError(owner, `The tool ${call.name}`, run.graceMs);
  core.report({ owner, event: "tool", error });
  return problem("The tool did not stop when the run was aborted; what it did is unknown.");
}

/** Lets the `tool_result` hooks change a result; a change that cannot be stored is not taken. */
async function reviewed(core: Core, run: Run, call: Call, result: ToolResult): Promise<ToolResult> {
  const toEvent = ({ content, details, isError = false, usage }: ToolResult) =>
    Object.freeze({ type: "tool_result", ...place(run, call), input: call.args, content, details, isError, usage });
  let current = result;
  await core.hooks.collect<"tool_result">(core.hooks.at.tool_result, toEvent(result), (answer) => {
    const whole = sound({ ...current, ...answer }, call.call.name);
    if (answer.usage !== undefined && !whole.usage) throw new Error("tool_result must answer with usage.");
    current = whole;
    return toEvent(whole);
  });
  return current;
}

/** Holds a tool to its contract. Fails with a plain reason when what came back is not a result. */
function sound(result: unknown, name: string): ToolResult {
  if (!isRecord(result))
    throw new Error(`The tool ${name} returned ${typeof result}, which is no result. ${RESULT_SHAPE}`);
  const { details, isError, terminate } = result as Partial<ToolResult>;
  // The tool may go on using what it returned.
  const content = copyBlocks(result.content ?? []) as ToolResult["content"];
  const usage = result.usage === undefined ? undefined : (copyPlain(result.usage) as ToolResult["usage"]);
  if (blocksProblem(content)) {
    throw new Error(`The tool ${name} returned content that is neither text nor image. ${RESULT_SHAPE}`);
  }
  const bad = seal(content);
  if (bad) throw new Error(`The tool ${name} returned content that cannot be stored: ${bad}.`);
  return {
    content,
    details: details === undefined ? undefined : sealedCopy(details),
    isError: isError === true || undefined,
    terminate: terminate === true || undefined,
    usage: isRecord(usage) && seal(usage) === undefined ? usage : undefined,
  };
}

const RESULT_SHAPE = 'Return { content: [{ type: "text", text: "…" }] }, with everything in it awaited.';

/** Blocks are flat, and copied in every turn. */
function copyBlocks(content: unknown): unknown {
  return Array.isArray(content) ? content.map((block: unknown) => (isRecord(block) ? { ...block } : block)) : content;
}

function sealedCopy(value: unknown): Json {
  const copy = toJson(value);
  seal(copy);
  return copy;
}

function toMessage({ call, result, durationMs }: Call): ToolResultMessage {
  const { content, details, usage, isError = false } = result!;
  // Most have all but details and usage: an object that is made whole takes half the room.
  const message: ToolResultMessage = {
    role: "toolResult",
    toolCallId: call.id,
    toolName: call.name,
    content,
    isError,
    timestamp: Date.now(),
    durationMs: durationMs === undefined ? undefined : Math.round(durationMs),
  };
  if (details !== undefined) message.details = details;
  if (usage !== undefined) message.usage = usage;
  return Object.freeze(message);
}

const LEVEL: Record<Effect, number> = { read: 0, write: 1, execute: 2 };

function overLimit({ limits }: Core, call: Call): ToolResult | undefined {
  call.limits = limits;
  if (limits.length === 0) return undefined;
  const { args } = call;
  const { value: tool, owner } = call.registered!;
  const { effect: given = "execute" } = tool;
  const declared = typeof given === "function" ? runAs(owner, () => given(args as never)) : given;
  for (const limit of limits) {
    const effect = limit.classify?.({ toolName: tool.name, args, effect: declared }) ?? declared;
    const lower = LEVEL[effect] < LEVEL[declared] ? effect : declared;
    // What is no effect at all counts as the worst.
    if (!(LEVEL[lower] <= LEVEL[limit.ceiling])) {
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

function unknownTool(loadout: Loadout, name: string): string {
  const names = [...loadout.tools.keys()].join(", ");
  return `There is no tool ${name}. The tools are: ${names || "none"}.`;
}

function problem(text: string): ToolResult {
  const content: ToolResult["content"] = [{ type: "text", text }];
  seal(content);
  return { content, isError: true };
}

function place(run: Run, { call }: Call) {
  return { runId: run.id, turnIndex: run.turnIndex, toolCallId: call.id, toolName: call.name };
}
