import { afterEach, expect, test } from "vitest";
import type { Turn } from "../../src/index.ts";
import { startWireServer, type WireServerOptions } from "../../src/wire.ts";
import { BODIES } from "./bodies.ts";
import { at, type Body, openWire, parseData, type Wire, type WireName } from "./exchange.ts";
import { JOIN } from "./join-stream.ts";

const wires: Wire[] = [];
afterEach(async () => {
  for (const { server } of wires.splice(0)) await server.close();
});

const FORMAT_NAMES = Object.keys(BODIES) as WireName[];

async function answerOf(format: WireName, turn: Turn): Promise<{ text: string; status: number }> {
  const wire = await openWire(format, [turn]);
  wires.push(wire);
  return wire.send(BODIES[format]);
}

const TURN: Turn = {
  thinking: "Let me think about it.",
  text: "Here is the whole answer, é and \u{1f600} too.",
  calls: [
    { name: "read", arguments: { path: "a.txt", deep: { list: [1, "ü"] } } },
    { name: "now", arguments: {} },
  ],
};
const JOINED = {
  thinking: TURN.thinking,
  text: TURN.text,
  calls: TURN.calls?.map(({ name, arguments: args }) => ({ name, arguments: args })),
};

test.for(FORMAT_NAMES)("%s carries thinking, text and parallel calls whole, in many pieces", async (format) => {
  const { text } = await answerOf(format, { ...TURN, deltas: 7 });
  const events = parseData(text);
  expect(JOIN[format](events)).toEqual(JOINED);
  expect(events.length).toBeGreaterThan(14);
});

const STOPS: Record<WireName, (events: Body[]) => unknown> = {
  anthropic: (events) => at(events.at(-2), "delta", "stop_reason"),
  chat: (events) => at(events.at(-2), "choices", 0, "finish_reason"),
  responses: (events) => at(events.at(-1), "response", "status"),
  gemini: (events) => at(events.at(-1), "candidates", 0, "finishReason"),
};

test.for([
  ["anthropic", { text: "x" }, "end_turn"],
  ["anthropic", { calls: TURN.calls }, "tool_use"],
  ["anthropic", { text: "x", stop: "length" }, "max_tokens"],
  ["anthropic", { text: "x", stop: "refusal" }, "refusal"],
  ["chat", { text: "x" }, "stop"],
  ["chat", { calls: TURN.calls }, "tool_calls"],
  ["chat", { text: "x", stop: "length" }, "length"],
  ["chat", { text: "x", stop: "refusal" }, "content_filter"],
  ["responses", { text: "x" }, "completed"],
  ["responses", { text: "x", stop: "length" }, "incomplete"],
  ["gemini", { text: "x" }, "STOP"],
  ["gemini", { text: "x", stop: "length" }, "MAX_TOKENS"],
  ["gemini", { text: "x", stop: "refusal" }, "SAFETY"],
  ["gemini", { calls: [{ name: "read", arguments: "print(" }] }, "MALFORMED_FUNCTION_CALL"],
] as [WireName, Turn, string][])("%s ends %j with %s", async ([format, turn, word]) => {
  const { text } = await answerOf(format, turn);
  expect(STOPS[format](parseData(text))).toBe(word);
});

test.for(["anthropic", "chat", "responses"] as const)(
  "%s cuts the last call when it stops for length",
  async (format) => {
    const { text } = await answerOf(format, { calls: TURN.calls?.slice(0, 1), stop: "length" });
    expect(text).not.toContain("list");
    expect(() => JOIN[format](parseData(text))).toThrow(SyntaxError);
  },
);

const USAGES: Record<WireName, unknown> = {
  anthropic: { input_tokens: 100, cache_read_input_tokens: 50, cache_creation_input_tokens: 7, output_tokens: 20 },
  chat: { prompt_tokens: 157, completion_tokens: 20, total_tokens: 177, prompt_tokens_details: { cached_tokens: 50 } },
  responses: { input_tokens: 157, output_tokens: 20, total_tokens: 177, input_tokens_details: { cached_tokens: 50 } },
  gemini: { promptTokenCount: 150, candidatesTokenCount: 15, thoughtsTokenCount: 5, cachedContentTokenCount: 50 },
};

test.for(FORMAT_NAMES)("%s tells the usage of a turn where the API tells it", async (format) => {
  const usage = { input: 100, output: 20, cacheRead: 50, cacheWrite: 7, reasoning: 5 };
  const events = parseData((await answerOf(format, { text: "x", usage })).text);
  const last = events.at(format === "anthropic" ? -2 : -1) ?? {};
  const told = format === "responses" ? at(last, "response", "usage") : (last.usage ?? last.usageMetadata);
  expect(told).toMatchObject(USAGES[format] as object);
});

