/**
 * One provider call: the request, the stream, and an answer that is whole whatever the stream did.
 *
 *   request ──► provider_call (around) ──► api.stream ──► start … done | error ──► message
 *
 * A stream that throws, never starts, ends without its last event or goes on after it, and a provider that does not
 * obey the signal, all end in a message that says so.
 */
import type { Api, ProviderRequest } from "./contract.ts";
import type { Core } from "./core.ts";
import { AgentError, toAgentError } from "./errors.ts";
import { FAULT } from "./hooks.ts";
import { shapeProblem } from "./message-shape.ts";
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
import { emptyUsage } from "./tokens.ts";
import { isRecord, settle } from "./values.ts";

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
  signal: AbortSignal;
  runId: string;
  turnIndex: number;
}

/** Gets the partial answer once it exists, then each event of the stream. */
export interface Listener {
  onStart(partial: AssistantMessage): void | Promise<void>;
  onEvent?(event: StreamEvent, partial: AssistantMessage): void | Promise<void>;
}

/** Streams one answer. Never fails: a failure is a message with `stopReason` `error` or `aborted`. */
export async function streamAnswer(
  core: Core,
  ask: Ask,
  run: Run | undefined,
  listener: Listener,
): Promise<AssistantMessage> {
  const stream: { partial?: AssistantMessage } = {};
  try {
    const iterator = (await open(core, ask))[Symbol.asyncIterator]();
    try {
      const final = await readStream(iterator, { run, listener, stream });
      if (final) return whole(final, ask);
    } finally {
      // A provider that never ends its clean-up must not hold the run.
      void Promise.resolve(iterator.return?.()).catch(() => {});
    }
  } catch (thrown) {
    return failed(ask, stream.partial, thrown);
  }
  const isGivenUp = ask.signal.aborted;
  const message = isGivenUp
    ? "The answer was aborted."
    : "The stream ended without its last event, so the answer may be cut.";
  return failed(ask, stream.partial, new AgentError(isGivenUp ? "aborted" : "malformed_response", message));
}

async function readStream(
  iterator: AsyncIterator<readonly StreamEvent[]>,
  at: { run: Run | undefined; listener: Listener; stream: { partial?: AssistantMessage } },
): Promise<AssistantMessage | undefined> {
  const { run, listener, stream } = at;
  for (;;) {
    const step = iterator.next();
    const next = run ? await run.bounded(step) : await step;
    if (next === ABANDONED || next.done) return undefined;
    for (const event of next.value) {
      if (event.type === "done") return event.message;
      if (event.type === "error") return event.error;
      if (event.type === "start") {
        stream.partial = event.partial;
        const told = listener.onStart(event.partial);
        if (told) await told;
      } else if (listener.onEvent && stream.partial) {
        const told = listener.onEvent(event, stream.partial);
        if (told) await told;
      }
    }
  }
}

async function open(core: Core, ask: Ask): Promise<AsyncIterable<readonly StreamEvent[]>> {
  ask.signal.throwIfAborted();
  const api = core.registries.of("api").get(ask.model.api)?.value;
  if (!api) throw missingApi(ask.model);
  const auth = await core.host.credentials.resolve(ask.model.provider, ask.model);
  const request: ProviderRequest = {
    model: ask.model,
    systemPrompt: ask.systemPrompt,
    messages: ask.messages,
    tools: ask.tools,
    thinkingLevel: ask.thinkingLevel,
    maxTokens: ask.maxTokens,
    timeoutMs: idleTimeout(core),
    auth,
    purpose: ask.purpose,
    sessionId: core.sessionId,
    cacheRetention: "short",
    signal: ask.signal,
    fetch: core.host.fetch,
    ...requestHooks(core, ask),
  };
  return core.hooks.around(core.hooks.at.provider_call, request, (given) => (api as Api).stream(given));
}

/** How long a provider may send nothing, in milliseconds: the setting, where 0 and "disabled" mean for ever. */
function idleTimeout(core: Core): number | undefined {
  const setting = core.host.settings.get("httpIdleTimeoutMs") ?? IDLE_TIMEOUT_MS;
  return typeof setting === "number" && setting > 0 ? setting : undefined;
}

function requestHooks(core: Core, ask: Ask): Pick<ProviderRequest, "onPayload" | "onHeaders" | "onResponse"> {
  const { at } = core.hooks;
  const place = { runId: ask.runId, turnIndex: ask.turnIndex };
  return {
    async onPayload(payload) {
      const event = { type: "before_provider_request", ...place, payload };
      await core.hooks.ask(at.before_provider_request, event, (answer) => {
        if (answer !== undefined && answer !== FAULT) event.payload = answer;
      });
      return event.payload;
    },
    async onHeaders(headers) {
      const event = { type: "before_provider_headers", ...place, headers: { ...headers } };
      await core.hooks.ask(at.before_provider_headers, event, () => {});
      return event.headers;
    },
    async onResponse({ status, headers }) {
      await core.tell({ type: "after_provider_response", ...place, status, headers });
    },
  };
}

/** Makes sure of what the loop relies on: unique ids for calls, arguments that can be stored. */
function whole(message: AssistantMessage, ask: Ask): AssistantMessage {
  message.thinkingLevel ??= ask.thinkingLevel;
  if (ask.signal.aborted && message.stopReason === "error") message.stopReason = "aborted";
  const ids = new Set<string>();
  for (const block of message.content) {
    if (block.type !== "toolCall") continue;
    if (!block.id || ids.has(block.id)) block.id = freshId(block.id || "call", ids);
    ids.add(block.id);
    const problem = isRecord(block.arguments) ? settle(block.arguments) : "they are not an object";
    if (problem) Object.assign(block, { arguments: {}, argumentsError: `The arguments cannot be used: ${problem}.` });
  }
  const problem = settle(message) ?? shapeProblem(message);
  return problem
    ? failed(ask, undefined, new AgentError("malformed_response", `The answer cannot be stored: ${problem}.`))
    : message;
}

function freshId(id: string, taken: ReadonlySet<string>): string {
  for (let n = 2; ; n++) if (!taken.has(`${id}_${n}`)) return `${id}_${n}`;
}

/** The message of a failed call, with what had arrived of the answer. Calls in it are not run. */
function failed(ask: Ask, partial: AssistantMessage | undefined, thrown: unknown): AssistantMessage {
  const error = toAgentError(thrown);
  const isAborted = ask.signal.aborted;
  const content = partial ? structuredClone(partial.content) : [];
  for (const block of content) if (block.type === "toolCall" && !isRecord(block.arguments)) block.arguments = {};
  return {
    role: "assistant",
    content,
    api: ask.model.api,
    provider: ask.model.provider,
    model: ask.model.id,
    thinkingLevel: ask.thinkingLevel,
    usage: partial ? structuredClone(partial.usage) : emptyUsage(),
    stopReason: isAborted ? "aborted" : "error",
    errorMessage: isAborted ? "The answer was aborted." : [error.message, error.hint].filter(Boolean).join(" "),
    ...(isAborted ? {} : { failure: failureOf(error) }),
    timestamp: partial?.timestamp ?? Date.now(),
  };
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
