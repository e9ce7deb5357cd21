/**
 * One provider call: the request, the stream, and an answer that is whole whatever the stream did.
 *
 *   request ──► provider_call (around) ──► api.stream ──► start … done | error ──► message
 *
 * A stream that throws, never starts, ends without its last event or goes on after it, and a provider that does not
 * obey the signal, all end in a message that says so.
 */
import type { MaybePromise, ProviderAuth, ProviderRequest } from "./contract.ts";
import type { Core } from "./core.ts";
import { AgentError, toAgentError } from "./errors.ts";
import { FAULT, heard } from "./hooks.ts";
import type {
  AssistantMessage,
  Failure,
  FailureKind,
  Message,
  Model,
  StreamEvent,
  ThinkingLevel,
  ToolSchema,
} from "./messages.ts";
import { ABANDONED, type Run } from "./run.ts";
import { ANSWER_BLOCKS, blocksProblem, shapeProblem } from "./shapes.ts";
import { emptyUsage, wholeUsage } from "./tokens.ts";
import { isRecord, seal, toJson } from "./values.ts";

/** Pi's default for the same setting. */
const IDLE_TIMEOUT_MS = 300_000;

export interface Ask {
  model: Model;
  messages: readonly Message[];
  tools: readonly ToolSchema[];
  systemPrompt: string;
  thinkingLevel: ThinkingLevel;
  purpose: string;
  maxTokens?: number;
  temperature?: number;
  signal: AbortSignal;
  runId: string;
  turnIndex: number;
}

/** Gets the partial answer once it exists, then each event of the stream. */
export interface Listener {
  onStart(partial: AssistantMessage): MaybePromise<void>;
  onEvent?: (event: StreamEvent, partial: AssistantMessage) => MaybePromise<void>;
}

/** A stream on its way: what has arrived of the answer, and whether anybody still waits for more. */
interface Reading {
  run: Run | undefined;
  iterator?: AsyncIterator<unknown>;
  partial?: AssistantMessage;
  isGivenUp: boolean;
}

/**
 * Streams one answer, which the listener hears begin whatever comes of it. Never fails: a failure is a message with
 * `stopReason` `error` or `aborted`.
 */
export async function streamAnswer(
  core: Core,
  ask: Ask,
  run: Run | undefined,
  listener: Listener,
): Promise<AssistantMessage> {
  const reading: Reading = { run, isGivenUp: false };
  let message: AssistantMessage;
  try {
    const work = readAnswer(core, ask, listener, reading);
    const final = run ? await run.bounded(work) : await work;
    message = final && final !== ABANDONED ? whole(final, ask) : givenUp(ask, reading);
  } catch (thrown) {
    message = failed(ask, reading.partial, thrown);
  }
  const told = reading.partial ? undefined : listener.onStart(message);
  if (told) await told;
  return message;
}

function givenUp(ask: Ask, reading: Reading): AssistantMessage {
  reading.isGivenUp = true;
  close(reading);
  const error = ask.signal.aborted
    ? new AgentError("aborted", "The answer was aborted.")
    : new AgentError("malformed_response", "The stream ended without its last event, so the answer may be cut.");
  return failed(ask, reading.partial, error);
}

/** Reads the stream to its last event; answers nothing when it ends without one. */
async function readAnswer(
  core: Core,
  ask: Ask,
  listener: Listener,
  reading: Reading,
): Promise<AssistantMessage | undefined> {
  ask.signal.throwIfAborted();
  const api = core.registries.of("api").get(ask.model.api);
  if (!api) throw missingApi(ask.model);
  const auth = await core.host.credentials.resolve(ask.model.provider, ask.model);
  const request = toRequest(core, ask, auth);
  const call = (given: ProviderRequest) => api.value.stream(given);
  const iterator = core.hooks.around(core.hooks.at.provider_call, request, call, api.owner);
  reading.iterator = iterator;
  try {
    for (;;) {
      const next = await iterator.next();
      if (next.done) return undefined;
      for (const event of next.value) {
        if (reading.isGivenUp || reading.run?.isAbandoned) return undefined;
        if (event.type === "done") return event.message;
        if (event.type === "error") return event.error;
        let told: MaybePromise<void> = undefined;
        if (event.type === "start") {
          // Whatever it starts a second time is the same answer.
          if (!reading.partial) told = listener.onStart((reading.partial = event.partial));
        } else if (listener.onEvent && reading.partial) told = listener.onEvent(event, reading.partial);
        if (told) await told;
      }
    }
  } finally {
    close(reading);
  }
}

/** A provider that never ends its clean-up must not hold the run. */
function close({ iterator }: Reading): void {
  iterator?.return?.().catch(() => {});
}

function toRequest(core: Core, ask: Ask, auth: ProviderAuth): ProviderRequest {
  const { model, runId, turnIndex } = ask;
  const { at } = core.hooks;
  return {
    model,
    systemPrompt: ask.systemPrompt,
    messages: ask.messages,
    tools: ask.tools,
    thinkingLevel: ask.thinkingLevel,
    maxTokens: ask.maxTokens,
    temperature: ask.temperature,
    timeoutMs: idleTimeout(core),
    auth,
    purpose: ask.purpose,
    sessionId: core.sessionId,
    cacheRetention: "short",
    signal: ask.signal,
    fetch: core.host.fetch,
    async onPayload(payload) {
      const event = { type: "before_provider_request", runId, turnIndex, payload };
      await core.hooks.ask(at.before_provider_request, event, (answer) => {
        if (answer !== undefined && answer !== FAULT) event.payload = answer;
      });
      return event.payload;
    },
    async onHeaders(headers) {
      const event = { type: "before_provider_headers", runId, turnIndex, headers: { ...headers } };
      await core.hooks.ask(at.before_provider_headers, event, () => {});
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
  const ids: string[] = [];
  for (const block of message.content) {
    if (block?.type !== "toolCall") continue;
    if (!block.id || ids.includes(block.id)) block.id = freshId(block.id || "call", ids);
    ids.push(block.id);
    const problem = isRecord(block.arguments) ? seal(block.arguments) : "they are not an object";
    if (problem) Object.assign(block, { arguments: {}, argumentsError: `The arguments cannot be used: ${problem}.` });
  }
  const problem = seal(message) ?? shapeProblem(message);
  if (!problem) return message;
  return failed(ask, undefined, new AgentError("malformed_response", `The answer cannot be stored: ${problem}.`));
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