test("chat sends no usage that nobody asked for", async () => {
  const wire = await openWire("chat", [{ text: "x" }]);
  wires.push(wire);
  expect((await wire.send({ ...BODIES.chat, stream_options: undefined })).text).not.toContain("usage");
});

test.for([
  ["event", 1],
  ["burst", 1],
  ["bytes:1", 1],
  ["bytes:7", 7],
] as [NonNullable<WireServerOptions["chunking"]>, number][])(
  "chunking %s changes the chunks and not the bytes",
  async ([chunking, size]) => {
    const server = await startWireServer({ script: [{ text: "é\u{1f600}", deltas: 1 }], chunking });
    const response = await fetch(`${server.url}/v1beta/models/scripted:streamGenerateContent?alt=sse`, {
      method: "POST",
      headers: { "x-goog-api-key": "test-key" },
      body: JSON.stringify(BODIES.gemini),
    });
    const chunks: Uint8Array[] = [];
    for await (const chunk of response.body ?? []) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    expect(JOIN.gemini(parseData(text))).toMatchObject({ text: "é\u{1f600}" });
    expect(text.endsWith("\r\n\r\n")).toBe(true);
    if (chunking === "burst") expect(chunks).toHaveLength(1);
    if (size > 1) expect(chunks.slice(0, -1).every((chunk) => chunk.length % size === 0)).toBe(true);
    await server.close();
  },
);

test.for(FORMAT_NAMES)("%s fails in each scripted way", async (format) => {
  const turns: Turn[] = [
    { fail: { status: 429, headers: { "retry-after": "7" } } },
    { fail: { status: 502, body: "<html>Bad Gateway</html>" } },
    { text: "some more words than one piece", fail: "error-event" },
    { text: "some more words than one piece", fail: "end" },
    { text: "some more words than one piece", fail: "cut" },
  ];
  const wire = await openWire(format, turns);
  wires.push(wire);
  const limited = await wire.send(BODIES[format]);
  expect(limited.status).toBe(429);
  expect(JSON.parse(limited.text)).toHaveProperty("error.message");
  expect(await wire.send(BODIES[format])).toMatchObject({ status: 502, text: "<html>Bad Gateway</html>" });
  const { text } = await wire.send(BODIES[format]);
  expect(parseData(text).some((event) => "error" in event)).toBe(true);
  const ended = await wire.send(BODIES[format]);
  expect(ended.status).toBe(200);
  expect(STOPS[format].bind(undefined, parseData(ended.text))).toSatisfy((stop: () => unknown) => !isWord(stop));
  await expect(wire.send(BODIES[format])).rejects.toThrow();
  expect(wire.server.requests.map((request) => request.ending)).toEqual([
    "failed",
    "failed",
    "failed",
    "failed",
    "cut",
  ]);
});

function isWord(read: () => unknown): boolean {
  try {
    return typeof read() === "string" && read() !== "in_progress";
  } catch {
    return false;
  }
}

test("a turn that hangs says so, and the client's leaving is recorded", async () => {
  const wire = await openWire("anthropic", [{ text: "never whole", hangAfter: 3 }]);
  wires.push(wire);
  const abort = new AbortController();
  const sent = fetch(`${wire.server.url}/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": "test-key", "anthropic-version": "2023-06-01" },
    body: JSON.stringify(BODIES.anthropic),
    signal: abort.signal,
  });
  const request = await wire.server.waitForRequest(0);
  await request.hanging;
  expect(request.ending).toBeUndefined();
  await sent;
  abort.abort();
  expect(await request.ended).toBe("left");
});

test("a wait before the first byte ends when the client leaves", async () => {
  const wire = await openWire("chat", [{ text: "late", delayMs: 1_000_000 }]);
  wires.push(wire);
  const abort = new AbortController();
  const sent = fetch(`${wire.server.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: "Bearer test-key" },
    body: JSON.stringify(BODIES.chat),
    signal: abort.signal,
  });
  const request = await wire.server.waitForRequest(0);
  abort.abort();
  await expect(sent).rejects.toThrow("aborted");
  expect(await request.ended).toBe("left");
});

test("a request beyond the script, and one at an unknown path, are refused and recorded", async () => {
  const wire = await openWire("chat", []);
  wires.push(wire);
  expect(await wire.send(BODIES.chat)).toMatchObject({ status: 400, rule: "script-ended" });
  expect(await wire.send(BODIES.chat, { path: "/v2/chat" })).toMatchObject({ status: 404, rule: "path-unknown" });
  expect(wire.server.refusals().map(({ rule }) => rule)).toEqual(["script-ended", "path-unknown"]);
});
