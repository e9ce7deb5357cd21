import type { ProviderRequest } from "@pi-agent/kernel";
import { providerRequest, streamToEnd, TEST_KEY } from "@pi-agent/testing/provider";
import { expect, onTestFinished, test, vi } from "vitest";
import { type StreamSteps, streamAnswer } from "../src/index.ts";
import { bodyOf } from "./body-of.ts";

function run(steps: Partial<StreamSteps>, changes: Partial<ProviderRequest> = {}) {
  const stream = (request: ProviderRequest) =>
    streamAnswer(request, {
      api: "acme-api",
      env: ["ACME_KEY"],
      open: async () => new Response(bodyOf([])),
      read: (event, answer) => (event.data === "end" ? answer.done("stop") : answer.text(0, event.data)),
      ...steps,
    });
  return streamToEnd({ stream }, providerRequest(changes));
}
const refuse = () =>
  new Response(`{"error":{"message":"bad key ${TEST_KEY}"}}`, { status: 401, headers: { "retry-after": "3" } });
const fetchNothing = (signal: AbortSignal) => fetch("http://127.0.0.1:1", { signal });
const sse = (...chunks: string[]) => ({ open: async () => new Response(bodyOf(chunks)) });

test("an answer is streamed from its head to its end", async () => {
  const { events, message } = await run(sse("data: a\n\n", "data: b\n\ndata: end\n\ndata: late\n\n"));
  expect(events.map((event) => event.type)).toEqual([
    "start",
    "text_start",
    "text_delta",
    "text_delta",
    "text_end",
    "done",
  ]);
  expect(message.content).toEqual([{ type: "text", text: "ab" }]);
});

test("F122 a stream that just ends is a failure that keeps what has arrived", async () => {
  const { message } = await run(sse("data: half\n\n"));
  expect(message).toMatchObject({
    stopReason: "error",
    failure: { kind: "network" },
    content: [{ text: "half" }],
  });
});

test("F122 a stream that ends within an event is cut, not malformed", async () => {
  const { message } = await run({ ...sse('data: "a"\n\n', 'data: {"b'), read: (event) => JSON.parse(event.data) });
  expect(message.failure).toEqual({ kind: "network" });
});

test("the end of the stream may complete the answer", async () => {
  const { message } = await run({ ...sse("data: a\n\n"), end: (answer) => answer.done("stop") });
  expect(message.stopReason).toBe("stop");
});

test("F122 a page under a success status is told as what it is", async () => {
  const { message } = await run(sse("<html><title>Sign in</title></html>"));
  expect(message).toMatchObject({
    failure: { kind: "malformed_response" },
    errorMessage: "acme: an HTML page: Sign in",
  });
});

test("F122 an error without framing in the middle of a stream is typed", async () => {
  const { message } = await run(sse("data: a\n\n", '{"error":{"status":"UNAVAILABLE","message":"overloaded"}}\n'));
  expect(message).toMatchObject({ failure: { kind: "overloaded" }, errorMessage: "acme: overloaded" });
});

test("an error status is read, typed, and its key hidden", async () => {
  const { events, message } = await run({ open: async () => refuse() }, { auth: { apiKey: TEST_KEY } });
  expect(events).toHaveLength(1);
  expect(message.failure).toEqual({ kind: "auth", status: 401, retryAfterMs: 3_000 });
  expect(message.errorMessage).toBe("acme: 401 bad key ***. Set ACME_KEY to a valid key.");
});

test("an SDK's error is typed by the fields it carries", async () => {
  const error = Object.assign(new Error("429 slow down"), {
    status: 429,
    headers: new Headers({ "retry-after": "2" }),
    error: { error: { message: "slow down" } },
  });
  const { message } = await run({ open: () => Promise.reject(error) });
  expect(message.failure).toEqual({ kind: "rate_limit", status: 429, retryAfterMs: 2_000 });
  expect(message.errorMessage).toBe("acme: 429 slow down");
});

test("a bug in reading is a failure, not a throw", async () => {
  const { message } = await run({ ...sse("data: a\n\n"), read: (event) => JSON.parse(event.data) });
  expect(message.failure).toEqual({
    kind: "malformed_response",
  });
});

test("an abort before, at and after the head ends as aborted with what had arrived", async () => {
  const gone = AbortSignal.abort();
  expect((await run({ open: fetchNothing }, { signal: gone })).message.stopReason).toBe("aborted");
  expect((await run(sse("data: a\n\n"), { signal: gone })).message.content).toEqual([]);

  const controller = new AbortController();
  const endless = new ReadableStream<Uint8Array>({
    start: (body) => body.enqueue(new TextEncoder().encode("data: a\n\n")),
  });
  const { message } = await run(
    {
      open: async () => new Response(endless),
      read: (event, answer) => {
        answer.text(0, event.data);
        controller.abort();
      },
    },
    { signal: controller.signal },
  );
  expect(message).toMatchObject({ stopReason: "aborted", content: [{ text: "a" }] });
  expect(message).not.toHaveProperty("failure");
});

