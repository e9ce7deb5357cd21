import type { Failure, FailureKind } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { delayBeforeRetry, isPassing, withExcess } from "../src/decide.ts";
import type { RetrySettings } from "../src/settings.ts";
import { fails } from "./scripted.ts";

const SETTINGS: RetrySettings = {
  enabled: true,
  maxRetries: 3,
  baseDelayMs: 2_000,
  maxAgentDelayMs: 60_000,
  maxServerDelayMs: 60_000,
};
const BUSY: Failure = { kind: "overloaded" };

function delay(failure: Failure | undefined, attempt = 1, more: Partial<RetrySettings> = {}, chance = 0) {
  return delayBeforeRetry({ message: fails(failure), attempt }, { ...SETTINGS, ...more }, chance);
}

const KINDS: Record<FailureKind, boolean> = {
  rate_limit: true,
  overloaded: true,
  server: true,
  network: true,
  timeout: true,
  malformed_response: true,
  auth: false,
  quota: false,
  invalid_request: false,
  content_filter: false,
  context_overflow: false,
  unknown: false,
};

test.for(Object.entries(KINDS) as [FailureKind, boolean][])("a failure of kind %s passes: %s", ([kind, passes]) => {
  expect(isPassing({ kind })).toBe(passes);
  expect(delay({ kind }) !== undefined).toBe(passes);
});

test("a status says nothing against the kind that somebody found", () => {
  for (const kind of ["auth", "quota", "invalid_request", "content_filter", "context_overflow"] as const)
    expect(isPassing({ kind, status: 503 })).toBe(false);
  expect(isPassing({ kind: "overloaded", status: 400 })).toBe(true);
});

test("where nobody knew the cause the status decides, and without one there is no retry", () => {
  const passing = [408, 429, 500, 502, 503, 504, 520, 524];
  for (const status of passing) expect(isPassing({ kind: "unknown", status }), String(status)).toBe(true);
  for (const status of [200, 400, 401, 403, 404, 413, 422, 501])
    expect(isPassing({ kind: "unknown", status }), String(status)).toBe(false);
  expect(delay(undefined)).toBeUndefined();
});

test("each wait is twice as long as the one before, up to the longest", () => {
  const delays = [1, 2, 3, 4, 5, 6, 7].map((attempt) => delay(BUSY, attempt, { maxRetries: 9 }));
  expect(delays).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  expect(delay(BUSY, 2_000, { maxRetries: 5_000 })).toBe(60_000);
});

test("chance takes up to a quarter of a wait away, so that agents do not come back together", () => {
  expect(delay(BUSY, 2, {}, 0.999_999)).toBe(3_000);
  expect(delay(BUSY, 2, {}, 0.5)).toBe(3_500);
});

test("attempts beyond the budget, none at all, and retries that are off", () => {
  expect(delay(BUSY, 3)).toBe(8_000);
  expect(delay(BUSY, 4)).toBeUndefined();
  expect(delay(BUSY, 1, { maxRetries: 0 })).toBeUndefined();
  expect(delay(BUSY, 1, { enabled: false })).toBeUndefined();
});

test("a service is never asked again before it wants to be, nor at once, nor by all at the same time", () => {
  expect(delay({ kind: "rate_limit", retryAfterMs: 20_000 })).toBe(20_000);
  expect(delay({ kind: "rate_limit", retryAfterMs: 20_000 }, 1, {}, 0.5)).toBe(20_250);
  expect(delay({ kind: "rate_limit", retryAfterMs: 0 })).toBe(2_000);
  expect(delay({ kind: "rate_limit", retryAfterMs: 100 }, 2)).toBe(4_000);
  expect(delay({ kind: "rate_limit", retryAfterMs: 30_000 }, 1, { maxAgentDelayMs: 5_000 })).toBe(30_000);
});

test("a wait above the cap fails at once, with words that say so; a cap of 0 takes any", () => {
  const failure: Failure = { kind: "rate_limit", retryAfterMs: 120_500 };
  expect(delay(failure)).toBeUndefined();
  expect(withExcess(fails(failure), SETTINGS).errorMessage).toBe(
    "It failed with rate_limit. The service asks to wait 121 s, and at most 60 s are waited: try again later, or raise the setting retry.provider.maxRetryDelayMs.",
  );
  expect(delay(failure, 1, { maxServerDelayMs: 0 })).toBe(120_500);
  expect(delay({ ...failure, retryAfterMs: 60_000 })).toBe(60_000);
});

test("nothing is added to a failure that would not be tried again anyway", () => {
  const asks = { retryAfterMs: 120_000 };
  for (const [failure, more] of [
    [{ kind: "quota", ...asks }, {}],
    [{ kind: "rate_limit", ...asks }, { enabled: false }],
    [{ kind: "rate_limit", ...asks }, { maxRetries: 0 }],
    [{ kind: "rate_limit", ...asks }, { maxServerDelayMs: 0 }],
    [{ kind: "rate_limit" }, {}],
  ] as [Failure, Partial<RetrySettings>][]) {
    const message = fails(failure);
    expect(withExcess(message, { ...SETTINGS, ...more })).toBe(message);
  }
});
