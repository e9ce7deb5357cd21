/**
 * One provider call: the request, the stream, and an answer that is whole whatever the stream did.
 *
 *   request ──► provider_call (around) ──► api.stream ──► start … done | error ──► message
 *
 * A stream that throws, never starts, ends without its last event or goes on after it, and a provider that does not
 * obey the signal, all end in a message that says so.
 */
import type { MaybePromise, ProviderAuth, ProviderRequest, Registered } from "./contract.ts";
import type { Core } from "./core.ts";
import { AgentError, toAgentError } from "./errors.ts";
import { lend, stopLending } from "./lent-messages.ts";
import type { AssistantMessage, Failure, FailureKind, Model, StreamEvent, ToolCall } from "./messages.ts";
import { FAULT, heard } from "./points.ts";
import type { Run, Wait } from "./run.ts";
import { ANSWER_BLOCKS, blocksProblem, shapeProblem } from "./shapes.ts";
import { emptyUsage, wholeUsage } from "./tokens.ts";
import { copyPlain, isRecord, seal, toJson } from "./values.ts";

/** Pi's default for the same setting. */
const IDLE_TIMEOUT_MS = 300_000;

/** What is asked, by whom and when in a run. */
export interface Ask
  extends Pick<
    ProviderRequest,
    | "model"
    | "messages"
    | "tools"
    | "systemPrompt"
    | "thinkingLevel"
    | "purpose"
    | "maxTokens"
    | "temperature"
    | "signal"
    | "sessionId"
    | "cacheRetention"
  > {
  runId: string;
  turnIndex: number;
}

/** Gets the partial answer once it exists, then each event of the stream. */
export interface Listener {
  onStart(partial: AssistantMessage): MaybePromise<void>;
  onEvent?(event: StreamEvent, partial: AssistantMessage): MaybePromise<void>;
}

/**
 * Streams one answer, which the listener hears begin whatever comes of it. Never fails: a failure is a message with
 * `stopReason` `error` or `aborted`.
 */
export function streamAnswer(
  core: Core,
  ask: Ask,
  run: Run | undefined,
  listener: Listener,
): Promise<AssistantMessage> {
  return new Promise((resolve) => {
    const reading = new Reading(core, ask, { listener, run, resolve });
    if (run?.isAbandoned) reading.giveUp();
    else void reading.read();
  });
}

/** A stream on its way: what has arrived of the answer, and who waits for it. */
class Reading implements Wait {
  readonly owner = undefined;
  private readonly core: Core;
  private readonly ask: Ask;
  private readonly to: { listener: Listener; run: Run | undefined; resolve(message: AssistantMessage): void };
  private iterator: AsyncIterator<unknown> | undefined;
  private partial: AssistantMessage | undefined;
  private isOver = false;

  constructor(core: Core, ask: Ask, to: Reading["to"]) {
    this.core = core;
    this.ask = ask;
    this.to = to;
    to.run?.await(this);
  }

  /** Reads the stream to its last event. */
  async read(): Promise<void> {
    try {
      const { core, ask } = this;
      ask.signal.throwIfAborted();
      const api = core.registries.of("api").get(ask.model.api);
      if (!api) throw missingApi(ask.model);
      const auth = await core.host.credentials.resolve(ask.model.provider, ask.model);
      const iterator = openStream(core, toRequest(core, ask, auth), api);
      this.iterator = iterator;
      while (!this.isOver) {
        const next = await iterator.next();
        if (next.done) break;
        for (const event of next.value) {
          if (this.isOver) return;
          const told = this.take(event);
          if (told) await told;
        }
      }
      if (!this.isOver) this.giveUp();
    } catch (thrown) {
      if (!this.isOver) this.end(failed(this.ask, this.partial, thrown));
    } finally {
      // It may have been given up before there was a stream to close.
      if (this.iterator) close(this.iterator);
    }
  }

