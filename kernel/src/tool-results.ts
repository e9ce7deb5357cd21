/** What comes of a call: held to its shape, reviewed by hooks, and made a message. */
import type { Limit, Registered, ToolResult } from "./contract.ts";
import type { Core } from "./core.ts";
import type { Json, JsonObject, ToolCall, ToolResultMessage } from "./messages.ts";
import type { Run } from "./run.ts";
import { blocksProblem } from "./shapes.ts";
import { copyPlain, isRecord, seal, toJson } from "./values.ts";

/** One call on its way to its result. */
export interface Call {
  call: ToolCall;
  registered?: Registered<"tool">;
  args: JsonObject;
  /** What held when it was checked last. */
  limits?: readonly Limit[];
  /** Set as soon as nothing more is to be run for it. */
  result?: ToolResult;
  durationMs?: number;
}

/** Lets the `tool_result` hooks change a result; a change that cannot be stored is not taken. */
export async function reviewed(core: Core, run: Run, call: Call, result: ToolResult): Promise<ToolResult> {
  const toEvent = ({ content, details, isError = false, usage }: ToolResult) =>
    Object.freeze({
      type: "tool_result",
      runId: run.id,
      turnIndex: run.turnIndex,
      toolCallId: call.call.id,
      toolName: call.call.name,
      input: call.args,
      content,
      details,
      isError,
      usage,
    });
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
export function sound(result: unknown, name: string): ToolResult {
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

/** A copy that nobody else holds, safe to keep. */
export function sealedCopy(value: unknown): Json {
  const copy = toJson(value);
  seal(copy);
  return copy;
}

export function toMessage({ call, result, durationMs }: Call): ToolResultMessage {
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

/** The result of a call that did not run, or failed. */
export function problem(text: string): ToolResult {
  const content: ToolResult["content"] = [{ type: "text", text }];
  seal(content);
  return { content, isError: true };
}
