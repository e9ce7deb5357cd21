import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { AssistantMessage, Model, ProviderRequest, StreamEvent } from "@pi-agent/kernel";
import { onTestFinished } from "vitest";
import { googleGenerativeAi } from "../src/api.ts";
import { MODELS } from "../src/models.ts";

interface Seen {
  method: string | undefined;
  url: string | undefined;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
}
export type Reply = (response: ServerResponse, seen: Seen) => void;

export interface Served {
  url: string;
  seen: Seen[];
  close: () => Promise<void>;
}

/** Serves one reply after another, the last one again, until the test has finished. */
export async function serve(...replies: Reply[]): Promise<Served> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => (text += String(chunk)));
    request.on("end", () => {
      const { method, url, headers } = request;
      const last = { method, url, headers, body: JSON.parse(text) as Seen["body"] };
      seen.push(last);
      (replies[seen.length - 1] ?? replies.at(-1)!)(response, last);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(close);
  return { url: `http://127.0.0.1:${port}`, seen, close };
}

/** Replies with a stream, in the chunks given, and ends it. */
export function streamOf(...chunks: (string | Buffer)[]): Reply {
  return (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const chunk of chunks) response.write(chunk);
    response.end();
  };
}

export function json(status: number, body: unknown, headers: Record<string, string> = {}): Reply {
  return (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };
}

/** Frames whole chunks as the service does. */
export function sse(...chunks: object[]): string {
  return chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`).join("");
}

/** A chunk with parts. */
export function parts(...given: object[]): object {
  return { candidates: [{ content: { role: "model", parts: given }, index: 0 }] };
}

export function finish(finishReason: string, more: object = {}): object {
  return { candidates: [{ content: { role: "model" }, finishReason, ...more }], ...USAGE };
}
export const USAGE = { usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 } };

export function model(id: string, changes: Partial<Model> = {}): Model {
  const found = MODELS.find((one) => one.id === id);
  if (!found) throw new Error(`no model ${id}`);
  return { ...found, ...changes };
}

export function createRequest(changes: Partial<ProviderRequest> = {}): ProviderRequest {
  return {
    model: model("gemini-3.8-flash"),
    systemPrompt: "",
    messages: [{ role: "user", content: "Hello", timestamp: 0 }],
    tools: [],
    thinkingLevel: "off",
    auth: { apiKey: "key-1" },
    purpose: "turn",
    sessionId: "s1",
    cacheRetention: "none",
    signal: new AbortController().signal,
    fetch,
    onPayload: async (payload) => payload,
    onHeaders: async (headers) => headers,
    onResponse: async () => {},
    ...changes,
  };
}

/** Streams one answer to its end. */
export async function run(
  changes: Partial<ProviderRequest>,
): Promise<{ events: StreamEvent[]; message: AssistantMessage }> {
  const events: StreamEvent[] = [];
  for await (const batch of googleGenerativeAi.stream(createRequest(changes))) events.push(...batch);
  const last = events.at(-1);
  if (last?.type === "done") return { events, message: last.message };
  if (last?.type === "error") return { events, message: last.error };
  throw new Error(`the stream ended with ${last?.type}`);
}

/** Serves one reply and streams the answer to it. */
export async function answerTo(reply: Reply, changes: Partial<ProviderRequest> = {}) {
  const { url, seen } = await serve(reply);
  const result = await run({ ...changes, auth: { apiKey: "key-1", baseUrl: url, ...changes.auth } });
  return { ...result, seen };
}