  giveUp(): void {
    const error = this.ask.signal.aborted
      ? new AgentError("aborted", "The answer was aborted.")
      : new AgentError("malformed_response", "The stream ended without its last event, so the answer may be cut.");
    this.end(failed(this.ask, this.partial, error));
    if (this.iterator) close(this.iterator);
  }

  private take(event: StreamEvent): MaybePromise<void> {
    const { listener } = this.to;
    switch (event.type) {
      case "done":
        return event.message ? this.end(whole(event.message, this.ask)) : this.giveUp();
      case "error":
        return event.error ? this.end(whole(event.error, this.ask)) : this.giveUp();
      case "start":
        // Whatever it starts a second time is the same answer.
        return this.partial ? undefined : listener.onStart((this.partial = event.partial));
      default:
        return this.partial && listener.onEvent?.(event, this.partial);
    }
  }

  private end(message: AssistantMessage): void {
    const { to } = this;
    this.isOver = true;
    to.run?.settle(this);
    const told = this.partial ? undefined : to.listener.onStart(message);
    const resolve = () => to.resolve(message);
    // Whatever became of telling it: nobody waits for ever.
    if (told) void told.then(resolve, resolve);
    else resolve();
  }
}

/** A provider that never ends its clean-up must not hold the run. */
function close(iterator: AsyncIterator<unknown>): void {
  iterator.return?.().catch(ignore);
}

function ignore(): void {}

function openStream(core: Core, request: ProviderRequest, { value, owner }: Registered<"api">) {
  const call = (given: ProviderRequest) => {
    stopLending(given);
    return value.stream(given);
  };
  return core.hooks.around(core.hooks.at.provider_call, request, call, owner);
}

function toRequest(core: Core, ask: Ask, auth: ProviderAuth): ProviderRequest {
  const { model, runId, turnIndex } = ask;
  const { at } = core.hooks;
  const request: Omit<ProviderRequest, "messages"> = {
    model,
    systemPrompt: ask.systemPrompt,
    tools: ask.tools,
    thinkingLevel: ask.thinkingLevel,
    maxTokens: ask.maxTokens,
    temperature: ask.temperature,
    timeoutMs: idleTimeout(core),
    auth,
    purpose: ask.purpose,
    sessionId: ask.sessionId,
    cacheRetention: ask.cacheRetention,
    signal: ask.signal,
    fetch: core.host.fetch,
    async onPayload(given) {
      if (!heard(at.before_provider_request)) return given;
      // A provider sends parts of it again.
      const event = { type: "before_provider_request", runId, turnIndex, payload: copyPlain(given) };
      await core.hooks.ask(at.before_provider_request, event, (answer) => {
        if (answer !== undefined && answer !== FAULT) event.payload = answer;
      });
      return event.payload;
    },
    async onHeaders(headers) {
      const event = { type: "before_provider_headers", runId, turnIndex, headers: { ...headers } };
      await core.hooks.notify(at.before_provider_headers, event);
      return event.headers;
    },
    async onResponse({ status, headers }) {
      await core.tell({ type: "after_provider_response", runId, turnIndex, status, headers });
    },
    onStreamEvent: heard(at.provider_stream_event)
      ? async (data) => {
          const { api, provider, id } = model;
          await core.tell({ type: "provider_stream_event", runId, turnIndex, provider, api, model: id, data });
        }
      : undefined,
  };
  return heard(at.provider_call)
    ? lend(request, ask.messages, () => core.transcript.sealProjected())
    : Object.assign(request, { messages: ask.messages });
}

/** How long a provider may send nothing, in milliseconds: the setting, where 0 and "disabled" mean for ever. */
function idleTimeout(core: Core): number | undefined {
  const setting = core.host.settings.get("httpIdleTimeoutMs") ?? IDLE_TIMEOUT_MS;
  return typeof setting === "number" && setting > 0 ? setting : undefined;
}

