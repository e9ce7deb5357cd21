/** Types what went wrong with a provider call, once, from whatever is there: status, headers, body, cause. */
import type { Failure, FailureKind } from "@pi-agent/kernel";
import { readErrorBody } from "./error-body.ts";

export interface FailureSource {
  /** The provider's id, which every message begins with. */
  provider: string;
  /** The variables that may hold its key. */
  env?: readonly string[];
  status?: number;
  /** The answer's text, or the JSON of it. */
  body?: unknown;
  headers?: Headers;
  /** What was thrown when there was no answer, or while it was read. */
  cause?: unknown;
  /** Texts that must not appear in the message. */
  secrets?: readonly (string | undefined)[];
}

export interface ClassifiedFailure {
  failure: Failure;
  message: string;
}

export type FailureError = Error & { failure: Failure };

/** Makes an error that carries its failure; `classifyFailure` gives it back. */
export function failureError(failure: Failure, message: string): FailureError {
  return Object.assign(new Error(message), { failure });
}

interface Rule {
  kind: FailureKind;
  status?: readonly number[];
  words?: RegExp;
  unless?: RegExp;
  /** Says nothing of a request that the service calls wrong, where the words may quote the request. */
  isPassing?: true;
}

const RATE = /rate.?limit|too many requests|throttl|per.?minute|per min\b|per second|resource_exhausted/i;

