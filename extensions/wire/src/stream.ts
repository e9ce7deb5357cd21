/**
 * The course of every provider call.
 *
 *   open ─► head ─► start ─► read(event)* ─► end ─► done
 *     └──────────────┴────────────┴──────────┴────► error: failed | timed out | aborted | ended too early
 */
import type { ProviderRequest, StreamEvent } from "@pi-agent/kernel";
import { type Answer, createAnswer } from "./answer.ts";
import { readJson } from "./arguments.ts";
import { classifyFailure, type FailureSource, failureError } from "./failure.ts";
import { secretsOf } from "./secrets.ts";
import { type EventReader, openEvents, type ServerSentEvent } from "./sse.ts";

export interface StreamSteps {
  api: string;
  /** The variables that may hold the key, for the message of an `auth` failure. */
  env?: readonly string[];
  /** Sends the request under `signal`, which an abort and a timeout fire. Throws what `classifyFailure` takes. */
  open(signal: AbortSignal): Promise<Response>;
  /** Takes one event. May end the answer. */
  read(event: ServerSentEvent, answer: Answer): void;
  /** Takes the end of the stream, however it came: ends the answer, if all that it needs has arrived. */
  end?(answer: Answer): void;
}

/** Streams one answer. Yields one array per network chunk; every failure is the last event, and nothing is thrown. */
export async function* streamAnswer(
  request: ProviderRequest,
  steps: StreamSteps,
): AsyncGenerator<readonly StreamEvent[]> {
  const answer = createAnswer(request, steps.api);
  const idle = watchIdle(request);
  let source: EventReader | undefined;
  try {
    source = openEvents(await openBody(steps, idle.signal), idle.signal, idle.touch);
    answer.start();
    yield answer.takeBatch();
    for (let events = await source.next(); events; events = await source.next()) {
      if (request.onStreamEvent) await readAloud(events, steps, { answer, request });
      else readEvents(events, steps, answer);
      const batch = answer.takeBatch();
      if (batch.length > 0) yield batch;
      if (answer.isEnded) return;
    }
    steps.end?.(answer);
    if (!answer.isEnded) throw cutError();
  } catch (cause) {
    const isHalf = source?.isCut && cause instanceof SyntaxError;
    endBadly(answer, request, { ...steps, cause: isHalf ? cutError() : cause });
  } finally {
    idle.stop();
    source?.close();
  }
  yield answer.takeBatch();
}

async function openBody(steps: StreamSteps, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
  signal.throwIfAborted();
  const response = await steps.open(signal);
  if (!response.ok) throw await responseError(response);
  if (response.body === null) throw failureError({ kind: "malformed_response" }, "the answer has no body");
  return response.body;
}

function readEvents(events: readonly ServerSentEvent[], steps: StreamSteps, answer: Answer): void {
  for (const event of events) {
    if (event.event === "unframed") throw unframedError(event.data);
    steps.read(event, answer);
    if (answer.isEnded) return;
  }
}

/** Reads events one by one, and tells each before it is understood. Who listens gets a value of its own. */
async function readAloud(
  events: readonly ServerSentEvent[],
  steps: StreamSteps,
  { answer, request }: { answer: Answer; request: ProviderRequest },
): Promise<void> {
  for (const event of events) {
    const data = event.event === "unframed" ? undefined : readJson(event.data);
    if (data !== undefined) await request.onStreamEvent?.(data);
    readEvents([event], steps, answer);
    if (answer.isEnded) return;
  }
}

/** Bytes of an error answer that are read: no message needs more. */
const MAX_ERROR_BYTES = 1_000_000;

/** Reads an answer with an error status, its body up to 1 MB, for `open` to throw. */
export async function responseError(response: Response): Promise<Error & Partial<FailureSource>> {
  const { status, headers } = response;
  const body = await readText(response.body);
  return Object.assign(new Error(response.statusText), { status, headers, body });
}

async function readText(body: Response["body"]): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let left = MAX_ERROR_BYTES;
  // Leaving the loop cancels the body.
  for await (const bytes of body ?? []) {
    text += decoder.decode(bytes.subarray(0, left), { stream: true });
    left -= bytes.length;
    if (left <= 0) break;
  }
  return text + decoder.decode();
}

/** A connection that breaks when all that the answer needs had arrived does not undo it. */
function endBadly(answer: Answer, request: ProviderRequest, at: StreamSteps & { cause: unknown }): void {
  if (request.signal.aborted) return answer.abort();
  const { failure, message } = classify(request, at);
  const isBreak = !hasBody(at.cause) && (failure.kind === "network" || failure.kind === "timeout");
  if (isBreak && answer.isStarted) {
    try {
      at.end?.(answer);
    } catch {
      // It was the break that came first, and that is told.
    }
  }
  answer.fail(failure, message);
}

/** Takes `status`, `headers` and `body` from the cause, where it has them under the names that HTTP clients use. */
function classify(request: ProviderRequest, { cause, env }: Partial<FailureSource>) {
  const thrown = isHttpError(cause) ? cause : undefined;
  return classifyFailure({
    provider: request.model.provider,
    env,
    status: typeof thrown?.status === "number" ? thrown.status : undefined,
    headers: thrown?.headers instanceof Headers ? thrown.headers : undefined,
    body: thrown?.body ?? thrown?.error,
    cause,
    secrets: secretsOf(request),
  });
}

interface HttpError extends Error {
  status?: unknown;
  headers?: unknown;
  body?: unknown;
  error?: unknown;
}

function isHttpError(cause: unknown): cause is HttpError {
  return cause instanceof Error;
}

function hasBody(cause: unknown): boolean {
  return isHttpError(cause) && cause.body !== undefined;
}

function cutError(): Error {
  return failureError({ kind: "network" }, "the answer ended before it was complete");
}

function unframedError(body: string): Error {
  const message = "the answer is not an event stream";
  return Object.assign(failureError({ kind: "malformed_response" }, message), { body });
}

interface IdleWatch {
  signal: AbortSignal;
  touch: () => void;
  stop: () => void;
}

/** Fires when nothing has come for `timeoutMs`, and with the request's own signal. */
function watchIdle({ signal, timeoutMs }: ProviderRequest): IdleWatch {
  if (timeoutMs === undefined || timeoutMs <= 0) return { signal, touch() {}, stop() {} };
  const controller = new AbortController();
  const timer = setTimeout(
    () => controller.abort(failureError({ kind: "timeout" }, `nothing came for ${timeoutMs} ms`)),
    timeoutMs,
  );
  return {
    signal: AbortSignal.any([signal, controller.signal]),
    touch: () => void timer.refresh(),
    stop: () => clearTimeout(timer),
  };
}
