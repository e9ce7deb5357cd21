import type { Failure, FailureKind } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { classifyFailure, failureError } from "../src/index.ts";

const json = (error: unknown) => JSON.stringify({ error });

test.each<[FailureKind, number, string]>([
  ["auth", 401, json({ message: "Incorrect API key provided: sk-***.", code: "invalid_api_key" })],
  ["auth", 403, json({ message: "Country not supported" })],
  ["auth", 400, json({ code: 400, message: "API key not valid. Please pass a valid API key." })],
  ["auth", 403, json({ type: "permission_error", message: "no" })],
  ["quota", 429, json({ message: "You exceeded your current quota", code: "insufficient_quota" })],
  ["quota", 400, json({ message: "Your credit balance is too low to access the API" })],
  ["quota", 402, json({ message: "This request requires more credits" })],
  ["quota", 429, json({ status: "RESOURCE_EXHAUSTED", details: [{ quotaId: "GenerateRequestsPerDayPerProject" }] })],
  ["rate_limit", 429, json({ status: "RESOURCE_EXHAUSTED", message: "You exceeded your current quota" })],
  ["rate_limit", 429, json({ message: "Rate limit reached: Limit 30000, Used 29937", code: "rate_limit_exceeded" })],
  ["rate_limit", 429, ""],
  [
    "context_overflow",
    429,
    json({
      message: "Request too large on tokens per min (TPM): The input or output tokens must be reduced",
    }),
  ],
  [
    "context_overflow",
    400,
    json({ type: "invalid_request_error", message: "prompt is too long: 200001 tokens > 200000 maximum" }),
  ],
  [
    "context_overflow",
    400,
    json({ message: "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000" }),
  ],
  [
    "context_overflow",
    400,
    json({ code: "context_length_exceeded", message: "This model's maximum context length is 8192 tokens" }),
  ],
  ["context_overflow", 400, json({ message: "Your input exceeds the context window of this model" })],
  [
    "context_overflow",
    400,
    json({
      message: "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576)",
    }),
  ],
  ["context_overflow", 400, json({ message: "the request exceeds the available context size. try increasing it" })],
  [
    "context_overflow",
    400,
    json({ message: "This model's maximum prompt length is 131072 but the request contains 537812 tokens" }),
  ],
  ["context_overflow", 400, json({ message: "Please reduce the length of the messages or completion" })],
  ["context_overflow", 400, "prompt too long; exceeded max context length by 4 tokens"],
  ["context_overflow", 413, json({ type: "request_too_large", message: "Request exceeds the maximum size" })],
  ["context_overflow", 413, ""],
  ["overloaded", 529, json({ type: "overloaded_error", message: "Overloaded" })],
  ["overloaded", 503, json({ status: "UNAVAILABLE", message: "The model is overloaded." })],
  ["overloaded", 500, json({ message: "The engine is currently overloaded" })],
  ["content_filter", 400, json({ code: "content_filter", message: "filtered" })],
  ["content_filter", 403, json({ message: "Input was flagged", metadata: { reasons: ["violence"] } })],
  ["timeout", 408, ""],
  ["timeout", 504, json({ status: "DEADLINE_EXCEEDED" })],
  ["server", 500, json({ type: "api_error", message: "Internal server error" })],
  ["server", 502, "<html><head><title>502 Bad Gateway</title></head></html>"],
  ["invalid_request", 400, json({ message: "Unknown parameter: 'foo'" })],
  ["invalid_request", 404, json({ message: "The model `x` does not exist" })],
  ["invalid_request", 400, json({ message: "Unknown parameter: 'timeout'" })],
  ["invalid_request", 404, json({ message: "The model `x` is unavailable; rate_limit" })],
  ["malformed_response", 400, json({ message: "Failed to call a function.", code: "tool_use_failed" })],
  ["invalid_request", 422, '{"detail":[{"msg":"field required"}]}'],
])("%s: status %i with %s", (kind, status, body) => {
  const { failure, message } = classifyFailure({ provider: "acme", status, body });
  expect(failure).toEqual({ kind, status });
  expect(message).toMatch(new RegExp(`^acme: ${status}`));
});