test("silence for longer than the timeout is a failure, and cancels the body", async () => {
  let isCancelled = false;
  const silent = new ReadableStream<Uint8Array>({ cancel: () => void (isCancelled = true) });
  const { message } = await run({ open: async () => new Response(silent) }, { timeoutMs: 10 });
  expect(message).toMatchObject({ stopReason: "error", failure: { kind: "timeout" } });
  expect(isCancelled).toBe(true);
});

test("leaving the stream early cancels the body", async () => {
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({ cancel: () => void (isCancelled = true) });
  for await (const _ of streamAnswer(providerRequest(), {
    api: "acme-api",
    open: async () => new Response(body),
    read: () => {},
  }))
    break;
  expect(isCancelled).toBe(true);
});

test("a connection that breaks when all of the answer was there does not undo it", async () => {
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode("data: whole\n\n")),
    pull: (controller) => controller.error(new TypeError("terminated")),
  });
  const { message } = await run({
    open: async () => new Response(body),
    end: (answer) => {
      if (answer.message.content.length > 0) answer.done("stop", "end");
    },
  });
  expect(message).toMatchObject({ stopReason: "stop", rawStopReason: "end", content: [{ text: "whole" }] });
});

test("secrets in headers of the model and the credentials are hidden, with and without their scheme", async () => {
  const reply = () => new Response("bad: Bearer team-secret, team-secret, abc123, X1, gone", { status: 400 });
  const request = providerRequest();
  const { message } = await run(
    { open: async () => reply() },
    {
      model: { ...request.model, headers: { "x-team": "Bearer team-secret", "x-gone": null } },
      auth: { headers: { "x-short": "X1", "x-six": "abc123" } },
    },
  );
  expect(message.errorMessage).toBe("acme: 400 bad: ***, ***, ***, X1, gone");
});

test("an error body without end is read up to a limit, and cancelled", async () => {
  let isCancelled = false;
  let bytes = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull(body) {
      // Fails instead of filling the memory, where there is no limit.
      if (bytes > 5_000_000) return body.error(new Error("read too far"));
      body.enqueue(new Uint8Array(100_000).fill(120));
      bytes += 100_000;
    },
    cancel: () => void (isCancelled = true),
  });
  const { message } = await run({ open: async () => new Response(endless, { status: 500 }) });
  expect(message.failure).toEqual({ kind: "server", status: 500 });
  expect(isCancelled).toBe(true);
  expect(bytes).toBeLessThan(2_000_000);
});

test("an answer without end is malformed", async () => {
  const block = "x".repeat(8_000_000);
  const { message } = await run({
    ...sse("data: go\n\n"),
    read: (_event, answer) => {
      for (let n = 0; n < 9; n++) answer.text(0, block);
      answer.done("stop");
    },
  });
  expect(message.failure).toEqual({ kind: "malformed_response" });
});

test("comments keep a stream alive", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  let chunks = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (chunks > 0) vi.advanceTimersByTime(60);
        const text = chunks++ < 5 ? ": ping\n\n" : "data: a\n\ndata: end\n\n";
        controller.enqueue(new TextEncoder().encode(text));
      },
    },
    { highWaterMark: 0 },
  );
  const { message } = await run({ open: async () => new Response(body) }, { timeoutMs: 100 });
  expect(message).toMatchObject({ stopReason: "stop", content: [{ text: "a" }] });
});

test("who listens gets each event of the wire as it was sent, in order, before it is understood", async () => {
  const order: unknown[] = [];
  const { message } = await run(
    {
      ...sse('data: {"n":1}\n\ndata: {"n":2}\n\n', ': ping\n\ndata: [DONE]\n\ndata: {"n":3}\n\n'),
      read({ data }, answer) {
        order.push(`read ${data}`);
        if (data === "[DONE]") answer.done("stop");
        else answer.text(0, data);
      },
    },
    {
      async onStreamEvent(data) {
        await Promise.resolve();
        order.push(data);
        // It is the listener's own: what it does to it does not change the answer.
        (data as { n: number }).n = 0;
      },
    },
  );
  expect(order).toEqual([{ n: 0 }, 'read {"n":1}', { n: 0 }, 'read {"n":2}', "read [DONE]"]);
  expect(message).toMatchObject({ stopReason: "stop", content: [{ text: '{"n":1}{"n":2}' }] });
});

test("a listener that is slow when the request is aborted does not keep it", async () => {
  const controller = new AbortController();
  const { message } = await run(sse('data: {"n":1}\n\n', 'data: {"n":2}\n\n'), {
    signal: controller.signal,
    onStreamEvent: async () => controller.abort(),
  });
  expect(message.stopReason).toBe("aborted");
});
