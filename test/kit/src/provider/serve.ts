import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request as it came in. */
export interface ServedRequest {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  /** Parsed JSON; empty where nothing was sent. */
  body: Record<string, unknown>;
}

/** Answers a request in full or in part, or leaves it waiting. */
export type Reply = (response: ServerResponse, request: ServedRequest) => void;

export interface ReplyServer extends AsyncDisposable {
  /** Without a path: `http://127.0.0.1:PORT`. */
  url: string;
  /** In the order of arrival. */
  seen: readonly ServedRequest[];
  /** Drops every connection and stops listening; fails with what a reply has thrown. */
  close(): Promise<void>;
}

/** Serves one reply after the other on loopback; a request beyond them is refused with status 400. */
export async function serveReplies(...replies: readonly Reply[]): Promise<ReplyServer> {
  const seen: ServedRequest[] = [];
  const faults: unknown[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    request.on("end", () => {
      try {
        const { method = "", url = "", headers } = request;
        const next = { method, url, headers, body: text === "" ? {} : JSON.parse(text) };
        const reply = replies[seen.push(next) - 1] ?? NO_REPLY_LEFT;
        reply(response, next);
      } catch (error) {
        faults.push(error);
        response.destroy();
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
    if (faults.length > 0) throw faults[0];
  };
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, seen, close, [Symbol.asyncDispose]: close };
}

type Chunk = string | Uint8Array;

/** Replies with a stream, one write for each chunk, and ends it. */
export function replyStream(...chunks: readonly Chunk[]): Reply {
  return (response) => void begin(response, chunks).end();
}

/** Replies with the chunks and then tears the connection down. */
export function replyCut(...chunks: readonly Chunk[]): Reply {
  return (response) => void begin(response, chunks).write("", () => response.destroy());
}

/** Replies with the chunks and then says nothing more; without chunks, nothing at all. */
export function replyHang(...chunks: readonly Chunk[]): Reply {
  return (response) => void (chunks.length > 0 && begin(response, chunks));
}

/** Replies with a value as JSON, or with a text as it is. */
export function replyJson(status: number, body: unknown, headers: Record<string, string> = {}): Reply {
  return (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };
}

const NO_REPLY_LEFT = replyJson(400, { error: { message: "There is no reply left for this request." } });

function begin(response: ServerResponse, chunks: readonly Chunk[]): ServerResponse {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const chunk of chunks) response.write(chunk);
  return response;
}
