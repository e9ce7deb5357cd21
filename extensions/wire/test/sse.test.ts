import { expect, test } from "vitest";
import { readServerSentEvents, type ServerSentEvent } from "../src/index.ts";
import { bodyOf } from "./body-of.ts";

async function read(chunks: readonly (string | Uint8Array)[]): Promise<ServerSentEvent[]> {
  const events: ServerSentEvent[] = [];
  for await (const batch of readServerSentEvents(bodyOf(chunks), new AbortController().signal)) {
    expect(batch.length).toBeGreaterThan(0);
    events.push(...batch);
  }
  return events;
}

const message = (data: string): ServerSentEvent => ({ event: "message", data });

test.each<[string, string, ServerSentEvent[]]>([
  ["LF", "data: a\n\ndata: b\n\n", [message("a"), message("b")]],
  ["CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", [message("a"), message("b")]],
  ["CR", "data: a\r\rdata: b\r\r", [message("a"), message("b")]],
  ["mixed line ends", "data: a\r\n\ndata: b\r\rdata: c\n\r\n", [message("a"), message("b"), message("c")]],
  ["a byte order mark", "\uFEFFdata: a\n\n", [message("a")]],
  ["no space after the colon", "data:a\n\ndata:  b\n\n", [message("a"), message(" b")]],
  ["data of several lines", "data: a\ndata: b\ndata\ndata:\n\n", [message("a\nb\n\n")]],
  ["comments and other fields", ": ping\n\n:\nid: 7\nretry: 5\ndata: a\n\n", [message("a")]],
  [
    "named events",
    "event: x\ndata: 1\n\nevent:y\ndata: 2\n\ndata: 3\n\n",
    [{ event: "x", data: "1" }, { event: "y", data: "2" }, message("3")],
  ],
  ["events without data", "event: x\n\ndata: a\n\n", [message("a")]],
  ["no blank line at the end", "data: a\n\ndata: b\n", [message("a"), message("b")]],
  ["no line end at the end", "data: a\n\ndata: b", [message("a"), message("b")]],
  ["unicode", "data: é\u2028🎉\n\n", [message("é\u2028🎉")]],
  ["an empty body", "", []],
  ["a field cut at the end", "data: a\n\nda", [message("a")]],
  ["text outside the format", '{\n "error": 1\n}\n', [{ event: "unframed", data: '{\n "error": 1\n}\n' }]],
])("events with %s are read the same however the bytes are cut", async (_name, text, expected) => {
  const bytes = new TextEncoder().encode(text);
  expect(await read([bytes])).toEqual(expected);
  expect(await read([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(expected);
  for (let cut = 1; cut < bytes.length; cut++)
    expect(await read([bytes.slice(0, cut), bytes.slice(cut)])).toEqual(expected);
});

test("events that arrive in one chunk come in one array, and a chunk without an event gives none", async () => {
  const sizes: number[] = [];
  const body = bodyOf(["data: a\n\ndata: b\n\nda", "ta: c", "\n\n"]);
  for await (const batch of readServerSentEvents(body, new AbortController().signal)) sizes.push(batch.length);
  expect(sizes).toEqual([2, 1]);
});

test("an event without end is a malformed response, not a full memory", async () => {
  const chunk = new Uint8Array(1_000_000).fill(97);
  const body = new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(chunk) });
  const reading = readServerSentEvents(body, new AbortController().signal).next();
  await expect(reading).rejects.toMatchObject({ failure: { kind: "malformed_response" } });
});

test("leaving the loop cancels the body", async () => {
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode("data: a\n\n")),
    cancel: () => void (isCancelled = true),
  });
  for await (const batch of readServerSentEvents(body, new AbortController().signal)) {
    expect(batch).toEqual([message("a")]);
    break;
  }
  expect(isCancelled).toBe(true);
});

test("an abort while nothing arrives cancels the body and is thrown, never a clean end", async () => {
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({ cancel: () => void (isCancelled = true) });
  const controller = new AbortController();
  const reading = readServerSentEvents(body, controller.signal).next();
  controller.abort(new Error("enough"));
  await expect(reading).rejects.toThrow("enough");
  expect(isCancelled).toBe(true);
});