test.each<[FailureKind, unknown]>([
  [
    "network",
    Object.assign(new TypeError("fetch failed"), {
      cause: Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:1"), { code: "ECONNREFUSED" }),
    }),
  ],
  [
    "network",
    Object.assign(new TypeError("terminated"), {
      cause: Object.assign(new Error("other side closed"), { code: "UND_ERR_SOCKET" }),
    }),
  ],
  ["network", new TypeError("terminated")],
  ["network", Object.assign(new Error("unexpected end of file"), { code: "Z_BUF_ERROR" })],
  [
    "timeout",
    Object.assign(new TypeError("fetch failed"), {
      cause: Object.assign(new Error("Headers Timeout Error"), { code: "UND_ERR_HEADERS_TIMEOUT" }),
    }),
  ],
  ["timeout", new DOMException("too late", "TimeoutError")],
  ["malformed_response", new SyntaxError("Unexpected token < in JSON")],
  ["malformed_response", failureError({ kind: "malformed_response" }, "no event stream")],
  ["unknown", new Error("what?")],
  ["unknown", "what?"],
])("%s: the cause %s", (kind, cause) => {
  const { failure, message } = classifyFailure({ provider: "acme", cause });
  expect(failure).toEqual({ kind });
  expect(message).toMatch(/^acme: ./);
});

test("the reason behind a failed fetch is told", () => {
  const cause = Object.assign(new TypeError("fetch failed"), {
    cause: Object.assign(new Error("getaddrinfo ENOTFOUND api.acme"), { code: "ENOTFOUND" }),
  });
  expect(classifyFailure({ provider: "acme", cause }).message).toBe(
    "acme: fetch failed: getaddrinfo ENOTFOUND api.acme",
  );
});

const inTenSeconds = () => new Date(Date.now() + 10_000).toUTCString();
test.each<[string, Record<string, string>, (failure: Failure) => void]>([
  ["seconds", { "retry-after": "12" }, (f) => expect(f.retryAfterMs).toBe(12_000)],
  ["parts of a second", { "retry-after": "0.5" }, (f) => expect(f.retryAfterMs).toBe(500)],
  ["milliseconds, the finer", { "retry-after": "1", "retry-after-ms": "644" }, (f) => expect(f.retryAfterMs).toBe(644)],
  [
    "a date",
    { "retry-after": inTenSeconds() },
    (f) => {
      expect(f.retryAfterMs).toBeGreaterThan(0);
      expect(f.retryAfterMs).toBeLessThanOrEqual(10_000);
    },
  ],
  ["a date that has passed", { "retry-after": "Thu, 01 Jan 1970 00:00:00 GMT" }, (f) => expect(f.retryAfterMs).toBe(0)],
  ["nonsense", { "retry-after": "soon" }, (f) => expect(f.retryAfterMs).toBeUndefined()],
  ["a negative number", { "retry-after": "-1" }, (f) => expect(f.retryAfterMs).toBeUndefined()],
  ["nothing", { "retry-after": "" }, (f) => expect(f.retryAfterMs).toBeUndefined()],
])("retry-after as %s", (_name, headers, check) => {
  check(classifyFailure({ provider: "acme", status: 429, headers: new Headers(headers) }).failure);
});

test("Google's RetryInfo is a wait too", () => {
  const body = json({ message: "m", details: [{ "@type": "RetryInfo", retryDelay: "34.07s" }] });
  expect(classifyFailure({ provider: "acme", status: 429, body }).failure.retryAfterMs).toBe(34_070);
});

test.each<[string, unknown, string]>([
  ["a message in an error", json({ message: "no" }), "no"],
  ["a text as the error", '{"error":"no"}', "no"],
  ["a message alone", '{"object":"error","message":"no"}', "no"],
  ["a detail", '{"detail":"no"}', "no"],
  ["an array", '[{"error":{"message":"no"}}]', "no"],
  ["an object", { error: { message: "no" } }, "no"],
  [
    "an upstream's own words",
    json({ message: "Provider returned error", metadata: { raw: '{"error":{"message":"no"}}' } }),
    "Provider returned error: no",
  ],
  ["a page", "<!DOCTYPE html><html><title>Bad\n gateway</title><body>…</body></html>", "an HTML page: Bad gateway"],
  ["plain text", "no\n", "no"],
  ["JSON of no known shape", '{"x":1}', '{"x":1}'],
])("an error body with %s is told as what a person should read", (_name, body, text) => {
  expect(classifyFailure({ provider: "acme", status: 500, body }).message).toBe(`acme: 500 ${text}`);
});

test("a message about credentials names the variables to set, and never the key", () => {
  const { message } = classifyFailure({
    provider: "acme",
    env: ["ACME_API_KEY", "ACME_KEY"],
    status: 401,
    body: json({ message: "The key abc-secret-def is wrong." }),
    secrets: ["abc-secret-def", undefined],
  });
  expect(message).toBe("acme: 401 The key *** is wrong. Set ACME_API_KEY or ACME_KEY to a valid key.");
});

test("a placeholder for a key is no secret", () => {
  const { message } = classifyFailure({ provider: "ollama", status: 404, body: "no such model", secrets: ["ollama"] });
  expect(message).toBe("ollama: 404 no such model");
});

test("a long body is cut", () => {
  expect(classifyFailure({ provider: "acme", status: 500, body: "x".repeat(1e6) }).message.length).toBeLessThan(1_100);
});
