import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Api, AssistantMessage, Model, ProviderRequest, StreamEvent } from "@pi-agent/kernel";
import { expect } from "vitest";

export function createModel(changes: Partial<Model> = {}): Model {
  return {
    id: "m1",
    name: "M 1",
    provider: "openai",
    api: "openai-completions",
    reasoning: false,
    input: ["text", "image"],
    cost: { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 1.25 },
    contextWindow: 100_000,
    maxTokens: 1_000,
    ...changes,
  };
}

export function createRequest(changes: Partial<ProviderRequest> = {}): ProviderRequest {
  return {
    model: createModel(),
    systemPrompt: "",
    messages: [{ role: "user", content: "hi", timestamp: 0 }],
    tools: [],
    thinkingLevel: "off",
    auth: { apiKey: "key-01234567" },
    purpose: "turn",
    sessionId: "session-1",
    cacheRetention: "short",
    signal: new AbortController().signal,
    fetch,
    onPayload: async (payload) => payload,
    onHeaders: async (headers) => headers,
    onResponse: async () => {},
    ...changes,
  };
}

/** An answer that some model gave. */
export function createAnswer(
  content: AssistantMessage["content"],
  changes: Partial<AssistantMessage> = {},
): AssistantMessage {
  return {
    role: "assistant",
    content,
    api: "openai-completions",
    provider: "openai",
    model: "m1",
    usage: {
      input: 0,
      output: 0,
      cacheRead: 0,
      cacheWrite: 0,
      totalTokens: 0,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    },
    stopReason: "stop",
    timestamp: 0,
    ...changes,
  };
}

export interface Streamed {
  events: StreamEvent[];
  message: AssistantMessage;
}

/** Runs a stream to its end, and holds it to the contract of stream events. */
export async function collect(stream: AsyncIterable<readonly StreamEvent[]>): Promise<Streamed> {
  const events: StreamEvent[] = [];
  for await (const batch of stream) events.push(...batch);
  const last = events.at(-1);
  const message = last?.type === "done" ? last.message : last?.type === "error" ? last.error : undefined;
  if (message === undefined) throw new Error(`The stream ended with ${last?.type}.`);
  checkOrder(events, message);
  return { events, message };
}

/** Exactly one terminal event, `start` first, each block with one start, its deltas and one end. */
function checkOrder(events: readonly StreamEvent[], message: AssistantMessage) {
  expect(events.filter(({ type }) => type === "done" || type === "error")).toHaveLength(1);
  const firstType = events[0]?.type;
  if (events.length > 1) expect(firstType).toBe("start");
  const texts = message.content.map(() => "");
  const steps = message.content.map((): string[] => []);
  for (const event of events) {
    if (!("contentIndex" in event)) continue;
    const step = event.type.split("_")[1] ?? "";
    const known = steps[event.contentIndex] ?? [];
    if (step !== "delta" || known.at(-1) !== "delta") known.push(step);
    if ("delta" in event) texts[event.contentIndex] += event.delta;
  }
  message.content.forEach((block, at) => {
    expect(steps[at]?.filter((step) => step !== "delta")).toEqual(["start", "end"]);
    if (block.type === "text") expect(texts[at]).toBe(block.text);
    if (block.type === "thinking") expect(texts[at]).toBe(block.thinking);
  });
}

/** What a server was sent. */
export interface Received {
  url: string;
  headers: IncomingMessage["headers"];
  body: Record<string, unknown>;
}

export type Responder = (response: ServerResponse, received: Received) => void;

/** Serves on loopback for as long as `use` runs. */
export async function withServer<T>(
  respond: Responder,
  use: (baseUrl: string, received: Received[]) => Promise<T>,
): Promise<T> {
  const received: Received[] = [];
  const server = createServer((incoming, response) => {
    let text = "";
    incoming.on("data", (chunk) => (text += chunk));
    incoming.on("end", () => {
      const { url = "", headers } = incoming;
      const one = { url, headers, body: text === "" ? {} : JSON.parse(text) };
      received.push(one);
      respond(response, one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  try {
    return await use(`http://127.0.0.1:${portOf(address)}`, received);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

function portOf({ port }: AddressInfo): number {
  return port;
}

/** Answers with a stream of `data:` lines, each a value, or a text as it is. */
export function sse(...lines: readonly unknown[]): Responder {
  return (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const line of lines) response.write(typeof line === "string" ? line : `data: ${JSON.stringify(line)}\n\n`);
    response.end();
  };
}

export const DONE = "data: [DONE]\n\n";

/** Streams one answer of a server. */
export function ask(api: Api, respond: Responder, changes: Partial<ProviderRequest> = {}): Promise<Streamed> {
  return withServer(respond, (baseUrl) =>
    collect(api.stream(createRequest({ ...changes, auth: { apiKey: "key-01234567", baseUrl, ...changes.auth } }))),
  );
}