/** Makes sure of what the loop relies on: unique ids for calls, arguments that can be stored. */
function whole(message: AssistantMessage, ask: Ask): AssistantMessage {
  if (!isRecord(message) || message.role !== "assistant" || !Array.isArray(message.content)) {
    return failed(ask, undefined, new AgentError("malformed_response", "The answer is no assistant message."));
  }
  if (ask.signal.aborted && message.stopReason === "error") message.stopReason = "aborted";
  if (!Number.isFinite(message.usage?.cost?.total)) message.usage = wholeUsage(message.usage);
  const calls = message.content.filter((block) => block?.type === "toolCall");
  const ids: string[] = [];
  for (const call of calls) {
    if (!call.id || ids.includes(call.id)) call.id = freshId(call.id || "call", ids);
    ids.push(call.id);
    if (!isRecord(call.arguments)) withoutArguments(call, "they are not an object");
  }
  let problem = seal(message);
  if (problem) {
    for (const call of calls) {
      const unfit = seal(call.arguments);
      if (unfit) withoutArguments(call, unfit);
    }
    problem = seal(message);
  }
  problem ??= shapeProblem(message);
  if (!problem) return message;
  return failed(ask, undefined, new AgentError("malformed_response", `The answer cannot be stored: ${problem}.`));
}

function withoutArguments(call: ToolCall, problem: string): void {
  Object.assign(call, { arguments: {}, argumentsError: `The arguments cannot be used: ${problem}.` });
}

function freshId(id: string, taken: readonly string[]): string {
  for (let n = 2; ; n++) if (!taken.includes(`${id}_${n}`)) return `${id}_${n}`;
}

/** The message of a failed call, with what had arrived of the answer. Calls in it are not run. */
function failed(ask: Ask, partial: AssistantMessage | undefined, thrown: unknown): AssistantMessage {
  const error = toAgentError(thrown);
  const isAborted = ask.signal.aborted;
  const message: AssistantMessage = {
    role: "assistant",
    ...arrivedOf(partial),
    api: ask.model.api,
    provider: ask.model.provider,
    model: ask.model.id,
    thinkingLevel: ask.thinkingLevel,
    stopReason: isAborted ? "aborted" : "error",
    errorMessage: isAborted ? "The answer was aborted." : [error.message, error.hint].filter(Boolean).join(" "),
    ...(isAborted ? {} : { failure: failureOf(error) }),
    timestamp: partial?.timestamp ?? Date.now(),
  };
  seal(message);
  return message;
}

/** A copy of what has arrived: a provider goes on filling its own, and what is in that may be anything. */
function arrivedOf(partial: AssistantMessage | undefined): Pick<AssistantMessage, "content" | "usage"> {
  const usage = emptyUsage();
  if (!partial) return { content: [], usage };
  const copy = toJson({ content: partial.content, usage: partial.usage }) as unknown as AssistantMessage;
  const blocks = Array.isArray(copy.content) ? copy.content : [];
  for (const block of blocks) {
    if (isRecord(block) && block.type === "toolCall" && !isRecord(block.arguments))
      Object.assign(block, { arguments: {} });
  }
  const content = blocks.filter((block) => blocksProblem([block], ANSWER_BLOCKS) === undefined);
  return { content, usage: isRecord(copy.usage) ? copy.usage : usage };
}

const KIND_OF_CODE: Readonly<Record<string, FailureKind>> = {
  no_key: "auth",
  unknown_api: "invalid_request",
  malformed_response: "malformed_response",
};

function failureOf(error: AgentError): Failure {
  return { kind: KIND_OF_CODE[error.code] ?? "unknown" };
}

function missingApi(model: Model): AgentError {
  return new AgentError(
    "unknown_api",
    `Nothing that is loaded speaks ${model.api}, which ${model.provider}/${model.id} needs.`,
    {
      hint: "Load the package that provides it: @pi-agent/anthropic, @pi-agent/gemini or @pi-agent/openai.",
    },
  );
}
