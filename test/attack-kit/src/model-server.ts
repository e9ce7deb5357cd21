/**
 * A model that does what the prompt says. Each line `CALL <tool> <JSON>` of the last message of the user becomes a call
 * of that tool; anything else is answered with `Done.`. Speaks OpenAI Chat Completions, streamed.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ModelServer {
  /** The base URL, with `/v1`. */
  url: string;
  /** The bodies of all requests, as they came. */
  readonly bodies: readonly string[];
  close(): Promise<void>;
}

interface ToolCall {
  name: string;
  arguments: string;
}

/** Starts the model on loopback. */
export async function startModelServer(): Promise<ModelServer> {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    readBody(request).then(
      (body) => {
        bodies.push(body);
        answer(body, response);
      },
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    bodies,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Words a prompt that makes the model call these tools at once. */
export function promptCalls(calls: readonly { name: string; arguments: Record<string, unknown> }[]): string {
  return calls.map((call) => `CALL ${call.name} ${JSON.stringify(call.arguments)}`).join("\n");
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const part of request.setEncoding("utf8")) body += part;
  return body;
}

function answer(body: string, response: ServerResponse): void {
  const calls = callsIn(body);
  const delta =
    calls.length === 0
      ? { role: "assistant", content: "Done." }
      : {
          role: "assistant",
          tool_calls: calls.map((each, index) => ({ index, id: `call_${index}`, type: "function", function: each })),
        };
  const finish_reason = calls.length === 0 ? "stop" : "tool_calls";
  const frame = { id: "answer", object: "chat.completion.chunk", created: 1, model: "scripted" };
  const chunks = [
    { ...frame, choices: [{ index: 0, delta, finish_reason: null }] },
    { ...frame, choices: [{ index: 0, delta: {}, finish_reason }] },
    { ...frame, choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } },
  ];
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(`${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}data: [DONE]\n\n`);
}

function callsIn(body: string): ToolCall[] {
  const { messages = [] } = parse(body);
  const last = messages.at(-1);
  if (last?.role !== "user") return [];
  const text = typeof last.content === "string" ? last.content : JSON.stringify(last.content ?? "");
  const parts = Array.isArray(last.content) ? last.content.map((part) => part.text ?? "").join("\n") : text;
  return [...parts.matchAll(/^CALL (\S+) (.+)$/gm)].map(([, name = "", given = "{}"]) => ({ name, arguments: given }));
}

interface ChatBody {
  messages?: { role: string; content?: string | { text?: string }[] }[];
}

function parse(body: string): ChatBody {
  try {
    return JSON.parse(body) as ChatBody;
  } catch {
    // Not a request of this kind: it is answered like a prompt without calls.
    return {};
  }
}
