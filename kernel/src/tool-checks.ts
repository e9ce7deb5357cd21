/** Whether a call may run: its tool, its arguments, the limits on effects, and what the gates say. */
import type { Effect, Registered, Tool, ToolResult } from "./contract.ts";
import type { Core } from "./core.ts";
import { toAgentError } from "./errors.ts";
import { runAs } from "./frames.ts";
import type { HookEvent } from "./hook-points.ts";
import type { Loadout } from "./loadout.ts";
import type { JsonObject } from "./messages.ts";
import { FAULT } from "./points.ts";
import type { Run } from "./run.ts";
import { type Call, problem } from "./tool-results.ts";
import { validate } from "./validate.ts";
import { copyPlain, isPromise, isRecord, seal } from "./values.ts";

/** Checks a call by itself; sets its arguments. Answers why it cannot run, if it cannot. */
export function refusal(core: Core, call: Call, loadout: Loadout): ToolResult | undefined {
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
    // What came with the answer is sealed with it.
    const bad = call.args === call.call.arguments ? undefined : seal(call.args);
    return bad ? problem(`The arguments of ${tool.name} cannot be used: ${bad}.`) : overLimit(core, call);
  } catch (thrown) {
    return problem(toAgentError(thrown).message);
  }
}

export async function gate(core: Core, run: Run, call: Call): Promise<ToolResult | undefined> {
  const before = JSON.stringify(call.args);
  let refused: ToolResult | undefined;
  const event = new GateEvent(run, call, (input) => {
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

  constructor({ id, turnIndex }: Run, { call, args }: Call, touched: (input: JsonObject) => Touches) {
    this.runId = id;
    this.turnIndex = turnIndex;
    this.toolCallId = call.id;
    this.toolName = call.name;
    this.input = copyPlain(args) as JsonObject;
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

const LEVEL: Record<Effect, number> = { read: 0, write: 1, execute: 2 };

/** Answers why the limits forbid a call, if they do; notes which ones it was held to (E8). */
export function overLimit({ limits }: Core, call: Call): ToolResult | undefined {
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

function unknownTool(loadout: Loadout, name: string): string {
  const names = [...loadout.tools.keys()].join(", ");
  return `There is no tool ${name}. The tools are: ${names || "none"}.`;
}
