/** JSON mode: one object per line on standard output, the session's header first, then every event as it happens. */
import type { Agent, AgentEvent, ProviderRequest, StreamEvent } from "@pi-agent/kernel";
import { printError, printWarning } from "./print-error.ts";
import { describeUnsent, type Prompt, runPrompts } from "./prompts.ts";
import type { Output } from "./stdout-guard.ts";

export interface JsonOptions {
  agent: Agent;
  cwd: string;
  prompts: readonly Prompt[];
  output: Output;
  signal: AbortSignal;
}

// The version of the session format whose header and entries the lines carry.
const SESSION_VERSION = 3;

/** Runs the prompts, writes their events, and answers the exit code. */
export async function runJsonMode({ agent, cwd, prompts, output, signal }: JsonOptions): Promise<number> {
  const writeLine = (value: object) => output.write(`${JSON.stringify(value)}\n`);
  const timestamp = new Date().toISOString();
  writeLine({ type: "session", version: SESSION_VERSION, id: agent.sessionId, timestamp, cwd });
  const undos = [
    agent.onWire((event) => writeLine(toWireEvent(event))),
    agent.on("provider_call", (request, next) => waitForReader(output, request, next)),
  ];
  const ending = await runPrompts(agent, prompts);
  for (const undo of undos) await undo();
  if (signal.aborted) return ending.code;
  if (ending.warning) printWarning(ending.warning);
  if (ending.error) printError(ending.error);
  const unsent = describeUnsent(agent.queue);
  if (unsent) printWarning(unsent);
  return ending.code;
}

/** What of an event travels: an update carries its delta and the usage so far, never the message so far. */
export function toWireEvent(event: AgentEvent): object {
  if (event.type !== "message_update") return event;
  const { message, assistantMessageEvent, ...rest } = event;
  const { partial: _, ...delta } = assistantMessageEvent as { partial?: unknown };
  return { ...rest, usage: message.usage, assistantMessageEvent: delta };
}

/**
 * Takes from the provider only as fast as the reader takes from us, so that nothing piles up here. Waiting belongs
 * between the provider's events: a listener that waited would run into its deadline.
 */
async function* waitForReader(
  output: Output,
  request: ProviderRequest,
  next: (request: ProviderRequest) => AsyncIterable<readonly StreamEvent[]>,
): AsyncIterable<readonly StreamEvent[]> {
  const ended = new AbortController();
  const { promise: aborted, resolve: onAbort } = Promise.withResolvers<void>();
  request.signal.addEventListener("abort", () => onAbort(), { once: true, signal: ended.signal });
  try {
    await Promise.race([output.ready(), aborted]);
    for await (const events of next(request)) {
      yield events;
      const ready = output.ready();
      if (ready) await Promise.race([ready, aborted]);
    }
  } finally {
    ended.abort();
  }
}