/** The first rule that holds decides. */
const RULES: readonly Rule[] = [
  {
    kind: "context_overflow",
    unless: RATE,
    words:
      /context_length_exceeded|context_window_exceeded|prompt_too_long|prompt is too long|prompt too long|input is too long|too long for (?:the|this) model|maximum (?:context|prompt) length|context (?:length|window|size)[^.]{0,80}exceed|exceeds?(?:\s\S+){0,6}\s(?:context|maximum number of (?:input )?tokens|token limit)|exceed_context_size|greater than the context length|larger than the (?:model'?s )?context|reduce the length of the (?:messages|input|prompt)|too large for model with|input token count[^.]{0,40}exceed|request_too_large|token count[^.]{0,60}exceeds the maximum|too many (?:input )?tokens/i,
  },
  // One request above the limit per minute: waiting does not help, a shorter history does.
  { kind: "context_overflow", words: /tokens must be reduced/i },
  {
    kind: "quota",
    words:
      /insufficient_quota|insufficient[ _](?:balance|credits?|funds)|billing_error|billing[ _](?:hard|not)|credit balance|out of credits|requires more credits|usage limit|PerDay|payment required/i,
  },
  { kind: "quota", status: [402] },
  {
    kind: "content_filter",
    words:
      /content[_ ](?:filter|policy|management)|prohibited_content|responsible ai|moderation|flagged|violat\w+ (?:our|the|openai|usage)[^.]{0,40}polic|safety (?:system|filter)|invalid_prompt/i,
  },
  { kind: "auth", status: [401] },
  {
    kind: "auth",
    words:
      /invalid[_ ]api[_ ]key|incorrect api key|api[_ ]key not valid|API_KEY_INVALID|authentication_error|permission_error|permission_denied|unauthenticated|invalid x-api-key|api key (?:is )?(?:expired|missing|required)/i,
  },
  { kind: "rate_limit", status: [429] },
  { kind: "overloaded", status: [529, 503] },
  { kind: "overloaded", words: /overloaded|at capacity|over capacity|unavailable|try again later/i, isPassing: true },
  { kind: "rate_limit", words: RATE, isPassing: true },
  { kind: "auth", status: [403] },
  { kind: "timeout", status: [408, 504, 524] },
  { kind: "timeout", words: /deadline_exceeded|timed? ?out/i, isPassing: true },
  { kind: "context_overflow", status: [413] },
  // The service could not read what its own model wrote.
  { kind: "malformed_response", words: /tool_use_failed|malformed_function_call/i },
  {
    kind: "server",
    words: /server_error|internal[_ ]error|internal server error|api_error|\bINTERNAL\b/i,
    isPassing: true,
  },
  { kind: "invalid_request", words: /invalid_request|invalid_argument|not_found_error|model_not_found/i },
];

/** Codes of Node and its HTTP client. */
const CAUSES: readonly [FailureKind, RegExp][] = [
  ["timeout", /^(?:ETIMEDOUT|TimeoutError|UND_ERR_(?:HEADERS|BODY|CONNECT)_TIMEOUT|ESOCKETTIMEDOUT)$/],
  [
    "network",
    /^(?:E(?:CONN|HOST|NET)\w+|ENOTFOUND|EAI_\w+|EPIPE|EPROTO|UND_ERR_\w+|HPE_\w+|ERR_(?:SSL|TLS|STREAM)\w*|CERT_\w+|\w+_CERT\w*|Z_\w+|APIConnectionError)$/,
  ],
  ["malformed_response", /^(?:SyntaxError|ERR_ENCODING_INVALID_ENCODED_DATA)$/],
];

/** Types a failure and words it: which provider, what happened, and for credentials what to do. */
export function classifyFailure(source: FailureSource): ClassifiedFailure {
  const carried = isFailureError(source.cause) ? source.cause.failure : undefined;
  const { text, words, retryAfterMs } = readErrorBody(source.body);
  const kind = kindOf(words, source.status) ?? carried?.kind ?? causeKind(source.cause) ?? "unknown";
  const failure: Failure = { ...carried, kind };
  if (source.status !== undefined) failure.status = source.status;
  const waitMs = retryAfter(source.headers) ?? retryAfterMs;
  if (waitMs !== undefined) failure.retryAfterMs = waitMs;
  return { failure, message: wordFailure(source, kind, text) };
}

function isFailureError(cause: unknown): cause is FailureError {
  return cause instanceof Error && "failure" in cause;
}

const WRONG_REQUEST = [400, 404, 422];

function kindOf(words: string, status: number | undefined): FailureKind | undefined {
  const isWrongRequest = status !== undefined && WRONG_REQUEST.includes(status);
  for (const rule of RULES) {
    if (rule.isPassing && isWrongRequest) continue;
    if (rule.status && !(status !== undefined && rule.status.includes(status))) continue;
    if (rule.words && (words === "" || !rule.words.test(words) || rule.unless?.test(words))) continue;
    return rule.kind;
  }
  if (status === undefined || status < 400) return undefined;
  return status >= 500 ? "server" : "invalid_request";
}

function causeKind(cause: unknown): FailureKind | undefined {
  for (let error = cause; error instanceof Error; error = error.cause) {
    for (const word of ["code" in error ? String(error.code) : "", error.name]) {
      const found = CAUSES.find(([, pattern]) => pattern.test(word));
      if (found) return found[0];
    }
    // What fetch throws when a connection ends early says no more than this.
    if (/^(?:fetch failed|terminated|other side closed|network error)/i.test(error.message) && !error.cause)
      return "network";
  }
  return undefined;
}

function retryAfter(headers: Headers | undefined): number | undefined {
  const ms = positive(headers?.get("retry-after-ms"));
  if (ms !== undefined) return ms;
  const text = headers?.get("retry-after");
  const seconds = positive(text);
  if (seconds !== undefined) return seconds * 1_000;
  const at = text && /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

function positive(text: string | null | undefined): number | undefined {
  return text && /^\s*\d+(?:\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}

/** Shorter ones are placeholders for local servers, and words of their messages. */
const MIN_SECRET_CHARS = 6;

function wordFailure(source: FailureSource, kind: FailureKind, text: string): string {
  const what = [source.status, text || causeText(source.cause)].filter(Boolean).join(" ") || kind;
  let message = `${source.provider}: ${hideSecrets(what, source.secrets)}`;
  if (kind === "auth" && source.env?.length)
    message = `${message.replace(/[.\s]*$/, "")}. Set ${source.env.join(" or ")} to a valid key.`;
  return message.toWellFormed();
}

function hideSecrets(text: string, secrets: FailureSource["secrets"] = []): string {
  let hidden = text;
  for (const secret of secrets)
    if (secret && secret.length >= MIN_SECRET_CHARS) hidden = hidden.replaceAll(secret, "***");
  return hidden;
}

/** `fetch failed` hides its reason in `cause`. */
function causeText(cause: unknown): string {
  const texts: string[] = [];
  for (let error = cause; error instanceof Error; error = error.cause) {
    const code = "code" in error && typeof error.code === "string" ? error.code : "";
    texts.push([error.message, error.message.includes(code) ? "" : code].filter(Boolean).join(" "));
  }
  if (typeof cause === "string") texts.push(cause);
  return texts.filter(Boolean).join(": ");
}
